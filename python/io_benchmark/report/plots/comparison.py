# SPDX-License-Identifier: MPL-2.0
"""The pictures of a comparison: ratios with their intervals, and distributions."""

from collections.abc import Sequence
from statistics import fmean

from markupsafe import Markup

from io_benchmark.analysis.model import Comparison, Verdict
from io_benchmark.analysis.report_model import SampleSeries, SubjectReport
from io_benchmark.number_text import (
    digits,
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
