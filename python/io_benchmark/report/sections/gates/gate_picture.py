# SPDX-License-Identifier: MPL-2.0
"""The picture of gates: a row per gate with its ratio, its limit and the candidate's workers."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, cast

from msgspec.structs import replace

from io_benchmark.analysis.gate.gate_model import Answer, GateAnswer
from io_benchmark.analysis.model.comparison import Verdict
from io_benchmark.number_text import ratio
from io_benchmark.report import blocks
from io_benchmark.report.drawn import StripRow
from io_benchmark.report.sections.measured import SideResult, sides_of
from io_benchmark.report.sections.pools.pool_picture import row_of

if TYPE_CHECKING:
    from io_benchmark.analysis.model.report import SampledReport

# Each answer looks like the verdict that means as much.
KINDS = {
    Answer.PASSED: Verdict.FASTER,
    Answer.FAILED: Verdict.SLOWER,
    Answer.NOT_DECIDED: Verdict.INCONCLUSIVE,
}
_TITLE = "Time of the candidate divided by the baseline's"
_MEANING = (
    ": each dot is a worker of the candidate, the mark below is the ratio of the gate, with its "
    "interval. The shaded part ends at {limit}."
)


def gate_picture(gates: Sequence[GateAnswer]) -> Iterator[blocks.Block]:
    """Draw the gates in their order; nothing where none has a ratio."""
    if any(gate.tests for gate in gates):
        limits = {gate.margin_ratio for gate in gates}
        limit = "the limit of each gate"
        if len(limits) == 1:
            limit = f"the limit, {ratio(1 + limits.pop())}"
        caption = (blocks.Words(_TITLE, blocks.STRONG), _MEANING.format(limit=limit))
        rows = [_row(gate, gates) for gate in gates]
        yield from blocks.Picture.strip(caption, rows, min(gate.margin_ratio for gate in gates))


def _row(gate: GateAnswer, gates: Sequence[GateAnswer]) -> StripRow:
    """Return the measurement that decides first; without any, the answer alone."""
    name = gate.candidate if len(gates) == 1 else f"{gate.candidate} against {gate.baseline}"
    row = StripRow(name=name, verdict=KINDS[gate.answer], chip=gate.answer)
    row = replace(row, limit_ratio=1 + gate.margin_ratio)
    if not gate.tests:
        return row
    report, test = cast("SampledReport", gate.comparison), gate.tests[0]
    workers = (
        row_of(report, _with_ratio(side, test.ratio), len(gates))
        for side in sides_of(report)
        if side.name == gate.candidate and side.subject == test.subject
    )
    drawn = next(workers, row)
    subjects = {measured.subject for decided in gates for measured in decided.tests}
    return replace(
        row,
        detail=str(test.subject) if len(subjects) > 1 else "",
        ratio=test.ratio,
        interval=test.interval,
        dots=drawn.dots,
        points=drawn.points,
    )


def _with_ratio(side: SideResult, gate_ratio: float) -> SideResult:
    """Return the side with the ratio of a gate, which has no slow workers of the baseline."""
    pair = side.comparison
    if pair is None or pair.means_ns is None:
        return side
    candidate_ns, _ = pair.means_ns
    return replace(
        side, comparison=replace(pair, means_ns=(candidate_ns, candidate_ns / gate_ratio))
    )
