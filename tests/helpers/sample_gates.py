# SPDX-License-Identifier: MPL-2.0
"""Gates of simulated pools: amd-16 has the new image, intel the old one."""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

import sample_report
import seed_workers
from msgspec.structs import replace
from simulated_gates import BOOT_DISK
from simulated_results import Pool, measure
from situations import BASE, ONE_DISK

from io_benchmark.analysis.comparing.pairs import Options
from io_benchmark.analysis.gate.answering import GateResults, answer
from io_benchmark.analysis.gate.gate_model import Gate, GateAnswer, GateReport
from io_benchmark.analysis.gate.missing_results import Absent
from io_benchmark.analysis.model.run import Worker
from io_benchmark.report.content import text_of

GATE = Gate("amd-16", "intel", 0.1)
RETRIEVES = 120
POOLS: Mapping[str, tuple[Pool, Pool]] = {
    "equal": (Pool("amd-16", BASE, 6), Pool("intel", BASE, 6)),
    "slower": (Pool("amd-16", ONE_DISK, 5), Pool("intel", BASE, 5)),
    "mixed": (Pool("amd-16", BASE, 6, {1: BOOT_DISK, 4: BOOT_DISK}), Pool("intel", BASE, 6)),
    "baseline mixed": (Pool("amd-16", BASE, 6), Pool("intel", BASE, 7, {1: BOOT_DISK})),
    "few": (Pool("amd-16", BASE, 2), Pool("intel", BASE, 5)),
}


@cache
def documents(name: str) -> tuple[dict[str, Any], ...]:
    """Return what the workers of these pools wrote."""
    sides = measure(POOLS[name], 1, retrieves=RETRIEVES)
    return tuple(run.document for runs in sides.values() for run in runs)


@cache
def workers(name: str) -> tuple[Worker, ...]:
    return tuple(map(seed_workers.worker, documents(name)))


def changed(
    name: str, side: str, change: Callable[[Worker], Worker], number: int = 100
) -> tuple[Worker, ...]:
    """Return the workers, the first so many of one side changed."""
    of_side = [worker for worker in workers(name) if worker.side == side][:number]
    return tuple(change(worker) if worker in of_side else worker for worker in workers(name))


def answer_of(
    measured: Iterable[Worker], gate: Gate = GATE, *, absent: Absent | None = None, **options: Any
) -> GateAnswer:
    results = GateResults(tuple(measured), absent or Absent())
    return answer(gate, results, Options(**options))


def reasons(found: GateAnswer) -> list[str]:
    return [*map(text_of, found.reasons)]


@cache
def report(*names: str) -> GateReport:
    """Return the answers of these gates."""
    return GateReport(tuple(answer_of(workers(name)) for name in names), ())


@cache
def cut_off() -> GateReport:
    """Return a gate of equal pools, of which one task left no result."""
    gate = answer_of(workers("equal"), absent=Absent(lost=("amd-16",)))
    return GateReport((gate,), ("task Bx: ended without a result",))


@cache
def hostile() -> GateReport:
    """Return a gate that failed, with an attack in every text that comes from a file."""
    script, breaks, *_ = sample_report.HOSTILE_NAMES
    sides = {"intel": script, "amd-16": breaks}

    def attack(word: str) -> str:
        for side, name in sides.items():
            word = word.replace(side, name)
        return word

    (gate,) = report("mixed").gates
    comparison = replace(gate.comparison, diagnoses=())
    attacked: GateAnswer = sample_report.rewritten(replace(gate, comparison=comparison), attack)
    return GateReport((attacked,), sample_report.HOSTILE_NAMES)
