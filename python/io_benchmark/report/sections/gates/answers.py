# SPDX-License-Identifier: MPL-2.0
"""The answers of gates, one sentence each, with the reasons; then each gate's comparison."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, cast

from msgspec.structs import replace

from io_benchmark.analysis.explaining.mixed_pools import MIXED_POOL
from io_benchmark.analysis.gate.gate_model import Answer, GateAnswer, GateReport
from io_benchmark.analysis.model.subject import Subject
from io_benchmark.analysis.statistics.levels import DEFAULT_WORKER_VARIATION
from io_benchmark.number_text import number_of, percent, ratio
from io_benchmark.report import blocks, content
from io_benchmark.report.caveats import Caveats
from io_benchmark.report.facts import facts_of
from io_benchmark.report.sections import comparison
from io_benchmark.report.sections.causes import explanation
from io_benchmark.report.sections.gates.gate_picture import KINDS, gate_picture
from io_benchmark.report.sections.measured import sides_of
from io_benchmark.report.sections.notes import warnings
from io_benchmark.report.sections.workers import unlike_workers
from io_benchmark.text import capitalized

if TYPE_CHECKING:
    from io_benchmark.analysis.model.report import SampledReport

_BASIS = (
    "A gate passes if the candidate is less than the limit times as slow, with 95 % confidence, on "
    "every measurement; a candidate that is slower by the margin passes in 5 of 100 gates. It "
    "fails if the whole interval of a measurement is above the limit, or if a part of its workers "
    "is slower than the others by more than chance, and beyond the limit. Everything else is not "
    "decided, also what was not measured."
)


def document(report: GateReport) -> blocks.Document:
    return blocks.Document(
        _title(report),
        [*_evidence(report)],
        [*_screen(report)],
        facts=[*_facts(report)],
        answer=[*gate_picture(report.gates), blocks.Items([*_items(report)], shown=0)],
    )


def _title(report: GateReport) -> str:
    """Return the answer: the first line of a check or a mail may be all that is read."""
    if len(report.gates) == 1:
        (gate,) = report.gates
        return f"Gate {gate.answer}: {gate.candidate} against {gate.baseline}"
    numbers = Counter(gate.answer for gate in report.gates)
    counts = (f"{numbers[answer]} {answer}" for answer in Answer if numbers[answer])
    return f"{len(report.gates)} gates: {', '.join(counts)}"


def _facts(report: GateReport) -> Iterator[blocks.Line]:
    """Yield the facts of all comparisons; gates may share a pool, whose runs are counted once."""
    compared = [cast("SampledReport", gate.comparison) for gate in report.gates]
    if not compared:
        return
    subjects = {part.subject: part for pools in compared for part in pools.subjects}
    days = sorted(day for pools in compared for day in pools.days)
    workers = dict.fromkeys(run for pools in compared for run in pools.workers)
    yield from facts_of(
        replace(
            compared[0],
            subjects=tuple(subjects.values()),
            days=tuple(dict.fromkeys((*days[:1], *days[-1:]))),
            workers=tuple(workers),
        )
    )


def _items(report: GateReport) -> Iterator[blocks.Item]:
    for gate in report.gates:
        yield _answer(gate)
        if gate.answer is not Answer.PASSED:
            yield from unlike_workers(gate.comparison, is_full=False)


def _screen(report: GateReport) -> Iterator[blocks.Block]:
    items = [*_items(report)]
    if len(report.gates) > 1:
        yield blocks.Items(items, shown=0)
        return
    (gate,) = report.gates
    sides = sides_of(gate.comparison)
    noted = warnings(gate.comparison, _caveats(gate), [gate.candidate])
    yield blocks.Items([*items, *noted], shown=0)
    yield from comparison.leading_table(gate.comparison, sides)


def _evidence(report: GateReport) -> Iterator[blocks.Block]:
    """Write all measurements; the comparison of each gate is folded."""
    yield blocks.Heading("Measurements")
    yield blocks.Paragraph(_BASIS, blocks.QUIET)
    yield from _tests([gate for gate in report.gates if gate.tests])
    yield blocks.Heading("Comparison" if len(report.gates) == 1 else "Comparisons")
    for gate in report.gates:
        compared = comparison.document(cast("SampledReport", gate.comparison))
        # The picture of the gates has the same workers.
        whole = [block for block in compared.whole if not isinstance(block, blocks.Picture)]
        yield blocks.Fold(gate.comparison.title, whole)


def _caveats(gate: GateAnswer) -> Caveats:
    """Return what limits the answer besides its reasons."""
    report = cast("SampledReport", gate.comparison)
    pairs = [pair for part in report.subjects for pair in part.comparisons]
    first = gate.tests[0].subject if gate.tests else None
    decisive = [pair for pair in pairs if first in (None, pair.subject)][:1]
    return Caveats.of(report, decisive).without_pools()


def _answer(gate: GateAnswer) -> blocks.Item:
    name, limit = capitalized(gate.answer), f"the limit is {ratio(1 + gate.margin_ratio)}"
    lead = f"{name}: {gate.candidate} against {gate.baseline}"
    limits = _caveats(gate).clauses(gate.candidate)
    rest = f", {content.workers_text(gate.workers)}{limits}; {limit}."
    if gate.tests:
        first = gate.tests[0]
        lead = f"{name}: {gate.candidate} takes {ratio(first.ratio)} as long as {gate.baseline}"
        basis = f"{content.interval_text(first.interval)}; {content.workers_text(first.workers)}"
        usual = f", without the slow ones of {gate.baseline}" if first.slow_of_baseline else ""
        at_most = f"at most {ratio(first.highest_ratio)}"
        rest = f"{_where(gate)} ({basis}{usual}{limits}), {at_most}; {limit}."
    return blocks.Item.answer(KINDS[gate.answer], lead, rest, [*_reasons(gate)])


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


def _tests(gates: Sequence[GateAnswer]) -> Iterator[blocks.Table]:
    """Write a row per measurement, below its gate."""
    rows = []
    for gate in gates:
        limit = f"limit {ratio(1 + gate.margin_ratio)}"
        rows.append(blocks.Row(f"{gate.candidate} against {gate.baseline}, {limit}"))
        for test in gate.tests:
            cells = (
                blocks.Words(test.answer, KINDS[test.answer]),
                f"{ratio(test.ratio)} ({content.ends_text(test.interval)})",
                ratio(test.highest_ratio),
                percent(test.variation_ratio),
            )
            rows.append(blocks.Row(_short(test.subject), cells))
    if rows:
        heads = ("Answer", "Ratio, 95 % interval", "At most", "Workers vary by")
        yield blocks.Table("Measurement", heads, rows)


def _short(subject: Subject) -> str:
    place = content.place_of(subject)
    where = f" in {place}" if place else ""
    return f"{subject.workload}, {subject.label}{where}"


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
