# SPDX-License-Identifier: MPL-2.0
"""A comparison: the answer, where the time went, the measurements, causes, workers and notes."""

from collections.abc import Iterable, Iterator, Sequence

from io_benchmark.analysis.model import Severity
from io_benchmark.analysis.report_model import Report, SampledReport
from io_benchmark.number_text import percent
from io_benchmark.report.blocks import (
    NO_VERDICT,
    QUIET,
    Block,
    Document,
    Heading,
    Item,
    Items,
    Paragraph,
    Words,
)
from io_benchmark.report.content.footnotes import ProblemNotes
from io_benchmark.report.content.harmless import make_harmless
from io_benchmark.report.content.statement_text import text_of
from io_benchmark.report.sections.answer import full_answer, looks, screen_answer
from io_benchmark.report.sections.causes import causes
from io_benchmark.report.sections.figures import COMPARED, screen_table
from io_benchmark.report.sections.measured import Measurement, Side, leading_of, measurements_of
from io_benchmark.report.sections.measurements import measured
from io_benchmark.report.sections.parts import parts
from io_benchmark.report.sections.places import places
from io_benchmark.report.sections.single_workers import full_workers, screen_workers
from io_benchmark.report.sections.warnings import refusals, warnings
from io_benchmark.report.sections.workers import cost_text, runs, workers_needed
from io_benchmark.results import workloads

_CLOSING = (
    "The unit is the worker, one machine that ran one task; retrieves of one worker are not "
    "independent. Intervals are adjusted for the number of candidates. Inconclusive means that these "
    "data do not decide, not that the sides are equal."
)


def document(report: SampledReport) -> Document:
    """Write everything that a comparison says, and what its first screen has."""
    report = make_harmless(report)
    notes = ProblemNotes(report.problems, report.subjects)
    measurements = measurements_of(report, notes)
    # An option needs no explanation, nor does a pool that is compared with nothing.
    reason = "" if report.baseline_reason.startswith("--") else report.baseline_reason
    explains = reason and report.title != report.baseline
    return Document(
        report.title,
        tuple(_full(report, notes, measurements)),
        tuple(_screen(report, notes, measurements)),
        "compare",
        f" ({reason})" if explains else "",
    )


def _screen(
    report: Report, notes: ProblemNotes, measurements: Sequence[Measurement]
) -> Iterator[Block]:
    """Write what a reader needs for a decision, with the figures of the measurement that leads."""
    nothing, cost = _reason_for_nothing(report), cost_text(report)
    answers = screen_answer(measurements, report)
    items = [
        *([Item(Words(nothing, NO_VERDICT))] if nothing else []),
        *answers,
        *screen_workers(report),
        *([Item(cost)] if cost else []),
        *looks(measurements),
        *warnings(report, notes),
    ]
    yield Items(tuple(items), shown=len(items))
    if not nothing and answers:
        leading = _leading(measurements)
        title = str(leading.subject) if len(measurements) > 1 else ""
        yield screen_table(leading, title)


def _leading(measurements: Sequence[Measurement]) -> Measurement:
    """Return the measurement that the first answer of a screen is about."""
    pools: dict[str, list[Side]] = {}
    for side in (side for measurement in measurements for side in measurement.candidates):
        pools.setdefault(side.name, []).append(side)
    leading = [leading_of(sides) for sides in pools.values()]
    first = next((side for side in leading if side.differs), leading[0])
    return next(each for each in measurements if each.subject == first.subject)


def _full(
    report: SampledReport, notes: ProblemNotes, measurements: Sequence[Measurement]
) -> Iterator[Block]:
    nothing, cost = _reason_for_nothing(report), cost_text(report)
    yield Heading("Answer")
    if nothing:
        yield Paragraph(Words(nothing, NO_VERDICT))
    yield from full_answer(measurements, report)
    singles = full_workers(report)
    if singles:
        yield Items(tuple(singles), "Workers that do not belong to their pool")
    if cost:
        yield Paragraph(cost)
    refused = [Item(line, kind=NO_VERDICT, mark="!") for line in refusals(notes)]
    if refused:
        yield Items(tuple(refused), shown=len(refused))
    if report.subjects or report.baseline:
        has_compared = any(measurement.compared_ns for measurement in measurements)
        yield Paragraph(_introduction(report, has_compared=has_compared), QUIET)
    yield from parts(measurements, report)
    yield from workers_needed(report)
    yield from places(report)
    yield from measured(measurements, report)
    yield from causes(report)
    yield from runs(report)
    yield from _lists(report, notes)
    if report.subjects:
        yield Paragraph(_CLOSING, QUIET)


def _lists(report: Report, notes: ProblemNotes) -> Iterator[Block]:
    footnotes = [
        Item((Words(note.rule, "code"), f": {note.text}"), mark=f"[{note.number}]")
        for note in notes.footnotes
    ]
    if footnotes:
        yield Heading("Notes")
        yield Items(tuple(footnotes), shown=len(footnotes))
    lists: Iterable[tuple[str, Sequence[str]]] = (
        ("Not read", report.unreadable),
        ("Remarks", [text_of(remark) for remark in report.remarks]),
    )
    for title, lines in lists:
        if lines:
            yield Heading(title)
            yield Items.of(lines)


def _introduction(report: Report, *, has_compared: bool) -> str:
    reason = f" ({report.baseline_reason})" if report.baseline_reason else ""
    text = (
        f"The baseline is {report.baseline}{reason}. A ratio is a geometric mean time of workers divided "
        f"by the baseline's; within ±{percent(report.margin_ratio)} counts as equivalent."
    )
    if has_compared:
        text += f" {COMPARED} is that mean where the averages give another ratio."
    if any(workloads.of(part.subject.workload).higher_is_better for part in report.subjects):
        text += " A ratio above 1 is slower, also where a rate is shown."
    return text


def _reason_for_nothing(report: Report) -> str:
    if any(part.comparisons for part in report.subjects):
        return ""
    if any(problem.severity is Severity.REFUSED for problem in report.problems):
        return "No verdict is given: the measurements are not comparable."
    if any(len(part.figures) > 1 for part in report.subjects):
        return "Nothing could be compared."
    if report.subjects:
        sides = dict.fromkeys(side for part in report.subjects for side in part.figures)
        return f"Only {', '.join(sides)} has results, so there is nothing to compare."
    if report.unreadable:
        return "No verdict: none of the results could be read."
    return "No verdict: there are no results."
