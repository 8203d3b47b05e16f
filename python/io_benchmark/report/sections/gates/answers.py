# SPDX-License-Identifier: MPL-2.0
"""The answers of gates, one sentence each, with the reasons; then each gate's comparison."""

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from io_benchmark.analysis.explaining.mixed_pools import MIXED_POOL
from io_benchmark.analysis.gate.gate_model import Answer, GateAnswer, GateReport
from io_benchmark.analysis.model.comparison import Verdict
from io_benchmark.analysis.statistics.levels import DEFAULT_WORKER_VARIATION
from io_benchmark.number_text import number_of, percent, ratio
from io_benchmark.report import blocks, content
from io_benchmark.report.sections import comparison
from io_benchmark.report.sections.causes import explanation
from io_benchmark.report.sections.measured import sides_of
from io_benchmark.report.sections.notes import warnings
from io_benchmark.report.sections.workers import unlike_workers
from io_benchmark.text import capitalized

if TYPE_CHECKING:
    from io_benchmark.analysis.model.report import SampledReport

# Each answer looks like the verdict that means as much.
_KINDS = {
    Answer.PASSED: Verdict.FASTER,
    Answer.FAILED: Verdict.SLOWER,
    Answer.NOT_DECIDED: Verdict.INCONCLUSIVE,
}
_BASIS = (
    "A gate passes if the candidate is less than the limit times as slow, with 95 % confidence, on "
    "every measurement; a candidate that is slower by the margin passes in 5 of 100 gates. It "
    "fails if the whole interval of a measurement is above the limit, or if a part of its workers "
    "is slower than the others by more than chance, and beyond the limit. Everything else is not "
    "decided, also what was not measured."
)


def document(report: GateReport) -> blocks.Document:
    return blocks.Document(_title(report), [*_full(report)], [*_screen(report)])


def _title(report: GateReport) -> str:
    """Return the answer: the first line of a check or a mail may be all that is read."""
    if len(report.gates) == 1:
        (gate,) = report.gates
        return f"Gate {gate.answer}: {gate.candidate} against {gate.baseline}"
    numbers = Counter(gate.answer for gate in report.gates)
    counts = (f"{numbers[answer]} {answer}" for answer in Answer if numbers[answer])
    return f"{len(report.gates)} gates: {', '.join(counts)}"


def _screen(report: GateReport) -> Iterator[blocks.Block]:
    items = []
    for gate in report.gates:
        items.append(_answer(gate))
        if gate.answer is not Answer.PASSED:
            items += unlike_workers(gate.comparison, is_full=False)
    if len(report.gates) > 1:
        yield blocks.Items(items, shown=0)
        return
    (compared,) = (gate.comparison for gate in report.gates)
    caveats = comparison.caveats_of(compared, sides_of(compared))
    yield blocks.Items([*items, *warnings(compared, caveats, [])], shown=0)
    yield from comparison.leading_table(compared, sides_of(compared))


def _full(report: GateReport) -> Iterator[blocks.Block]:
    yield blocks.Heading("Gate" if len(report.gates) == 1 else "Gates")
    yield blocks.Items([*map(_answer, report.gates)], shown=0)
    yield blocks.Paragraph(_BASIS, blocks.QUIET)
    for gate in report.gates:
        if gate.tests:
            yield _tests(gate)
    for gate in report.gates:
        yield blocks.Heading(f"Comparison: {gate.comparison.title}")
        yield from comparison.document(cast("SampledReport", gate.comparison)).whole


def _answer(gate: GateAnswer) -> blocks.Item:
    name, limit = capitalized(gate.answer), f"the limit is {ratio(1 + gate.margin_ratio)}"
    lead = f"{name}: {gate.candidate} against {gate.baseline}"
    rest = f", {content.workers_text(gate.workers)}; {limit}."
    if gate.tests:
        first = gate.tests[0]
        lead = f"{name}: {gate.candidate} takes {ratio(first.ratio)} as long as {gate.baseline}"
        basis = f"{content.interval_text(first.interval)}; {content.workers_text(first.workers)}"
        usual = f", without the slow ones of {gate.baseline}" if first.slow_of_baseline else ""
        rest = f"{_where(gate)} ({basis}{usual}), at most {ratio(first.highest_ratio)}; {limit}."
    return blocks.Item.answer(_KINDS[gate.answer], lead, rest, [*_reasons(gate)])


def _where(gate: GateAnswer) -> str:
    """Return which of several measurements is written about."""
    if len(gate.tests) == 1:
        return ""
    rank = "clearest" if gate.answer is Answer.FAILED else "highest"
    measurements = number_of(len(gate.tests), "measurement")
    return f" on {gate.tests[0].subject}, the {rank} of {measurements}"


def _reasons(gate: GateAnswer) -> Iterator[blocks.Item]:
    lead = "Note:" if gate.answer is Answer.PASSED else "Why:"
    for reason in gate.reasons:
        yield blocks.Item.led(lead, content.sentence_of(reason))
    if gate.answer is Answer.NOT_DECIDED and gate.workers_needed is None:
        yield from _proposal(gate)
    if gate.cause == MIXED_POOL:  # the reasons say it
        return
    for diagnosis in gate.comparison.diagnoses:
        if gate.cause in [cause.name for cause in diagnosis.causes if cause.state.holds]:
            yield from explanation(diagnosis)
            return
    if gate.answer is Answer.FAILED:
        yield blocks.Item.led("Cause:", "none is supported by the observations.")


def _tests(gate: GateAnswer) -> blocks.Table:
    rows = [
        blocks.Row(
            str(test.subject),
            (
                blocks.Words(test.answer, _KINDS[test.answer]),
                ratio(test.ratio),
                content.ends_text(test.interval),
                ratio(test.highest_ratio),
                percent(test.variation_ratio),
            ),
        )
        for test in gate.tests
    ]
    heads = ("Answer", "Ratio", "95 % interval", "At most", "Workers vary by")
    title = f"{gate.candidate} against {gate.baseline}, limit {ratio(1 + gate.margin_ratio)}"
    return blocks.Table("Measurement", heads, rows, title)


def _proposal(gate: GateAnswer) -> Iterator[blocks.Item]:
    """Write how many workers a gate needs, where a pool has fewer."""
    number = gate.workers_for_equal
    if number is None or gate.slow_workers or min(gate.workers) >= number:
        return
    variations = [test.variation_ratio for test in gate.tests] or [DEFAULT_WORKER_VARIATION]
    yield blocks.Item.led(
        "Workers:",
        f"{number} per pool decide {percent(gate.margin_ratio)} if workers vary by "
        f"{percent(max(variations))}: with so many, an equal image passes in 80 of 100 gates.",
    )
