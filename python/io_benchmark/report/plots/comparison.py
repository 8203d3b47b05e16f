# SPDX-License-Identifier: MPL-2.0
"""The pictures of a comparison: ratios with their intervals, distributions, and rates over time."""

import math
from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import NamedTuple

from markupsafe import Markup

from io_benchmark.analysis.model import Comparison, Verdict
from io_benchmark.analysis.report_model import RateTimeline, SampleSeries, SubjectReport
from io_benchmark.analysis.statements import MIB
from io_benchmark.number_text import (
    compact,
    digits,
    duration_unit,
    interval,
    number_of,
    ratio,
    tick,
)
from io_benchmark.report.content.subject_text import grouped
from io_benchmark.report.plots.drawing import Drawing, Scale, path
from io_benchmark.results import workloads
from io_benchmark.results.workload import Workload
from io_benchmark.text import name

# Ratios: a row is a name above its interval. The picture ends at the widest ratio, also where an
# interval does not.
_ROW_HEIGHT, _WIDEST = 46, 20.0
_SHAPES = {
    Verdict.SLOWER: "M-5 4.5L5 4.5L0 -5Z",
    Verdict.FASTER: "M-5 -4.5L5 -4.5L0 5Z",
    Verdict.EQUIVALENT: "M-5 0L0 -5L5 0L0 5Z",
    Verdict.INCONCLUSIVE: "M-4.5 -4.5H4.5V4.5H-4.5Z",
}
# Distributions: this many sides can be distinguished in one panel.
_SIDES_OF_PANEL, _WORKERS_DRAWN = 4, 6
_PANEL_HEIGHT, _LEGEND_HEIGHT, _GAP = 190.0, 19.0, 14.0
# Extreme samples would take most of the axis.
_PARTS = [0.002 + 0.996 * number / 80 for number in range(81)]
_LEVELS = ((0.0, "0 %"), (0.5, "50 %"), (1.0, "100 %"))
# Rates: more values than this in one panel are averaged.
_VALUES_DRAWN = 160
_RATE_HEIGHT, _RATE_NAME_HEIGHT, _RATE_GAP = 54.0, 26.0, 8.0


def forest(comparisons: Sequence[Comparison], names: Sequence[str], margin_ratio: float) -> Markup:
    """Draw a row per comparison: its name and verdict above its ratio and interval."""
    margin = (1 - margin_ratio, 1 + margin_ratio)
    ends = [
        end
        for comparison in comparisons
        for end in (comparison.ratio, comparison.interval.low_ratio, comparison.interval.high_ratio)
        if 1 / _WIDEST <= end <= _WIDEST
    ]
    scale = Scale.around([*ends, 1.0, *margin, 0.9, 1.1], logarithmic=True)
    rows = [
        f"{title}: {ratio(comparison.ratio)}, "
        f"{interval(comparison.interval.low_ratio, comparison.interval.high_ratio)}, "
        f"{comparison.verdict}"
        for title, comparison in zip(names, comparisons, strict=True)
    ]
    drawing = Drawing(f"Ratios to the baseline with their intervals: {'; '.join(rows)}")
    bottom = float(_ROW_HEIGHT * len(comparisons) + 4)
    drawing.band(scale.place(margin[0]), scale.place(margin[1]), bottom, "margin")
    ticks = [(scale.place(value), f"{tick(value)}×") for value in scale.ticks(5)]
    drawing.panel(0, bottom, ticks)
    drawing.axis(ticks, bottom)
    drawing.line((scale.place(1), 0), (scale.place(1), bottom), "one")
    for number, (title, comparison) in enumerate(zip(names, comparisons, strict=True)):
        _ratio(drawing, title, comparison, scale, float(_ROW_HEIGHT * number))
    return drawing.markup()


def _ratio(drawing: Drawing, title: str, comparison: Comparison, scale: Scale, top: float) -> None:
    kind = comparison.verdict.value
    drawing.text((0, top + 16), title, "name")
    drawing.text((1, top + 16), f"{kind} {ratio(comparison.ratio)}", f"verdict {kind}")
    middle = top + 31
    outer, inner = comparison.interval, comparison.interval_90
    for bounds, width in ((outer, "interval"), (inner, "interval inner")):
        low, high = (scale.place(end) for end in (bounds.low_ratio, bounds.high_ratio))
        drawing.line((low, middle), (high, middle), f"{width} {kind}")
    for place in (scale.place(outer.low_ratio), scale.place(outer.high_ratio)):
        if 0 < place < 1:
            drawing.line((place, middle - 4), (place, middle + 4), f"interval {kind}")
    drawing.mark((scale.place(comparison.ratio), middle), _SHAPES[comparison.verdict], kind)


def distribution(part: SubjectReport, series: Sequence[SampleSeries]) -> Markup:
    """Draw the share of samples up to a value, a line per worker; of many sides a few share a panel."""
    workload = workloads.of(part.subject.workload)
    workers = grouped(series, lambda worker: worker.side)
    curves = {
        side: [_quantiles(worker, workload) for worker in _spread(same)]
        for side, same in workers.items()
    }
    ends = [values[end] for same in curves.values() for values in same for end in (0, -1)]
    scale = Scale.around(ends, logarithmic=True)
    ticks = [(scale.place(value), f"{tick(value)} {workload.unit}") for value in scale.ticks(6)]
    means = {side: workload.shown(part.figures[side].mean_ns) for side in workers}
    labels = {}
    for side, mean in means.items():
        drawn, count = len(curves[side]), number_of(len(workers[side]), "worker")
        some = f"{drawn} of " if drawn < len(workers[side]) else ""
        labels[side] = f"{name(side, 24)}, {some}{count}, mean {digits(mean)} {workload.unit}"
    title = "Share of retrieves that took at most a given time"
    if workload.higher_is_better:
        title = "Share of samples with at most a given rate"
    drawing = Drawing(f"{title}: {'; '.join(labels.values())}")
    top = 0.0
    for panel in _panels(list(workers)):
        plot = top + len(panel) * _LEGEND_HEIGHT + _GAP
        paths = []
        for number, side in enumerate(panel):
            kind, middle = f"side-{number}", top + number * _LEGEND_HEIGHT + 9
            drawing.line((0, middle), (0.06, middle), f"curve {kind}")
            drawing.text((0.08, middle + 4), labels[side], anchor="start")
            place = scale.place(means[side])
            drawing.line((place, plot), (place, plot + _PANEL_HEIGHT), f"average {kind}")
            for values in curves[side]:
                heights = ((1 - part) * _PANEL_HEIGHT for part in _PARTS)
                spots = [*zip(map(scale.place, values), heights, strict=True)]
                paths.append(path(spots, f"curve {kind}"))
        drawing.panel(plot, _PANEL_HEIGHT, ticks, _LEVELS, paths)
        top = plot + _PANEL_HEIGHT + _GAP
    drawing.axis(ticks, top - _GAP)
    return drawing.markup()


def _panels(sides: Sequence[str]) -> list[Sequence[str]]:
    """Return the sides of each panel: the first one, which others are compared with, is in all."""
    if len(sides) <= _SIDES_OF_PANEL:
        return [sides]
    step = _SIDES_OF_PANEL - 1
    return [(sides[0], *sides[start : start + step]) for start in range(1, len(sides), step)]


def _spread(workers: Sequence[SampleSeries]) -> list[SampleSeries]:
    """Return a few workers, evenly from the fastest to the slowest."""
    ordered = sorted(workers, key=lambda worker: (fmean(worker.total_ns), worker.worker))
    most = min(_WORKERS_DRAWN, len(ordered))
    return [
        ordered[round(number * (len(ordered) - 1) / max(most - 1, 1))] for number in range(most)
    ]


def _quantiles(worker: SampleSeries, workload: Workload) -> list[float]:
    """Return the worker's figure in the workload's unit at each of the parts."""
    values = sorted(workload.shown(max(total_ns, 1)) for total_ns in worker.total_ns)
    return [values[round(part * (len(values) - 1))] for part in _PARTS]


class _Rate(NamedTuple):
    title: str
    kind: str
    unit: str
    column: str  # of a `RateTimeline`
    factor: float  # from the column's unit to that of the label


_RATES = (
    _Rate("Written to the device, MiB/s", "written", "MiB/s", "written_bytes_per_s", 1 / MIB),
    _Rate("Dirty in memory, MiB", "dirty", "MiB", "dirty_bytes", 1 / MIB),
    _Rate("Time that tasks waited for I/O, %", "pressure", "%", "pressure_io_ratio", 100),
)


def timeline(timelines: Sequence[RateTimeline]) -> Markup:
    """Draw a picture per rate, with the sides below each other, and one clock for all."""
    clock = Scale.from_zero(time_s for line in timelines for time_s in line.time_s)
    figure = Markup("<figure>\n<figcaption><strong>{}</strong></figcaption>\n{}\n</figure>\n")
    pictures = (figure.format(rate.title, _rate(rate, timelines, clock)) for rate in _RATES)
    return Markup('<div class="timelines">\n{}</div>').format(Markup().join(pictures))


def _rate(rate: _Rate, timelines: Sequence[RateTimeline], clock: Scale) -> Markup:
    curves = {line.side: [*_averaged(line, rate)] for line in timelines}
    highest = {
        side: max((value for _, value in curve), default=0.0) for side, curve in curves.items()
    }
    scale = Scale.from_zero(highest.values())
    rows = (
        f"{name(side)}: at most {compact(value)} {rate.unit}" for side, value in highest.items()
    )
    drawing = Drawing(f"{rate.title}: {'; '.join(rows)}")
    unit_s, unit = duration_unit(clock.high)
    ticks = [
        (clock.place(value * unit_s), f"{tick(value)} {unit}")
        for value in Scale(0.0, clock.high / unit_s).ticks(4)
    ]
    levels = [(scale.place(value), tick(value)) for value in scale.ticks(3)]
    top = 0.0
    for side, curve in curves.items():
        drawing.text((0, top + 13), name(side, 28), "name")
        plot = top + _RATE_NAME_HEIGHT
        spots = [
            (clock.place(time_s), (1 - scale.place(value)) * _RATE_HEIGHT)
            for time_s, value in curve
        ]
        area = path(spots, f"area {rate.kind}", close_at=_RATE_HEIGHT)
        drawing.panel(plot, _RATE_HEIGHT, ticks, levels, (area, path(spots, f"line {rate.kind}")))
        top = plot + _RATE_HEIGHT + _RATE_GAP
    drawing.axis(ticks, top - _RATE_GAP)
    return drawing.markup()


def _averaged(line: RateTimeline, rate: _Rate) -> Iterator[tuple[float, float]]:
    """Yield times and values; average neighbors where there are more than are drawn."""
    pairs = [
        (time_s, value * rate.factor)
        for time_s, value in zip(line.time_s, getattr(line, rate.column), strict=True)
        if math.isfinite(value)
    ]
    step = -(-len(pairs) // _VALUES_DRAWN) or 1
    for start in range(0, len(pairs), step):
        times_s, values = zip(*pairs[start : start + step], strict=True)
        yield fmean(times_s), fmean(values)
