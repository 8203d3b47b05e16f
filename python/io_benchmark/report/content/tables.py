# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Tables of one measurement (figures as rows, pools as columns) or of several (pools as rows)."""

import math
from collections.abc import Callable, Sequence
from typing import Self

from msgspec import Struct

from io_benchmark.analysis.inference.levels import LEVEL
from io_benchmark.analysis.model import MEDIAN, PERCENTILES, TAIL, Comparison, Detail, Figures
from io_benchmark.number_text import (
    NOTHING,
    count,
    digits,
    interval,
    percent,
    ratio,
    times,
)
from io_benchmark.report.content.report_index import BASELINE, MeasuredSide, MeasuredSubject
from io_benchmark.report.content.screen_lines import COMPARED
from io_benchmark.results import workloads

INTERVAL_HEAD = f"{percent(LEVEL)} interval"

_MEDIAN_LABEL = f"P{MEDIAN}"


class ColumnHead(Struct, frozen=True):
    """A pool at the head of its column."""

    text: str
    verdict: str = ""  # BASELINE, a Verdict's value or NO_VERDICT
    marks: tuple[int, ...] = ()


class FiguresRow(Struct, frozen=True):
    label: str
    cells: tuple[str, ...]
    strong: bool = False
    verdicts: tuple[str, ...] = ()  # the cells'; empty: a strong row's cells have their columns'
    note: str = ""  # what the label means


class FiguresTable(Struct, frozen=True):
    heads: tuple[ColumnHead, ...]
    rows: tuple[FiguresRow, ...]

    def verdicts(self, row: FiguresRow) -> tuple[str, ...]:
        """Return the verdicts by which a row's cells are coloured."""
        if row.verdicts:
            return row.verdicts
        return tuple(head.verdict if row.strong else "" for head in self.heads)

    @classmethod
    def of(cls, part: MeasuredSubject) -> Self:
        """Make the table of one measurement, with the verdicts in its last row."""
        sides = part.sides
        compared = [side.comparison for side in sides]
        # Before and after: each pool has a separate baseline.
        baselines = {comparison.baseline for comparison in compared if comparison} | {part.baseline}
        against = BASELINE if len(baselines) > 1 else part.baseline
        rows = _figure_rows(
            [side.figures for side in sides if side.figures is not None], part.median_is_steady
        )
        if part.compared_ns:
            at = next(at for at, row in enumerate(rows) if row.label == "Avg")
            cells = (part.compared_ns.get(side.side, ()) for side in sides)
            rows.insert(at + 1, FiguresRow(COMPARED, tuple(", ".join(times(c)) for c in cells)))
        if part.median_is_steady:
            rows.append(
                FiguresRow(f"{_MEDIAN_LABEL} vs {against}", _cells(sides, _median_text, ratio(1)))
            )
        rows += [
            FiguresRow(f"Ratio vs {against}", _cells(sides, _ratio_text, ratio(1)), strong=True),
            FiguresRow(INTERVAL_HEAD, _cells(sides, _interval_text, NOTHING)),
            FiguresRow("Verdict", tuple(side.verdict for side in sides), strong=True),
        ]
        heads = tuple(ColumnHead(side.side, side.verdict, side.marks) for side in sides)
        return cls(heads, tuple(rows))


class MeasureRow(Struct, frozen=True):
    """One pool: its name, then a cell for each of the table's heads."""

    pool: str
    verdict: str  # BASELINE, a Verdict's value or NO_VERDICT
    cells: tuple[str, ...]


class Measure(Struct, frozen=True):
    """One measurement: 'stat, 4 at once'."""

    label: str
    marks: tuple[int, ...]
    rows: tuple[MeasureRow, ...]
    details: tuple[str, ...]  # 'over one alone: intel 3.71×, amd-16 0.80×'


class MeasureTable(Struct, frozen=True):
    heads: tuple[str, ...]
    measures: tuple[Measure, ...]
    figures: int = 2  # the number of leading cells that have a unit as their head

    @classmethod
    def of(cls, parts: Sequence[MeasuredSubject]) -> Self:
        """Make one table of measurements that share a unit; each has a row per pool."""
        unit = workloads.of(parts[0].subject.workload).unit
        heads = (unit, f"P{TAIL}", "Ratio", INTERVAL_HEAD, "Verdict")
        return cls(heads, tuple(map(_measure, parts)))


def _figure_rows(figures: Sequence[Figures], median_is_steady: bool) -> list[FiguresRow]:
    """Put the figure first that varies less between identical runs: the mean or the median."""
    times_ns: dict[str, list[float | None]] = {"Avg": [side.mean_ns for side in figures]}
    for number in PERCENTILES:
        times_ns[f"P{number}"] = [side.percentiles_ns[number] for side in figures]
    if median_is_steady:
        times_ns = {_MEDIAN_LABEL: times_ns[_MEDIAN_LABEL], **times_ns}
    lookup_and_copy_ns: dict[str, list[float | None]] = {
        "Lookup avg": [side.lookup_mean_ns for side in figures],
        "Copy avg": [side.copy_mean_ns for side in figures],
    }
    return [
        *(_row_of_times(label, values) for label, values in times_ns.items()),
        _row_of_times("Total", [side.total_ns for side in figures]),
        *(_row_of_times(label, values) for label, values in lookup_and_copy_ns.items()),
        FiguresRow("Workers", tuple(f"{side.workers:,}" for side in figures)),
        FiguresRow("Retrieves", tuple(f"{side.samples:,}" for side in figures)),
    ]


def _row_of_times(label: str, values_ns: Sequence[float | None]) -> FiguresRow:
    known = [math.nan if value is None else value for value in values_ns]
    return FiguresRow(label, tuple(times(known)))


def _cells(
    sides: Sequence[MeasuredSide],
    text: Callable[[MeasuredSide, Comparison], str],
    baseline: str,
) -> tuple[str, ...]:
    """Write a cell for each side; `baseline` is the baseline's."""
    return tuple(
        text(side, side.comparison)
        if side.comparison is not None
        else (baseline if side.verdict == BASELINE else NOTHING)
        for side in sides
    )


def _median_text(side: MeasuredSide, _: Comparison) -> str:
    return NOTHING if side.median_ratio is None else ratio(side.median_ratio)


def _ratio_text(_: MeasuredSide, comparison: Comparison) -> str:
    return ratio(comparison.ratio)


def _interval_text(_: MeasuredSide, comparison: Comparison) -> str:
    return interval(comparison.interval.low_ratio, comparison.interval.high_ratio)


def _measure(part: MeasuredSubject) -> Measure:
    shown = workloads.of(part.subject.workload).shown
    rows, details = [], dict[str, list[str]]()
    for side, figures in [(side, side.figures) for side in part.sides if side.figures]:
        rows.append(
            MeasureRow(
                side.side,
                side.verdict,
                (
                    digits(shown(figures.mean_ns)),
                    digits(shown(figures.percentiles_ns[TAIL])),
                    *_cells([side], _ratio_text, ratio(1)),
                    *_cells([side], _interval_text, NOTHING),
                    side.verdict,
                ),
            )
        )
        if means_ns := part.compared_ns.get(side.side, ()):
            texts = ", ".join(digits(shown(mean_ns)) for mean_ns in means_ns)
            details.setdefault(COMPARED.lower(), []).append(f"{side.side} {texts}")
        for detail in figures.details:
            details.setdefault(detail.label, []).append(f"{side.side} {_detail_text(detail)}")
    return Measure(
        part.subject.label,
        part.every_mark,
        tuple(rows),
        tuple(f"{label}: {', '.join(values)}" for label, values in details.items()),
    )


def _detail_text(detail: Detail) -> str:
    if detail.unit == "×":
        return ratio(detail.value)
    return f"{digits(detail.value)} {detail.unit}" if detail.unit else count(detail.value)
