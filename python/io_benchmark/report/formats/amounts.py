# SPDX-License-Identifier: MPL-2.0
"""The picture of amounts: a row per name, with its amount and interval on one axis from zero.

It has the look of the picture of pools, whose axis has ratios.
"""

from collections.abc import Sequence

from markupsafe import Markup

from io_benchmark.analysis.model.comparison import Verdict
from io_benchmark.report.drawn import AmountRow
from io_benchmark.report.formats.drawing import SHAPES, Drawing, Scale, Tick

_HEIGHT = 34.0
_ROW = Markup("""\
<li class="{kind}"><span class="pool"><span class="name">{name}</span> \
<span class="pair">{detail}</span></span>
<span class="outcome">{outcome}</span>
{lane}</li>
""")
_AMOUNTS = Markup("""\
<div class="strip">
<ul aria-label="{label}">
{rows}</ul>
<div class="axis">{axis}</div>
</div>""")


def amounts(rows: Sequence[AmountRow], label: str) -> Markup:
    """Draw a row per amount; `label` says what all of them are."""
    ends = [end for row in rows for end in (row.amount, row.low, row.high)]
    scale = Scale.around([0.0, *ends])
    ticks = scale.labels(5)
    lines = (
        _ROW.format(
            kind=row.verdict,
            name=row.name,
            detail=row.detail,
            outcome=row.outcome,
            lane=_lane(row, scale, ticks),
        )
        for row in rows
    )
    axis = Drawing(label)
    axis.panel(0, 3, ticks)
    return _AMOUNTS.format(label=label, rows=Markup().join(lines), axis=axis.markup())


def _lane(row: AmountRow, scale: Scale, ticks: Sequence[Tick]) -> Markup:
    drawing = Drawing(f"{row.name}, {row.detail}: {row.outcome}")
    for place, _ in ticks:
        drawing.line((place, 0), (place, _HEIGHT), "grid")
    zero, middle = scale.place(0.0), _HEIGHT / 2
    drawing.line((zero, 0), (zero, _HEIGHT), "one")
    drawing.line(
        (scale.place(row.low), middle),
        (scale.place(row.high), middle),
        f"interval inner {row.verdict}",
    )
    drawing.mark((scale.place(row.amount), middle), SHAPES[Verdict.SLOWER], row.verdict)
    drawing.frame(0, _HEIGHT)
    return drawing.markup()
