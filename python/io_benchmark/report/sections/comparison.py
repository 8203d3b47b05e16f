# SPDX-License-Identifier: MPL-2.0
"""A comparison: the answer, where the time went, the measurements, causes, workers and notes."""

from collections.abc import Iterator, Sequence

from io_benchmark.analysis.model import Severity
from io_benchmark.analysis.observed.machines import grouped
from io_benchmark.analysis.report_model import Report, SampledReport
from io_benchmark.analysis.validity.rules import COMPARISON_RULES, SIDE_RULES
from io_benchmark.number_text import number_of, percent
from io_benchmark.report.blocks import (
    ALWAYS,
    CODE,
    NO_VERDICT,
    QUIET,
    WARNING,
    Block,
    Document,
    Heading,
    Item,
    Items,
    Line,
    Paragraph,
    Words,
    lists,
    plain,
)
from io_benchmark.report.content import text_of
from io_benchmark.report.sections.answer import full_answer, looks, screen_answer
from io_benchmark.report.sections.causes import causes
from io_benchmark.report.sections.figures import COMPARED, screen_table
from io_benchmark.report.sections.measured import (
    Footnote,
    Measurement,
    leading_of,
    measurements_of,
    pools_of,
    refusals_of,
)
from io_benchmark.report.sections.measurements import measured
from io_benchmark.report.sections.parts import parts
from io_benchmark.report.sections.places import places
from io_benchmark.report.sections.workers import (
    cautions,
    cost_text,
    mixed_pools,
    runs,
    single_workers,
    workers_needed,
)
from io_benchmark.results import workloads
from io_benchmark.text import name

_CLOSING = (
    "The unit is the worker, one machine that ran one task; retrieves of one worker are not "
    "independent. Intervals are adjusted for the number of candidates. Inconclusive means that these "
    "data do not decide, not that the sides are equal."
)
# Of warnings of a kind a screen has two, then a count; without any answer there is room for more.
_SHOWN, _SHOWN_ALONE = 2, 4
_WARNING_LENGTH = 300
# Notes about how it was measured are left out first.
_NOTE = 5
# Rules that change most how a verdict is read come first, those about single runs last.
_RANKS = {**dict.fromkeys(SIDE_RULES, 1), **dict.fromkeys(COMPARISON_RULES, 0)}
_LAST_RANK = 2


def document(report: SampledReport) -> Document:
    """Write everything that a comparison says, and what its first screen has."""
    measurements, notes = measurements_of(report)
    # An option needs no explanation, nor does a pool that is compared with nothing.
    reason = report.baseline_reason
    explains = reason and not reason.startswith("--") and report.title != report.baseline
    return Document(
        report.title,
        [*_full(report, notes, measurements)],
        [*_screen(report, notes, measurements)],
        "compare",
        f" ({reason})" if explains else "",
    )


def _screen(
    report: Report, notes: Sequence[Footnote], measurements: Sequence[Measurement]
) -> Iterator[Block]:
    """Write what a reader needs for a decision, with the figures of the measurement that leads."""
    nothing, cost = _reason_for_nothing(report), cost_text(report)
    answers = screen_answer(measurements, report)
    items = [
        *([Item(Words(nothing, NO_VERDICT))] if nothing else []),
        *answers,
        *mixed_pools(report),
        *single_workers(report, is_full=False),
        *([Item(cost)] if cost else []),
        *looks(measurements),
        *_warnings(report, notes),
    ]
    yield Items(items, shown=0)
    if not nothing and answers:
        pools = [leading_of(pool) for pool in pools_of(measurements)]
        subject = next((side for side in pools if side.differs), pools[0]).subject
        leading = next(part for part in measurements if part.subject == subject)
        yield screen_table(leading, str(subject) if len(measurements) > 1 else "")


def _warnings(report: Report, notes: Sequence[Footnote]) -> Iterator[Item]:
    """Write what changes how the answers are read; more than a few are counted."""
    yield from _first(refusals_of(report), "refused comparisons")
    missing = [(Words("Not read:", WARNING), f" {line}") for line in report.unreadable]
    yield from _first(missing, "results not read", most=_SHOWN if report.subjects else _SHOWN_ALONE)
    yield from _first(cautions(report), "cautions about workers")
    for is_allowed in (True, False):
        by_rule = grouped(
            (note for note in notes if note.is_allowed is is_allowed), lambda note: note.rule
        )
        rules = sorted(by_rule, key=lambda rule: _RANKS.get(rule, _LAST_RANK))
        lines = []
        for rule in rules:
            briefs = [*dict.fromkeys(note.brief for note in by_rule[rule])]
            more = f" (and {number_of(len(briefs) - 1, 'more such warning')})"
            brief = briefs[0] + (more if len(briefs) > 1 else "")
            lines.append((Words(f"{rule}:", WARNING), f" {brief}"))
        kinds = f"kinds of warnings: {', '.join(rules[_SHOWN - 1 :])}"
        yield from _first(lines, kinds, rank=ALWAYS if is_allowed else _NOTE)
    yield from _first([*map(text_of, report.remarks)], "remarks", rank=_NOTE)


def _first(
    lines: Sequence[Line], kind: str, *, rank: int = ALWAYS, most: int = _SHOWN
) -> Iterator[Item]:
    """Yield a few lines, cut; then how many more there are."""
    visible = lines if len(lines) <= most else lines[: most - 1]
    for line in visible:
        lead, rest = line if isinstance(line, tuple) else ("", line)
        cut = name(plain(rest), _WARNING_LENGTH)
        yield Item((lead, f" {cut}") if lead else cut, mark="!", rank=rank)
    if len(lines) > len(visible):
        yield Item(f"and {len(lines) - len(visible):,} more {kind}", mark="!", rank=rank)


def _full(
    report: SampledReport, notes: Sequence[Footnote], measurements: Sequence[Measurement]
) -> Iterator[Block]:
    nothing, cost = _reason_for_nothing(report), cost_text(report)
    yield Heading("Answer")
    if nothing:
        yield Paragraph(Words(nothing, NO_VERDICT))
    yield from full_answer(measurements, report)
    yield Items(mixed_pools(report), "Pools of unlike machines")
    yield Items(single_workers(report, is_full=True), "Workers that do not belong to their pool")
    if cost:
        yield Paragraph(cost)
    refused = [Item(line, kind=NO_VERDICT, mark="!") for line in refusals_of(report)]
    yield Items(refused, shown=0)
    if report.subjects or report.baseline:
        has_compared = any(measurement.compared_ns for measurement in measurements)
        yield Paragraph(_introduction(report, has_compared=has_compared), QUIET)
    yield from parts(measurements, report)
    yield from workers_needed(report)
    yield from places(report)
    yield from measured(measurements, report)
    yield from causes(report)
    yield from runs(report)
    footnotes = [
        Item((Words(note.rule, CODE), f": {note.full}"), mark=f"[{note.number}]") for note in notes
    ]
    if footnotes:
        yield from (Heading("Notes"), Items(footnotes, shown=0))
    remarks = [*map(text_of, report.remarks)]
    yield from lists(("Not read", report.unreadable), ("Remarks", remarks))
    if report.subjects:
        yield Paragraph(_CLOSING, QUIET)


def _introduction(report: Report, *, has_compared: bool) -> str:
    reason = f" ({report.baseline_reason})" if report.baseline_reason else ""
    sentences = [
        (
            f"The baseline is {report.baseline}{reason}. A ratio is a geometric mean time of workers divided "
            f"by the baseline's; within ±{percent(report.margin_ratio)} counts as equivalent."
        )
    ]
    if has_compared:
        sentences.append(f"{COMPARED} is that mean where the averages give another ratio.")
    if any(workloads.of(part.subject.workload).higher_is_better for part in report.subjects):
        sentences.append("A ratio above 1 is slower, also where a rate is shown.")
    return " ".join(sentences)


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
