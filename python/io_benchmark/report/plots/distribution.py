# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The distribution of times: a line per worker, few sides in one panel, many in a panel each."""

from collections.abc import Mapping, Sequence

import numpy as np
from markupsafe import Markup

from io_benchmark.analysis.model import Figures
from io_benchmark.analysis.report_model import SampleSeries
from io_benchmark.report.plots.choose import by_mean, typical
from io_benchmark.report.plots.scales import TIMES, Axis, Scale
from io_benchmark.report.plots.svg import TITLE_HEIGHT, Drawing, path
from io_benchmark.text import name

# This many sides can be distinguished in one panel.
TOGETHER = 4
_SHARED_HEIGHT, _LEGEND_HEIGHT = 190.0, 19.0
_PANEL_HEIGHT = 92.0
_PANEL_GAP = 14.0
_WORKERS_DRAWN = 6
_QUANTILES = np.linspace(0, 1, 81)
# The axis leaves out the extreme samples, which would take most of its length.
_AXIS_QUANTILES = (0.002, 0.998)
_TICKS = 6
_TITLE_OF_TIMES = "Share of retrieves that took at most a given time"
_TITLE_OF_RATES = "Share of samples with at most a given rate"
_LEVELS = ((0.0, "0 %"), (0.5, "50 %"), (1.0, "100 %"))


def draw(
    sides: Mapping[str, Sequence[SampleSeries]],
    figures: Mapping[str, Figures],
    baselines: Mapping[str, str],
    identifier: str,
    axis: Axis = TIMES,
) -> Markup:
    """Draw few sides in one panel, else a panel per side with its baseline's typical worker behind."""
    scale = _scale(sides, axis)
    ticks = scale.ticks(_TICKS)
    places = [scale.place(tick) for tick in ticks]
    description = "; ".join(
        f"{name(side)}: mean {axis.text(figures[side].mean_ns)}"
        for side in sides
        if side in figures
    )
    drawing = Drawing(identifier, _TITLE_OF_RATES if axis.rate else _TITLE_OF_TIMES, description)
    top = 0.0
    if len(sides) <= TOGETHER:
        top = _draw_together(drawing, sides, figures, (scale, axis), places) + _PANEL_GAP
        sides = {}
    for side, workers in sides.items():
        behind = sides.get(baselines.get(side, side), ())
        drawing.grid(places, _LEVELS, top + TITLE_HEIGHT, _PANEL_HEIGHT)
        _draw_panel(
            drawing,
            side,
            workers,
            None if behind is workers or not behind else typical(behind),
            figures.get(side),
            (scale, axis),
            top,
        )
        top += TITLE_HEIGHT + _PANEL_HEIGHT + _PANEL_GAP
    bottom = top - _PANEL_GAP
    drawing.axis(zip(places, map(axis.tick, ticks), strict=True), bottom)
    return drawing.markup()


def _scale(sides: Mapping[str, Sequence[SampleSeries]], axis: Axis) -> Scale:
    ends = [
        max(float(end), 1.0)
        for workers in sides.values()
        for worker in _spread(workers, _WORKERS_DRAWN)
        for end in np.quantile(axis.values(worker.total_ns), _AXIS_QUANTILES)
    ]
    return Scale.around(ends, logarithmic=True, room=0.03)


def _draw_together(
    drawing: Drawing,
    sides: Mapping[str, Sequence[SampleSeries]],
    figures: Mapping[str, Figures],
    across: tuple[Scale, Axis],
    ticks: Sequence[float],
) -> float:
    """Draw all sides in one panel below their names, and return where it ends."""
    scale, axis = across
    plot = len(sides) * _LEGEND_HEIGHT + _PANEL_GAP
    drawing.grid(ticks, _LEVELS, plot, _SHARED_HEIGHT)
    paths = []
    for at, (side, workers) in enumerate(sides.items()):
        drawn = _spread(workers, _WORKERS_DRAWN)
        paths += [_curve(worker, across, f"curve side-{at}", _SHARED_HEIGHT) for worker in drawn]
        label = f"{name(side, 24)}, {_count(drawn, workers)}"
        if side in figures:
            mean_ns = figures[side].mean_ns
            place = scale.place(axis.place(mean_ns))
            drawing.line((place, plot), (place, plot + _SHARED_HEIGHT), f"average side-{at}")
            label += f", mean {axis.text(mean_ns)}"
        middle = at * _LEGEND_HEIGHT + 9
        drawing.line((0, middle), (0.06, middle), f"curve side-{at}")
        drawing.text(0.08, middle + 4, label, "t", "start")
    drawing.frame(plot, _SHARED_HEIGHT, paths)
    return plot + _SHARED_HEIGHT


def _count(drawn: Sequence[SampleSeries], workers: Sequence[SampleSeries]) -> str:
    """Return '3 workers' or '6 of 334 workers'."""
    count = f"{len(workers):,} {'worker' if len(workers) == 1 else 'workers'}"
    return f"{len(drawn)} of {count}" if len(drawn) < len(workers) else count


def _draw_panel(
    drawing: Drawing,
    side: str,
    workers: Sequence[SampleSeries],
    behind: SampleSeries | None,
    figures: Figures | None,
    across: tuple[Scale, Axis],
    top: float,
) -> None:
    drawn = _spread(workers, _WORKERS_DRAWN)
    drawing.name(top + 13, f"{name(side, 24)}, {_count(drawn, workers)}")
    plot = top + TITLE_HEIGHT
    scale, axis = across
    paths = [] if behind is None else [_curve(behind, across, "curve behind")]
    paths += [_curve(worker, across, "curve") for worker in drawn]
    drawing.frame(plot, _PANEL_HEIGHT, paths)
    if figures is not None:
        place = scale.place(axis.place(figures.mean_ns))
        drawing.line((place, plot), (place, plot + _PANEL_HEIGHT), "average")
        label = f"mean {axis.text(figures.mean_ns)}"
        drawing.text(place, plot - 4, label, "tick", "end" if place > 0.5 else "start")


def _curve(
    worker: SampleSeries, across: tuple[Scale, Axis], kind: str, height: float = _PANEL_HEIGHT
) -> Markup:
    scale, axis = across
    values = np.maximum(np.quantile(axis.values(worker.total_ns), _QUANTILES), scale.low)
    return path(scale.places(values), (1 - _QUANTILES) * height, kind)


def _spread(workers: Sequence[SampleSeries], most: int) -> list[SampleSeries]:
    """Return at most this many workers, evenly from the fastest to the slowest."""
    ordered = by_mean(workers)
    if len(ordered) <= most:
        return ordered
    return [ordered[round(at * (len(ordered) - 1) / (most - 1))] for at in range(most)]
