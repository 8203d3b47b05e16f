# SPDX-License-Identifier: MPL-2.0
"""A difference part by part: from the baseline's mean time to the candidate's."""

import itertools
from collections.abc import Sequence

from markupsafe import Markup

from io_benchmark.number_text import TimeScale, tick
from io_benchmark.report.content.part_rows import PartRow, PartRows
from io_benchmark.report.plots.scales import Scale
from io_benchmark.report.plots.svg import Drawing

_ROW_HEIGHT = 38
_LABEL_HEIGHT = 14
_BAR_TOP, _BAR_HEIGHT = 20, 12
_TICKS = 5
_SHAPE = "M0 -6L6 0L0 6L-6 0Z"
_End = tuple[str, float]  # a side where the steps begin or end, and its mean in nanoseconds


def draw(rows: PartRows, baseline: str, candidate: str, identifier: str) -> Markup:
    """Draw a row per part, between a row for each side."""
    start = (baseline, rows.whole.baseline_ns)
    end = (candidate, rows.whole.candidate_ns)
    steps, unit = rows.shown, rows.scale
    reached_ns = [*itertools.accumulate((step.difference_ns for step in steps), initial=start[1])]
    scale = _scale([*reached_ns, end[1]])
    places = [scale.place(value) for value in reached_ns]
    described = (
        f"{step.name} {_text(rows, step)}{'' if step.is_certain else ', not certain'}"
        for step in steps
    )
    drawing = Drawing(
        identifier,
        f"From {baseline} to {candidate}, part by part",
        "; ".join([_end_text(start, unit), *described, _end_text(end, unit)]),
        gutter=False,
    )
    bottom = float(_ROW_HEIGHT * (len(steps) + 2))
    ticks = [
        (scale.place(value), f"{tick(round(value / unit.unit_ns, 9))} {unit.unit}")
        for value in scale.ticks(_TICKS)
    ]
    drawing.grid((place for place, _ in ticks), (), 0, bottom + 4)
    drawing.axis(ticks, bottom + 4)
    for at, place in enumerate(places):
        bar = float(_ROW_HEIGHT * at + _BAR_TOP)
        drawing.line((place, bar), (place, bar + _ROW_HEIGHT + _BAR_HEIGHT), "lead")
    _draw_end(drawing, start, unit, places[0], 0.0)
    for at, step in enumerate(steps):
        _draw_step(drawing, rows, step, (places[at], places[at + 1]), float(_ROW_HEIGHT * (at + 1)))
    _draw_end(drawing, end, unit, scale.place(end[1]), bottom - _ROW_HEIGHT)
    return drawing.markup()


def _text(rows: PartRows, step: PartRow) -> str:
    return rows.difference_text(step.difference_ns, step.percent)


def _scale(values_ns: Sequence[float]) -> Scale:
    """Return a scale around the values; a time is never negative."""
    around = Scale.around(values_ns, logarithmic=False, room=0.06)
    return Scale(max(around.low, 0.0), around.high)


def _end_text(end: _End, unit: TimeScale) -> str:
    return f"{end[0]} {unit.plain(end[1])} {unit.unit}"


def _draw_end(drawing: Drawing, end: _End, unit: TimeScale, place: float, top: float) -> None:
    text = top + _LABEL_HEIGHT
    drawing.text(0, text, end[0], "name", "start")
    drawing.text(1, text, f"{unit.plain(end[1])} {unit.unit}", "name", "end")
    drawing.mark(place, top + _BAR_TOP + _BAR_HEIGHT / 2, _SHAPE, "end")


def _draw_step(
    drawing: Drawing, rows: PartRows, step: PartRow, places: tuple[float, float], top: float
) -> None:
    """Draw a bar, filled where the part is certain."""
    kind = "slower" if step.difference_ns > 0 else "faster"
    filled = kind if step.is_certain else f"{kind} open"
    drawing.band(min(places), max(places), top + _BAR_TOP, _BAR_HEIGHT, f"step {filled}")
    drawing.text(0, top + _LABEL_HEIGHT, step.name, anchor="start")
    drawing.text(1, top + _LABEL_HEIGHT, _text(rows, step), anchor="end")
