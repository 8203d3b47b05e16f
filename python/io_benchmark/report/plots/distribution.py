# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The distribution of times per side: a line per worker, one axis for all sides."""

from collections.abc import Mapping, Sequence

import numpy as np
from markupsafe import Markup

from io_benchmark.analysis.model import Figures
from io_benchmark.analysis.report_model import SampleSeries
from io_benchmark.report.plots.choose import by_mean, typical
from io_benchmark.report.plots.scales import TIMES, Axis, Scale
from io_benchmark.report.plots.svg import TITLE_HEIGHT, Drawing, path
from io_benchmark.text import name

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
    """Draw a panel per side, each with its baseline's typical worker behind."""
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
    count = f"{len(workers):,} {'worker' if len(workers) == 1 else 'workers'}"
    if len(drawn) < len(workers):
        count = f"{len(drawn)} of {count}"
    drawing.name(top + 13, f"{name(side, 24)}, {count}")
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


def _curve(worker: SampleSeries, across: tuple[Scale, Axis], kind: str) -> Markup:
    scale, axis = across
    values = np.maximum(np.quantile(axis.values(worker.total_ns), _QUANTILES), scale.low)
    return path(scale.places(values), (1 - _QUANTILES) * _PANEL_HEIGHT, kind)


def _spread(workers: Sequence[SampleSeries], most: int) -> list[SampleSeries]:
    """Return at most this many workers, evenly from the fastest to the slowest."""
    ordered = by_mean(workers)
    if len(ordered) <= most:
        return ordered
    return [ordered[round(at * (len(ordered) - 1) / (most - 1))] for at in range(most)]
