# SPDX-License-Identifier: MPL-2.0
"""The picture of phases: a bar per run, whose parts are as long as what they stand for.

It has the look of the picture of pools. A part's color says what it waits for; names and times
are in its title, and in the table below the picture.
"""

from collections.abc import Sequence

from markupsafe import Markup

from io_benchmark.report.drawn import BarRow
from io_benchmark.report.formats.drawing import Drawing, Scale

_HEIGHT, _BAR_HEIGHT = 34.0, 18.0
_ROW = Markup("""\
<li><span class="pool"><span class="name">{name}</span> <span class="pair">{detail}</span></span>
<span class="outcome">{outcome}</span>
{lane}</li>
""")
_BARS = Markup("""\
<div class="strip">
<ul aria-label="{label}">
{rows}</ul>
<div class="axis">{axis}</div>
</div>
<p class="key">{key}</p>""")
_KEY = Markup('<span class="swatch {}"></span> {} ')


def bars(rows: Sequence[BarRow], kinds: Sequence[str], unit: str, label: str) -> Markup:
    """Draw a bar per row on one axis from zero; `kinds` are those of the parts."""
    scale = Scale(0.0, max((row.length for row in rows), default=0.0) or 1.0)
    ticks = scale.labels(5, f" {unit}")
    axis = Drawing(label)
    axis.panel(0, 3, ticks)
    lines = (
        _ROW.format(name=row.name, detail=row.detail, outcome=row.outcome, lane=_lane(row, scale))
        for row in rows
    )
    key = Markup().join(_KEY.format(_css_class(kind), kind) for kind in kinds)
    return _BARS.format(label=label, rows=Markup().join(lines), axis=axis.markup(), key=key)


def _lane(row: BarRow, scale: Scale) -> Markup:
    parts = "; ".join(part.title for part in row.parts)
    drawing = Drawing(f"{row.name}: {parts}")
    left = 0.0
    for part in row.parts:
        right = left + part.length
        drawing.bar(
            (scale.place(left), scale.place(right)),
            ((_HEIGHT - _BAR_HEIGHT) / 2, _BAR_HEIGHT),
            part.title,
            f"part {_css_class(part.kind)}",
        )
        left = right
    drawing.frame(0, _HEIGHT)
    return drawing.markup()


def _css_class(kind: str) -> str:
    return kind.replace(" ", "-")
