# SPDX-License-Identifier: MPL-2.0
"""Rates during a run: written, dirty, waiting for I/O. A panel per side, one clock for all."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from io_benchmark.analysis.report_model import RateTimeline
from io_benchmark.analysis.statements import MIB
from io_benchmark.number_text import compact, tick
from io_benchmark.report.plots.choose import SIDES_DRAWN
from io_benchmark.report.plots.scales import Scale
from io_benchmark.report.plots.svg import TITLE_HEIGHT, Drawing, path
from io_benchmark.text import name

_PANEL_HEIGHT = 54.0
_PANEL_GAP = 8.0
# More values than this in one panel are averaged.
_VALUES_DRAWN = 160
_CLOCK_TICKS = 4
_LEVELS = 3


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
_FIGURE = Markup("<figure>\n<figcaption><strong>{}</strong></figcaption>\n{}\n</figure>\n")


def draw(timelines: Sequence[RateTimeline], sides: Sequence[str], identifier: str) -> Markup:
    """Draw a picture per rate, with the sides below each other."""
    by_side = {timeline.side: timeline for timeline in timelines if timeline.time_s}
    chosen = [by_side[side] for side in sides if side in by_side][:SIDES_DRAWN]
    clock = Scale.from_zero(max(line.time_s) for line in chosen)
    pictures = (
        _FIGURE.format(rate.title, _draw(rate, chosen, clock, f"{identifier}-{rate.kind}"))
        for rate in _RATES
    )
    return Markup('<div class="timelines">\n{}</div>').format(Markup().join(pictures))


def _draw(rate: _Rate, timelines: Sequence[RateTimeline], clock: Scale, identifier: str) -> Markup:
    shown = [_averaged(line.time_s, getattr(line, rate.column), rate.factor) for line in timelines]
    scale = Scale.from_zero(float(value) for _, values in shown for value in values)
    description = "; ".join(
        f"{name(line.side)}: at most {compact(float(np.nanmax(values, initial=0)))} {rate.unit}"
        for line, (_, values) in zip(timelines, shown, strict=True)
    )
    drawing = Drawing(identifier, rate.title, description)
    ticks = clock.clock_ticks(_CLOCK_TICKS)
    levels = [(scale.place(value), tick(value)) for value in scale.ticks(_LEVELS)]
    top = 0.0
    for line, (times_s, values) in zip(timelines, shown, strict=True):
        drawing.name(top + 13, name(line.side, 28))
        plot = top + TITLE_HEIGHT
        drawing.grid((place for place, _ in ticks), levels, plot, _PANEL_HEIGHT)
        across, down = clock.places(times_s), (1 - scale.places(values)) * _PANEL_HEIGHT
        drawing.frame(
            plot,
            _PANEL_HEIGHT,
            [
                path(across, down, f"area {rate.kind}", close_at=_PANEL_HEIGHT),
                path(across, down, f"line {rate.kind}"),
            ],
        )
        top = plot + _PANEL_HEIGHT + _PANEL_GAP
    bottom = top - _PANEL_GAP
    drawing.axis(ticks, bottom)
    return drawing.markup()


def _averaged(
    times_s: Sequence[float], values: Sequence[float], factor: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Average neighbors where there are more values than are drawn."""
    time = np.asarray(times_s, dtype=np.float64)
    value = np.asarray(values, dtype=np.float64) * factor
    known = np.isfinite(time) & np.isfinite(value)
    time, value = time[known], value[known]
    step = -(-len(time) // _VALUES_DRAWN)
    if step <= 1:
        return time, value
    starts = np.arange(0, len(time), step)
    counts = np.diff(np.append(starts, len(time)))
    return np.add.reduceat(time, starts) / counts, np.add.reduceat(value, starts) / counts
