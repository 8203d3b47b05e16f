# SPDX-License-Identifier: MPL-2.0
"""Ratios and their intervals, with the margin and the line at 1."""

import math
from collections.abc import Sequence

from markupsafe import Markup

from io_benchmark.analysis.model import Comparison, Verdict
from io_benchmark.number_text import interval, ratio, tick
from io_benchmark.report.plots.scales import Scale
from io_benchmark.report.plots.svg import Drawing

_ROW_HEIGHT = 46
_LABEL_HEIGHT = 16
_TICKS = 5
# The picture ends here, also where an interval does not.
_WIDEST = 20.0
_SHAPES = {
    Verdict.SLOWER: "M-5 4.5L5 4.5L0 -5Z",
    Verdict.FASTER: "M-5 -4.5L5 -4.5L0 5Z",
    Verdict.EQUIVALENT: "M-5 0L0 -5L5 0L0 5Z",
    Verdict.INCONCLUSIVE: "M-4.5 -4.5H4.5V4.5H-4.5Z",
}


def draw(
    comparisons: Sequence[Comparison], names: Sequence[str], margin_ratio: float, identifier: str
) -> Markup:
    """Draw a row per comparison, under its name."""
    margin = (1 - margin_ratio, 1 + margin_ratio)
    scale = _scale(comparisons, margin)
    descriptions = (
        f"{names[at]}: {ratio(comparison.ratio)}, "
        f"{interval(comparison.interval.low_ratio, comparison.interval.high_ratio)}, {comparison.verdict}"
        for at, comparison in enumerate(comparisons)
    )
    drawing = Drawing(
        identifier,
        "Ratios to the baseline with their intervals",
        "; ".join(descriptions),
        gutter=False,
    )
    bottom = float(_ROW_HEIGHT * len(comparisons))
    drawing.band(scale.place(margin[0]), scale.place(margin[1]), 0, bottom, "margin")
    ticks = [(scale.place(value), f"{tick(value)}×") for value in scale.ticks(_TICKS)]
    drawing.grid((place for place, _ in ticks), (), 0, bottom + 4)
    drawing.axis(ticks, bottom + 4)
    equal = scale.place(1)
    drawing.line((equal, 0), (equal, bottom + 4), "one")
    for at, comparison in enumerate(comparisons):
        _draw_row(drawing, comparison, names[at], scale, float(_ROW_HEIGHT * at))
    return drawing.markup()


def _scale(comparisons: Sequence[Comparison], margin: tuple[float, float]) -> Scale:
    ends = [
        end
        for comparison in comparisons
        for end in (comparison.ratio, comparison.interval.low_ratio, comparison.interval.high_ratio)
        if math.isfinite(end) and 1 / _WIDEST <= end <= _WIDEST
    ]
    return Scale.around([*ends, 1.0, *margin, 0.9, 1.1], logarithmic=True, room=0.06)


def _draw_row(
    drawing: Drawing, comparison: Comparison, title: str, scale: Scale, top: float
) -> None:
    kind = comparison.verdict.value
    text = top + _LABEL_HEIGHT
    drawing.text(0, text, title, "name", "start")
    drawing.text(1, text, f"{kind} {ratio(comparison.ratio)}", f"verdict {kind}", "end")
    middle = top + 31
    outer, inner = comparison.interval, comparison.interval_90
    for bounds, width in ((outer, "interval"), (inner, "interval inner")):
        low, high = (scale.place(end) for end in (bounds.low_ratio, bounds.high_ratio))
        drawing.line((low, middle), (high, middle), f"{width} {kind}")
    for end in (outer.low_ratio, outer.high_ratio):
        if scale.low <= end <= scale.high:
            place = scale.place(end)
            drawing.line((place, middle - 4), (place, middle + 4), f"interval {kind}")
    drawing.mark(scale.place(comparison.ratio), middle, _SHAPES[comparison.verdict], kind)
