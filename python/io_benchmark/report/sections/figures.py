# SPDX-License-Identifier: MPL-2.0
"""The figures of a side, and their tables.

A table of one measurement has figures as rows and pools as columns; that of several has pools as rows.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from io_benchmark.analysis.levels import LEVEL
from io_benchmark.analysis.model import MEDIAN, PERCENTILES, TAIL, Detail, Figures
from io_benchmark.number_text import NOTHING, count, digits, percent, ratio, times
from io_benchmark.report.blocks import BASELINE, QUIET, Line, Marks, Row, Table, Words
from io_benchmark.report.content import ends_text, sharing
from io_benchmark.report.sections.measured import Measurement, Side
from io_benchmark.results import workloads

INTERVAL_HEAD = f"{percent(LEVEL)} interval"
COMPARED = "Compared avg"  # what a ratio is of, where that is not of the averages
_MEDIAN_LABEL = f"P{MEDIAN}"
_AVERAGE_RANK, _MEASURES_RANK = 8, 6


class _Figure(NamedTuple):
    """A time of a side: its row in tables, and its name in Perfherder."""

    label: str
    value_ns: Callable[[Figures], float | None]
    series: str = ""  # its ratio, in Perfherder; the mean has the comparison's
    screen_rank: int = 0  # what has the lowest rank is left out first; 0: not on a screen


def _percentile(number: int, screen_rank: int) -> _Figure:
    return _Figure(
        f"P{number}", lambda side: side.percentiles_ns[number], f"p{number}", screen_rank
    )


# A further percentile is one number in PERCENTILES.
FIGURES = (
    _Figure("Avg", lambda side: side.mean_ns, "", _AVERAGE_RANK),
    *(_percentile(number, rank) for rank, number in enumerate(PERCENTILES, 2)),
    _Figure("Total", lambda side: side.total_ns, "", 1),
    _Figure("Lookup avg", lambda side: side.lookup_mean_ns, "lookup-mean"),
    _Figure("Copy avg", lambda side: side.copy_mean_ns, "copy-mean"),
)


def screen_table(measurement: Measurement, title: str) -> Table:
    """Make the table of one measurement for a screen."""
    if measurement.subject.workload in workloads.IN_BATCHES:
        table = _measures([measurement], title)
        return replace(table, rows=[replace(row, rank=_MEASURES_RANK) for row in table.rows])
    rows = [row for row in _figure_rows(measurement) if row.rank]
    return Table("", [side.name for side in measurement.sides], rows, title, turned_corner="Pool")


def figures_table(members: Sequence[Measurement]) -> Table:
    """Make the table of measurements that share a section."""
    shares = members[0].subject.workload in workloads.IN_BATCHES
    return _measures(members) if shares else _figures(members[0])


def _figures(measurement: Measurement) -> Table:
    """Make the table of one measurement, with the verdicts in its last row."""
    sides, figures = measurement.sides, measurement.part.figures.values()
    # Before and after: each pool has a separate baseline.
    baselines = {side.baseline for side in sides if side.comparison} | {measurement.baseline}
    against = BASELINE if len(baselines) > 1 else measurement.baseline
    rows = [
        *_figure_rows(measurement),
        Row("Workers", [f"{side.workers:,}" for side in figures]),
        Row("Retrieves", [f"{side.samples:,}" for side in figures]),
    ]
    if measurement.part.median_is_steady:
        medians = [_ratio_text(side, side.median_ratio) for side in sides]
        rows.append(Row(f"{_MEDIAN_LABEL} vs {against}", medians))
    ratios, intervals, verdicts = zip(*map(_comparison, sides), strict=True)
    rows += [
        Row(f"Ratio vs {against}", ratios, is_strong=True),
        Row(INTERVAL_HEAD, intervals),
        Row("Verdict", verdicts, is_strong=True),
    ]
    heads = [(side.name, Marks(side.marks)) for side in sides]
    return Table("Metric", heads, rows, turned_corner="Pool")


def _measures(measurements: Sequence[Measurement], title: str = "") -> Table:
    """Make one table of measurements that share a unit; each has a row per pool."""
    unit = workloads.of(measurements[0].subject.workload).unit
    heads = (unit, f"P{TAIL}", "Ratio", INTERVAL_HEAD, "Verdict")
    rows = [row for measurement in measurements for row in _measure(measurement)]
    return Table("Pool", heads, rows, title)


def _figure_rows(measurement: Measurement) -> list[Row]:
    """Put the figure first that varies less between identical runs: the mean or the median."""
    rows: list[Row] = []
    for figure in FIGURES:
        values = (figure.value_ns(side) for side in measurement.part.figures.values())
        cells = times([math.nan if value is None else value for value in values])
        leads = figure.label == _MEDIAN_LABEL and measurement.part.median_is_steady
        rows.insert(0 if leads else len(rows), Row(figure.label, cells, rank=figure.screen_rank))
        if figure.label == "Avg" and (compared_ns := measurement.compared_ns):
            # What the ratios are of, where the averages give other ratios.
            means = [", ".join(times(compared_ns.get(side.name, ()))) for side in measurement.sides]
            rows.append(Row(COMPARED, means, rank=_AVERAGE_RANK))
    return rows


def _ratio_text(side: Side, value: float | None) -> str:
    """Write a ratio to the baseline, whose own ratio is 1."""
    if value is None:
        return ratio(1) if side.verdict == BASELINE else NOTHING
    return ratio(value)


def _comparison(side: Side) -> tuple[Words, str, Words]:
    """Write a side's ratio, its interval and the verdict."""
    pair, verdict = side.comparison, Words(side.verdict, side.verdict)
    value = Words(_ratio_text(side, None if pair is None else pair.ratio), side.verdict)
    return value, NOTHING if pair is None else ends_text(pair.interval), verdict


def _measure(measurement: Measurement) -> Iterator[Row]:
    workload = workloads.of(measurement.subject.workload)
    marks = sorted({*measurement.marks, *(m for side in measurement.sides for m in side.marks)})
    yield Row((measurement.subject.label, Marks(tuple(marks))))
    details: list[tuple[str, str]] = []
    for side in measurement.sides:
        figures = measurement.part.figures[side.name]
        values_ns = (figures.mean_ns, figures.percentiles_ns[TAIL])
        cells: list[Line] = [digits(workload.shown(value_ns)) for value_ns in values_ns]
        cells += _comparison(side)
        yield Row(side.name, cells, level=1)
        if means_ns := measurement.compared_ns.get(side.name, ()):
            means = ", ".join(digits(workload.shown(mean_ns)) for mean_ns in means_ns)
            details.append((f"{side.name} {means}", COMPARED.lower()))
        details += (
            (f"{side.name} {_detail_text(detail)}", detail.label) for detail in figures.details
        )
    for values, label in sharing(details):
        yield Row(Words(f"{label}: {values}", QUIET), level=1)


def _detail_text(detail: Detail) -> str:
    if detail.unit == "×":
        return ratio(detail.value)
    return f"{digits(detail.value)} {detail.unit}" if detail.unit else count(detail.value)
