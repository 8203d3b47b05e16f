# SPDX-License-Identifier: MPL-2.0
"""The picture of pools and workers: a row per pool, a dot per worker, on one axis of ratios.

The names and verdicts are text beside the drawing, so that they wrap on a phone and can be copied.
All rows have the same width, and no gaps between them: the axis and the margin go through.
"""

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from io_benchmark.analysis.model.comparison import Verdict
from io_benchmark.analysis.statistics.levels import margin_bounds
from io_benchmark.number_text import ratio
from io_benchmark.report.blocks import BASELINE, NO_VERDICT, NOISE
from io_benchmark.report.content import ends_text, interval_text
from io_benchmark.report.drawn import StripRow
from io_benchmark.report.formats.drawing import SHAPES, WIDEST_RATIO, Drawing, Scale, Tick

# Rows of pools, in pixels; many pools have low ones.
_HIGH, _LOW, _MANY_POOLS = 40.0, 27.0, 12
# Dots as close as this part of the width would cover each other: they go above or below. The first
# offset is the middle, as parts of the height that dots have.
_CLOSE = 0.013
_OFFSETS = (0.0, -0.5, 0.5, -1.0, 1.0)
# Spreads points evenly over the height, by the golden ratio.
_GOLDEN = 0.618034
_MARKS = {
    Verdict.SLOWER: ("\N{BLACK UP-POINTING TRIANGLE}", SHAPES[Verdict.SLOWER]),
    Verdict.FASTER: ("\N{BLACK DOWN-POINTING TRIANGLE}", SHAPES[Verdict.FASTER]),
    Verdict.EQUIVALENT: ("\N{BLACK DIAMOND}", SHAPES[Verdict.EQUIVALENT]),
    Verdict.INCONCLUSIVE: ("\N{WHITE SQUARE}", SHAPES[Verdict.INCONCLUSIVE]),
    NOISE: ("\N{TILDE OPERATOR}", "M-5 -2H5V2H-5Z"),
    BASELINE: ("\N{BLACK VERTICAL RECTANGLE}", "M-1.5 -6H1.5V6H-1.5Z"),
    NO_VERDICT: ("\N{MULTIPLICATION SIGN}", "M-5 -5L5 5M-5 5L5 -5"),
}
_ROW = Markup("""\
<li class="{kind}"><span class="pool"><span class="name">{name}</span>{detail} \
<span class="quiet">{workers}</span></span>
<span class="outcome"><span aria-hidden="true">{symbol}</span> {chip}{size}</span>
{lane}</li>
""")
_STRIP = Markup("""\
<div class="strip{low}">
<ul aria-label="Each pool and its workers, as ratios to the baseline">
{rows}</ul>
<div class="axis">{axis}</div>
</div>""")


def strip(rows: Sequence[StripRow], margin_ratio: float) -> Markup:
    """Draw a row per pool: its workers as dots above its mean and interval."""
    bounds = margin_bounds(margin_ratio)
    ends = [end for row in rows for end in _ends(row) if 1 / WIDEST_RATIO <= end <= WIDEST_RATIO]
    scale = Scale.around([*ends, *bounds, 0.9, 1.1], logarithmic=True)
    ticks = scale.labels(5, "×")
    height = _LOW if len(rows) > _MANY_POOLS else _HIGH
    lines = (
        _ROW.format(
            kind=row.verdict.replace(" ", "-"),
            name=row.name,
            detail=Markup(' <span class="quiet">{}</span>').format(row.detail)
            if row.detail
            else "",
            workers=row.counted,
            symbol=_MARKS[row.verdict][0],
            chip=row.chip,
            size=_size(row),
            lane=_lane(row, scale, ticks, bounds, height),
        )
        for row in rows
    )
    axis = Drawing("Ratio to the baseline")
    axis.panel(0, 3, ticks)
    low = " low" if height == _LOW else ""
    return _STRIP.format(low=low, rows=Markup().join(lines), axis=axis.markup())


def _ends(row: StripRow) -> Iterator[float]:
    yield from row.ratios
    if row.ratio is not None:
        yield row.ratio
    if row.interval is not None:
        yield from (row.interval.low_ratio, row.interval.high_ratio)
    if row.limit_ratio is not None:
        yield row.limit_ratio


def _size(row: StripRow) -> Markup:
    """Write ' 1.92× (1.68 to 2.19)' of what is compared."""
    if row.ratio is None or row.verdict == BASELINE:
        return Markup()
    ends = f" ({ends_text(row.interval)})" if row.interval is not None else ""
    return Markup(' <span class="size">{}{}</span>').format(ratio(row.ratio), ends)


def _lane(
    row: StripRow,
    scale: Scale,
    ticks: Sequence[Tick],
    bounds: tuple[float, float],
    height: float,
) -> Markup:
    drawing = Drawing(_in_words(row))
    low, high = map(scale.place, bounds)
    if row.limit_ratio is not None:
        low, high = 0, scale.place(row.limit_ratio)
        drawing.line((high, 0), (high, height), "limit")
    drawing.band(low, high, height, "margin")
    for place, _ in ticks:
        drawing.line((place, 0), (place, height), "grid")
    drawing.line((scale.place(1), 0), (scale.place(1), height), "one")
    _dots(drawing, row, scale, height)
    _mean(drawing, row, scale, 0.74 * height)
    return drawing.markup("group")


def _dots(drawing: Drawing, row: StripRow, scale: Scale, height: float) -> None:
    """Draw workers in the upper part of a row, those without titles as one path."""
    middle, reach = 0.3 * height, 0.18 * height
    points = enumerate(sorted(row.points))
    drawing.points(
        (
            (scale.place(value), middle + (2 * (number * _GOLDEN % 1) - 1) * reach)
            for number, value in points
        ),
        "worker",
    )
    drawing.frame(0, height)
    taken = dict.fromkeys(_OFFSETS, -1.0)  # the last place at each offset
    for dot in sorted(row.dots, key=lambda dot: (dot.ratio, dot.title)):
        place = scale.place(dot.ratio)
        free = (offset for offset in _OFFSETS if place - taken[offset] > _CLOSE)
        offset = next(free, min(taken, key=lambda offset: taken[offset]))
        taken[offset] = place
        kind = "dot" if row.is_compared else "dot hollow"
        drawing.dot((place, middle + offset * reach), dot.title, dot.link, kind)


def _mean(drawing: Drawing, row: StripRow, scale: Scale, middle: float) -> None:
    if row.ratio is None:
        return
    for bounds, width in ((row.interval, "interval"), (row.interval_90, "interval inner")):
        if bounds is not None:
            low, high = (scale.place(end) for end in (bounds.low_ratio, bounds.high_ratio))
            drawing.line((low, middle), (high, middle), f"{width} {row.verdict}")
    place = scale.place(row.ratio)
    drawing.mark((place, middle), _MARKS[row.verdict][1], row.verdict)


def _in_words(row: StripRow) -> str:
    """Describe what is drawn of a pool, for those who do not see it."""
    parts = [row.chip]
    if row.ratio is not None and row.verdict != BASELINE:
        parts.append(ratio(row.ratio))
    if row.interval is not None:
        parts.append(interval_text(row.interval))
    if row.limit_ratio is not None:
        parts.append(f"limit {ratio(row.limit_ratio)}")
    if row.workers:
        ends = dict.fromkeys(map(ratio, (row.ratios[0], row.ratios[-1])))
        parts.append(f"{row.counted} at {' to '.join(ends)}")
    return f"{row.name}: {', '.join(parts)}"
