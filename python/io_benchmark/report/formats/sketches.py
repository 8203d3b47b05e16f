# SPDX-License-Identifier: MPL-2.0
"""Small lines over time inside of text, with a mark at each change."""

from markupsafe import Markup

from io_benchmark.report.blocks import Sketch

_WIDTH, _HEIGHT, _EDGE = 120, 24, 2
_SKETCH = Markup(
    '<svg class="sketch" width="{0}" height="{1}" viewBox="0 0 {0} {1}" role="img" '
    'aria-label="{2}"><title>{2}</title>{3}</svg>'
)


def sketch(drawn: Sketch) -> Markup:
    def place(part: float) -> str:
        return f"{_EDGE + part * (_WIDTH - 2 * _EDGE):.4g}"

    def height(part: float) -> str:
        return f"{_EDGE + (1 - part) * (_HEIGHT - 2 * _EDGE):.4g}"

    marks = Markup().join(
        Markup('<path class="change" d="M{} 0V{}"/>').format(place(change), _HEIGHT)
        for change in drawn.changes
    )
    spots = [f"{place(part)} {height(value)}" for part, value in drawn.spots]
    # A single spot is a stroke without a length, of which the caps are visible.
    line = "M" + "L".join(spots) + ("" if len(spots) > 1 else "h0")
    if spots:
        marks += Markup('<path class="curve" d="{}"/>').format(line)
    return _SKETCH.format(_WIDTH, _HEIGHT, drawn.label, marks)
