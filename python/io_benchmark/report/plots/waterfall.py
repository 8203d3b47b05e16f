# SPDX-License-Identifier: MPL-2.0
"""A difference part by part: from the baseline's mean time to the candidate's."""

import itertools

from markupsafe import Markup

from io_benchmark.number_text import tick
from io_benchmark.report.content.part_rows import PartRow, PartRows
from io_benchmark.report.plots.scales import Scale
from io_benchmark.report.plots.svg import Drawing

_ROW_HEIGHT = 38
_LABEL_HEIGHT = 14
_BAR_TOP, _BAR_HEIGHT = 20, 12
_TICKS = 5
_SHAPE = "M0 -6L6 0L0 6L-6 0Z"


def draw(rows: PartRows, baseline: str, candidate: str, identifier: str) -> Markup:
    """Draw a row per part, between a row for each side."""
    steps, unit, whole = rows.shown, rows.scale, rows.whole
    differences_ns = (step.difference_ns for step in steps)
    reached_ns = [*itertools.accumulate(differences_ns, initial=whole.baseline_ns)]
    scale = Scale.around([*reached_ns, whole.candidate_ns], logarithmic=False, room=0.06)
    # A time is never negative.
    scale = Scale(max(scale.low, 0.0), scale.high)
    places = [scale.place(value) for value in reached_ns]
    start, end = (
        f"{unit.plain(value)} {unit.unit}" for value in (whole.baseline_ns, whole.candidate_ns)
    )
    texts = [rows.difference_text(step.difference_ns, step.percent) for step in steps]
    described = (
        f"{step.name} {text}{'' if step.is_certain else ', not certain'}"
        for step, text in zip(steps, texts, strict=True)
    )
    description = "; ".join([f"{baseline} {start}", *described, f"{candidate} {end}"])
    title = f"From {baseline} to {candidate}, part by part"
    drawing = Drawing(identifier, title, description, gutter=False)
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
    _draw_end(drawing, baseline, start, places[0], 0.0)
    for at, (step, text) in enumerate(zip(steps, texts, strict=True)):
        ends = (places[at], places[at + 1])
        _draw_step(drawing, step, text, ends, float(_ROW_HEIGHT * (at + 1)))
    _draw_end(drawing, candidate, end, scale.place(whole.candidate_ns), bottom - _ROW_HEIGHT)
    return drawing.markup()


def _draw_end(drawing: Drawing, side: str, mean: str, place: float, top: float) -> None:
    drawing.text(0, top + _LABEL_HEIGHT, side, "name", "start")
    drawing.text(1, top + _LABEL_HEIGHT, mean, "name", "end")
    drawing.mark(place, top + _BAR_TOP + _BAR_HEIGHT / 2, _SHAPE, "end")


def _draw_step(
    drawing: Drawing, step: PartRow, text: str, places: tuple[float, float], top: float
) -> None:
    """Draw a bar, filled where the part is certain."""
    kind = "slower" if step.difference_ns > 0 else "faster"
    filled = kind if step.is_certain else f"{kind} open"
    drawing.band(min(places), max(places), top + _BAR_TOP, _BAR_HEIGHT, f"step {filled}")
    drawing.text(0, top + _LABEL_HEIGHT, step.name, anchor="start")
    drawing.text(1, top + _LABEL_HEIGHT, text, anchor="end")
