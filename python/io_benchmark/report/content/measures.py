# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Measurements of one workload and place as one table: each has the same unit and its own verdicts."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from io_benchmark.analysis import workloads
from io_benchmark.analysis.model import Comparison, Detail, Figures, Subject
from io_benchmark.analysis.report_model import SubjectReport
from io_benchmark.report.content.answers import LEVEL, NO_VERDICT
from io_benchmark.report.content.figures_table import BASELINE
from io_benchmark.report.content.footnotes import Footnotes
from io_benchmark.report.content.units import NOTHING, digits, interval, percent, ratio
from io_benchmark.text import clean, name

# What these measure does not lie in a place.
WITHOUT_PLACE = ("spawn", "upload")


@dataclass(frozen=True)
class MeasureRow:
    """One pool: its name, then a cell for each of the table's heads."""

    pool: str
    verdict: str  # BASELINE, a Verdict's value or NO_VERDICT
    cells: tuple[str, ...]


@dataclass(frozen=True)
class Measure:
    """One subject: 'stat, 4 at once'."""

    label: str
    marks: tuple[int, ...]
    rows: tuple[MeasureRow, ...]
    details: tuple[str, ...]  # 'over one alone: intel 3.71×, amd-16 0.80×'


@dataclass(frozen=True)
class MeasureTable:
    heads: tuple[str, ...]
    measures: tuple[Measure, ...]
    figures: int = 2  # so many cells stand first and have a unit as their head


def groups(parts: Sequence[SubjectReport]) -> list[tuple[int, ...]]:
    """Which subjects share a section, as positions: cache-retrieve's have one each."""
    found: dict[object, list[int]] = {}
    for at, part in enumerate(parts):
        subject = part.subject
        place = "" if subject.workload in WITHOUT_PLACE else subject.place
        together = subject.workload in workloads.IN_BATCHES
        key: object = (subject.workload, place) if together else at
        found.setdefault(key, []).append(at)
    return [tuple(members) for members in found.values()]


def title(subject: Subject) -> str:
    return f"{where(subject)} {unit(subject.workload)}"


def where(subject: Subject) -> str:
    place = "" if subject.workload in WITHOUT_PLACE else f", place {name(subject.place)}"
    return f"{name(subject.workload)}{place}"


def unit(workload_name: str) -> str:
    """'(IOPS, higher is better)'."""
    workload = workloads.of(workload_name)
    return f"({workload.unit}, {'higher' if workload.higher_is_better else 'lower'} is better)"


def label(subject: Subject) -> str:
    """What tells it from the others of its section."""
    parts = [clean(part, 80) for part in (subject.variant, subject.destination) if part]
    parts += [f"{subject.threads:,} at once"] if subject.threads else []
    return ", ".join(parts) or name(subject.workload)


def table(parts: Sequence[SubjectReport], baseline: str, footnotes: Footnotes) -> MeasureTable:
    unit = workloads.of(parts[0].subject.workload).unit
    heads = (unit, "P95", "Ratio", f"{percent(LEVEL)} interval", "Verdict")
    return MeasureTable(heads, tuple(_measure(part, baseline, footnotes) for part in parts))


def _measure(part: SubjectReport, baseline: str, footnotes: Footnotes) -> Measure:
    comparisons = {comparison.candidate: comparison for comparison in part.comparisons}
    baselines = {comparison.baseline for comparison in part.comparisons} | {baseline}
    marks: dict[int, None] = dict.fromkeys(footnotes.of_subject(part.subject))
    for side in part.figures:
        marks |= dict.fromkeys(footnotes.of_sides(part.subject, side))
    return Measure(
        label(part.subject),
        tuple(sorted(marks)),
        tuple(
            _row(part.subject, side, figures, comparisons.get(side), baselines)
            for side, figures in part.figures.items()
        ),
        tuple(_details(part.figures.items())),
    )


def _row(
    subject: Subject,
    side: str,
    figures: Figures,
    comparison: Comparison | None,
    baselines: set[str],
) -> MeasureRow:
    shown = [
        digits(workloads.of(subject.workload).shown(time_ns))
        for time_ns in (figures.mean_ns, figures.p95_ns)
    ]
    if comparison is not None:
        ends = interval(comparison.interval.low_ratio, comparison.interval.high_ratio)
        verdict = comparison.verdict.value
        return MeasureRow(name(side), verdict, (*shown, ratio(comparison.ratio), ends, verdict))
    verdict = BASELINE if side in baselines else NO_VERDICT
    own = ratio(1) if verdict is BASELINE else NOTHING
    return MeasureRow(name(side), verdict, (*shown, own, NOTHING, verdict))


def _details(figures: Iterable[tuple[str, Figures]]) -> list[str]:
    """One line a figure that only this workload has, with every side that has it."""
    found: dict[str, list[str]] = {}
    for side, one in figures:
        for detail in one.details:
            found.setdefault(clean(detail.label), []).append(f"{name(side)} {_value(detail)}")
    return [f"{words}: {', '.join(values)}" for words, values in found.items()]


def _value(detail: Detail) -> str:
    if detail.unit == "×":
        return ratio(detail.value)
    return f"{digits(detail.value)} {detail.unit}" if detail.unit else f"{detail.value:,.0f}"
