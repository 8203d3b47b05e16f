# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The seed's table: a row a figure, a column a pool, and the verdict at its foot."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from io_benchmark.analysis.model import Comparison, Figures
from io_benchmark.analysis.report_model import SubjectReport
from io_benchmark.report.content import bottleneck_rows
from io_benchmark.report.content.answers import LEVEL, NO_VERDICT
from io_benchmark.report.content.footnotes import Footnotes
from io_benchmark.report.content.units import NOTHING, interval, percent, ratio, seconds, times
from io_benchmark.text import name

BASELINE = "baseline"

TIMES: tuple[tuple[str, Callable[[Figures], float]], ...] = (
    ("Avg", lambda figures: figures.mean_ns),
    ("P50", lambda figures: figures.p50_ns),
    ("P95", lambda figures: figures.p95_ns),
    ("P99", lambda figures: figures.p99_ns),
)
PARTS: tuple[tuple[str, Callable[[Figures], float]], ...] = (
    ("Lookup avg", lambda figures: _known(figures.lookup_mean_ns)),
    ("Copy avg", lambda figures: _known(figures.copy_mean_ns)),
)


def _known(value_ns: float | None) -> float:
    return math.nan if value_ns is None else value_ns


@dataclass(frozen=True)
class Head:
    """A pool at the head of its column."""

    text: str
    verdict: str  # "", BASELINE, a Verdict's value or NO_VERDICT
    marks: tuple[int, ...]


@dataclass(frozen=True)
class Row:
    label: str
    cells: tuple[str, ...]
    strong: bool = False
    verdicts: tuple[str, ...] = ()  # a cell's own; else a strong row's are its columns'
    note: str = ""  # what the label stands for


@dataclass(frozen=True)
class FiguresTable:
    heads: tuple[Head, ...]
    rows: tuple[Row, ...]

    def verdicts(self, row: Row) -> tuple[str, ...]:
        """By which a row's cells are coloured."""
        if row.verdicts:
            return row.verdicts
        return tuple(head.verdict if row.strong else "" for head in self.heads)


def figures_table(part: SubjectReport, baseline: str, footnotes: Footnotes) -> FiguresTable:
    comparisons = {comparison.candidate: comparison for comparison in part.comparisons}
    baselines = {comparison.baseline for comparison in part.comparisons} | {baseline}
    sides = list(part.figures)
    verdicts = [_verdict(side, comparisons.get(side), baselines) for side in sides]
    heads = tuple(
        Head(name(side), verdict, footnotes.of_sides(part.subject, side))
        for side, verdict in zip(sides, verdicts, strict=True)
    )
    rows = [*_figure_rows(list(part.figures.values()), part.median_is_steady)]
    # Before and after: each pool has a baseline of its own.
    against = name(next(iter(baselines))) if len(baselines) == 1 else BASELINE
    if part.median_is_steady:
        cells = _cells(sides, comparisons, baselines, lambda one: _median_ratio(part, one))
        rows.append(Row(f"P50 vs {against}", cells))
    rows += [
        Row(f"Ratio vs {against}", _cells(sides, comparisons, baselines, _ratio), strong=True),
        Row(f"{percent(LEVEL)} interval", _cells(sides, comparisons, set(), _interval)),
        Row("Verdict", tuple(verdicts), strong=True),
    ]
    return FiguresTable(heads, tuple(rows))


def _figure_rows(figures: Sequence[Figures], median_is_steady: bool) -> list[Row]:
    """The figure that is steady in these runs leads, the other stands beside it."""
    average, median, *tail = TIMES
    leading = [median, average] if median_is_steady else [average, median]

    def row_of_times(label: str, figure: Callable[[Figures], float]) -> Row:
        return Row(label, tuple(times([figure(side) for side in figures])))

    return [
        *(row_of_times(label, figure) for label, figure in (*leading, *tail)),
        Row("Total", tuple(seconds(side.total_ns) for side in figures)),
        *(row_of_times(label, figure) for label, figure in PARTS),
        Row("Workers", tuple(f"{side.workers:,}" for side in figures)),
        Row("Retrieves", tuple(f"{side.samples:,}" for side in figures)),
    ]


def _cells(
    sides: Sequence[str],
    comparisons: dict[str, Comparison],
    baselines: set[str],
    show: Callable[[Comparison], str],
) -> tuple[str, ...]:
    return tuple(
        show(comparisons[side])
        if side in comparisons
        else (ratio(1) if side in baselines else NOTHING)
        for side in sides
    )


def _median_ratio(part: SubjectReport, comparison: Comparison) -> str:
    found = bottleneck_rows.median_ratio(part, comparison.candidate, comparison.baseline)
    return NOTHING if found is None else ratio(found)


def _ratio(comparison: Comparison) -> str:
    return ratio(comparison.ratio)


def _interval(comparison: Comparison) -> str:
    return interval(comparison.interval.low_ratio, comparison.interval.high_ratio)


def _verdict(side: str, comparison: Comparison | None, baselines: set[str]) -> str:
    if comparison is not None:
        return comparison.verdict.value
    return BASELINE if side in baselines else NO_VERDICT
