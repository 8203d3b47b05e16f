# SPDX-License-Identifier: MPL-2.0
"""Read the results of some pools, and answer whether each candidate is as fast as its baseline."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from io_benchmark.analysis.comparing.pairs import Options
from io_benchmark.analysis.gate.answering import GateResults, answer
from io_benchmark.analysis.gate.gate_model import Gate, GateAnswer, GateReport
from io_benchmark.analysis.gate.missing_results import Absent
from io_benchmark.analysis.model.run import Worker
from io_benchmark.context import Context
from io_benchmark.costs.worker_time import NO_PRICES, Price
from io_benchmark.operations.compare import in_order, read_sides
from io_benchmark.sources.gather import Gathered

_DEFAULT_OPTIONS = Options()


def answer_gates(
    context: Context,
    addresses: Sequence[str],
    gates: Sequence[Gate],
    *,
    against: Sequence[str] = (),
    wait_minutes: float | None = None,
    options: Options = _DEFAULT_OPTIONS,
    prices: Mapping[str, Price] = NO_PRICES,
    pools_file: Path | None = None,
) -> GateReport:
    """Answer each gate by the results at the addresses, as `compare` reads them."""
    read = read_sides(context, addresses, against, wait_minutes, pools_file)
    results = GateResults(
        in_order(read.workers),
        _absent(read.readings),
        is_change=read.is_change,
        earlier=read.earlier,
        unreadable=read.unreadable,
        remarks=read.remarks,
    )
    single = dict.fromkeys(part for gate in gates for part in results.gates_of(gate))
    return GateReport(
        tuple(answer(gate, results, options, prices) for gate in single), tuple(read.unreadable)
    )


def answer_in_group(reading: Gathered[Worker], gates: Sequence[Gate]) -> list[GateAnswer]:
    """Answer gates by the results of a group that were read before."""
    results = GateResults(in_order(reading.results), _absent([reading]))
    return [answer(gate, results, _DEFAULT_OPTIONS) for gate in gates]


def _absent(readings: Sequence[Gathered[Worker]]) -> Absent:
    return Absent(
        lost=tuple(side for reading in readings for side in reading.lost),
        sides=frozenset(side for reading in readings for side in reading.missing),
        is_side_unknown=any(reading.has_unknown_pools for reading in readings),
    )
