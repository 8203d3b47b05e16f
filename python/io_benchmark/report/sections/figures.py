# SPDX-License-Identifier: MPL-2.0
"""Tables of one measurement (figures as rows, pools as columns) or of several (pools as rows)."""

import math
from collections.abc import Callable, Iterator, Sequence

from io_benchmark.analysis.inference.levels import LEVEL
from io_benchmark.analysis.model import MEDIAN, PERCENTILES, TAIL, Detail, Figures
from io_benchmark.number_text import NOTHING, count, digits, percent, ratio, times
from io_benchmark.report.blocks import BASELINE, QUIET, Line, Marks, Row, Table, Words
from io_benchmark.report.content.verdict_text import ends_text
from io_benchmark.report.sections.measured import Measurement, Side
from io_benchmark.results import workloads

INTERVAL_HEAD = f"{percent(LEVEL)} interval"
COMPARED = "Compared avg"  # what a ratio is of, where that is not of the averages
_MEDIAN_LABEL = f"P{MEDIAN}"
# Of a measurement a screen has these figures; what has the lowest rank is left out first.
_SCREEN_RANKS = {"Total": 1, _MEDIAN_LABEL: 2, "P95": 3, "P99": 4, "Avg": 8, COMPARED: 8}
_MEASURES_RANK = 6
_Times = Callable[[Figures], float | None]


def screen_table(measurement: Measurement, title: str) -> Table:
    """Make the table of one measurement for a screen."""
    if measurement.subject.workload in workloads.IN_BATCHES:
        table = measures_table([measurement], title)
        rows = [
            Row(row.label, row.cells, row.is_strong, row.level, _MEASURES_RANK)
            for row in table.rows
        ]
        return Table(table.corner, table.heads, tuple(rows), title)
    rows = [
        Row(row.label, row.cells, rank=_SCREEN_RANKS[label])
        for row in _figure_rows(measurement)
        if (label := str(row.label)) in _SCREEN_RANKS
    ]
    heads = tuple(side.name for side in measurement.sides)
    return Table("", heads, tuple(rows), title, turned_corner="Pool")


def figures_table(measurement: Measurement) -> Table:
    """Make the table of one measurement, with the verdicts in its last row."""
    sides = measurement.sides
    # Before and after: each pool has a separate baseline.
    baselines = {each.baseline for each in measurement.comparisons} | {measurement.baseline}
    against = BASELINE if len(baselines) > 1 else measurement.baseline
    rows = _figure_rows(measurement)
    if measurement.part.median_is_steady:
        cells = tuple(_cell(side, _median_text, ratio(1)) for side in sides)
        rows.append(Row(f"{_MEDIAN_LABEL} vs {against}", cells))
    ratios = tuple(Words(_cell(side, _ratio_text, ratio(1)), side.verdict) for side in sides)
    intervals = tuple(_cell(side, _interval_text, NOTHING) for side in sides)
    rows += [
        Row(f"Ratio vs {against}", ratios, is_strong=True),
        Row(INTERVAL_HEAD, intervals),
        Row("Verdict", tuple(Words(side.verdict, side.verdict) for side in sides), is_strong=True),
    ]
    heads = tuple((side.name, Marks(side.marks)) for side in sides)
    return Table("Metric", heads, tuple(rows), turned_corner="Pool")


def measures_table(measurements: Sequence[Measurement], title: str = "") -> Table:
    """Make one table of measurements that share a unit; each has a row per pool."""
    unit = workloads.of(measurements[0].subject.workload).unit
    heads = (unit, f"P{TAIL}", "Ratio", INTERVAL_HEAD, "Verdict")
    rows = [row for measurement in measurements for row in _measure(measurement)]
    return Table("Pool", heads, tuple(rows), title)


def _figure_rows(measurement: Measurement) -> list[Row]:
    """Put the figure first that varies less between identical runs: the mean or the median."""
    figures = [side.figures for side in measurement.sides if side.figures is not None]
    labels: dict[str, _Times] = {"Avg": lambda side: side.mean_ns}
    for number in PERCENTILES:
        labels[f"P{number}"] = lambda side, number=number: side.percentiles_ns[number]  # type: ignore[misc]
    if measurement.part.median_is_steady:
        labels = {_MEDIAN_LABEL: labels[_MEDIAN_LABEL], **labels}
    labels |= {
        "Total": lambda side: side.total_ns,
        "Lookup avg": lambda side: side.lookup_mean_ns,
        "Copy avg": lambda side: side.copy_mean_ns,
    }
    rows = {
        label: Row(label, tuple(times([_known(value_of(side)) for side in figures])))
        for label, value_of in labels.items()
    }
    return [
        *(row for label in rows for row in (rows[label], *_compared(label, measurement))),
        Row("Workers", tuple(f"{side.workers:,}" for side in figures)),
        Row("Retrieves", tuple(f"{side.samples:,}" for side in figures)),
    ]


def _compared(label: str, measurement: Measurement) -> Iterator[Row]:
    """Write what the ratios are of below the averages, where these give other ratios."""
    compared_ns = measurement.compared_ns
    if label == "Avg" and compared_ns:
        means = (compared_ns.get(side.name, ()) for side in measurement.sides)
        yield Row(COMPARED, tuple(", ".join(times(side_means)) for side_means in means))


def _known(value: float | None) -> float:
    return math.nan if value is None else value


def _cell(side: Side, text: Callable[[Side], str], baseline: str) -> str:
    """Write a cell of what is compared; `baseline` is the baseline's."""
    if side.comparison is not None:
        return text(side)
    return baseline if side.verdict == BASELINE else NOTHING


def _median_text(side: Side) -> str:
    return NOTHING if side.median_ratio is None else ratio(side.median_ratio)


def _ratio_text(side: Side) -> str:
    return NOTHING if side.comparison is None else ratio(side.comparison.ratio)


def _interval_text(side: Side) -> str:
    return NOTHING if side.comparison is None else ends_text(side.comparison.interval)


def _measure(measurement: Measurement) -> Iterator[Row]:
    shown = workloads.of(measurement.subject.workload).shown
    marks = sorted({*measurement.marks, *(m for side in measurement.sides for m in side.marks)})
    yield Row((measurement.subject.label, Marks(tuple(marks))))
    details: dict[str, list[str]] = {}
    for side in measurement.sides:
        figures = side.figures
        if figures is None:
            continue
        cells: tuple[Line, ...] = (
            digits(shown(figures.mean_ns)),
            digits(shown(figures.percentiles_ns[TAIL])),
            Words(_cell(side, _ratio_text, ratio(1)), side.verdict),
            _cell(side, _interval_text, NOTHING),
            Words(side.verdict, side.verdict),
        )
        yield Row(side.name, cells, level=1)
        if means_ns := measurement.compared_ns.get(side.name, ()):
            texts = ", ".join(digits(shown(mean_ns)) for mean_ns in means_ns)
            details.setdefault(COMPARED.lower(), []).append(f"{side.name} {texts}")
        for detail in figures.details:
            details.setdefault(detail.label, []).append(f"{side.name} {_detail_text(detail)}")
    for label, values in details.items():
        yield Row(Words(f"{label}: {', '.join(values)}", QUIET), level=1)


def _detail_text(detail: Detail) -> str:
    if detail.unit == "×":
        return ratio(detail.value)
    return f"{digits(detail.value)} {detail.unit}" if detail.unit else count(detail.value)
