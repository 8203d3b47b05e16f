# SPDX-License-Identifier: MPL-2.0
"""The distribution of times: a line per worker, few sides in one panel, many in a panel each."""

from collections.abc import Mapping, Sequence

import numpy as np
from markupsafe import Markup

from io_benchmark.analysis.model import Figures
from io_benchmark.analysis.report_model import SampleSeries, SubjectReport
from io_benchmark.report.plots.choose import by_mean, by_side
from io_benchmark.report.plots.scales import Axis, Scale, axis_of
from io_benchmark.report.plots.svg import Drawing, path
from io_benchmark.text import name

# This many sides can be distinguished in one panel.
_TOGETHER = 4
_HEIGHT, _LEGEND_HEIGHT = 190.0, 19.0
_PANEL_GAP = 14.0
_WORKERS_DRAWN = 6
_QUANTILES = np.linspace(0, 1, 81)
# The axis leaves out the extreme samples, which would take most of its length.
_AXIS_QUANTILES = (0.002, 0.998)
_TICKS = 6
_TITLE_OF_TIMES = "Share of retrieves that took at most a given time"
_TITLE_OF_RATES = "Share of samples with at most a given rate"
_LEVELS = ((0.0, "0 %"), (0.5, "50 %"), (1.0, "100 %"))


def draw(part: SubjectReport, series: Sequence[SampleSeries], identifier: str) -> Markup:
    """Draw a line per worker; of many sides a few share a panel."""
    sides, axis, figures = by_side(series, part), axis_of(part.subject), part.figures
    scale = _scale(sides, axis)
    ticks = scale.ticks(_TICKS)
    places = [scale.place(tick) for tick in ticks]
    means = [
        f"{name(side)}: mean {axis.text(figures[side].mean_ns)}"
        for side in sides
        if side in figures
    ]
    title = _TITLE_OF_RATES if axis.rate else _TITLE_OF_TIMES
    drawing = Drawing(identifier, title, "; ".join(means))
    bottom = -_PANEL_GAP
    for panel in _panels(list(sides)):
        workers = {side: sides[side] for side in panel}
        bottom = _draw_panel(drawing, workers, figures, (scale, axis), places, bottom + _PANEL_GAP)
    drawing.axis(zip(places, map(axis.tick, ticks), strict=True), bottom)
    return drawing.markup()


def _panels(sides: Sequence[str]) -> list[Sequence[str]]:
    """Return the sides of each panel: the first one, which others are compared with, is in all."""
    if len(sides) <= _TOGETHER:
        return [sides]
    others = _TOGETHER - 1
    return [(sides[0], *sides[start : start + others]) for start in range(1, len(sides), others)]


def _scale(sides: Mapping[str, Sequence[SampleSeries]], axis: Axis) -> Scale:
    ends = [
        max(float(end), 1.0)
        for workers in sides.values()
        for worker in _spread(workers, _WORKERS_DRAWN)
        for end in np.quantile(axis.values(worker.total_ns), _AXIS_QUANTILES)
    ]
    return Scale.around(ends, logarithmic=True, room=0.03)


def _draw_panel(
    drawing: Drawing,
    sides: Mapping[str, Sequence[SampleSeries]],
    figures: Mapping[str, Figures],
    across: tuple[Scale, Axis],
    ticks: Sequence[float],
    top: float,
) -> float:
    """Draw sides in one panel below their names, and return where it ends."""
    scale, axis = across
    plot = top + len(sides) * _LEGEND_HEIGHT + _PANEL_GAP
    drawing.grid(ticks, _LEVELS, plot, _HEIGHT)
    paths = []
    for number, (side, workers) in enumerate(sides.items()):
        drawn = _spread(workers, _WORKERS_DRAWN)
        paths += [_curve(worker, across, f"curve side-{number}") for worker in drawn]
        label = f"{name(side, 24)}, {_count(drawn, workers)}"
        if side in figures:
            mean_ns = figures[side].mean_ns
            place = scale.place(axis.place(mean_ns))
            drawing.line((place, plot), (place, plot + _HEIGHT), f"average side-{number}")
            label += f", mean {axis.text(mean_ns)}"
        middle = top + number * _LEGEND_HEIGHT + 9
        drawing.line((0, middle), (0.06, middle), f"curve side-{number}")
        drawing.text(0.08, middle + 4, label, "t", "start")
    drawing.frame(plot, _HEIGHT, paths)
    return plot + _HEIGHT


def _count(drawn: Sequence[SampleSeries], workers: Sequence[SampleSeries]) -> str:
    """Return '3 workers' or '6 of 334 workers'."""
    count = f"{len(workers):,} {'worker' if len(workers) == 1 else 'workers'}"
    return f"{len(drawn)} of {count}" if len(drawn) < len(workers) else count


def _curve(worker: SampleSeries, across: tuple[Scale, Axis], kind: str) -> Markup:
    scale, axis = across
    values = np.maximum(np.quantile(axis.values(worker.total_ns), _QUANTILES), scale.low)
    return path(scale.places(values), (1 - _QUANTILES) * _HEIGHT, kind)


def _spread(workers: Sequence[SampleSeries], most: int) -> list[SampleSeries]:
    """Return at most this many workers, evenly from the fastest to the slowest."""
    ordered = by_mean(workers)
    if len(ordered) <= most:
        return ordered
    return [ordered[round(at * (len(ordered) - 1) / (most - 1))] for at in range(most)]
