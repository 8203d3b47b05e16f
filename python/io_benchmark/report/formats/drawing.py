# SPDX-License-Identifier: MPL-2.0
"""Scales, SVG elements, and a drawing as wide as its page.

Horizontal places are parts of the width, so that text has the same size on a phone and on a screen.
The paths of a panel are in a frame that is stretched to the width; their lines keep their
thickness.
"""

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Self, TypeAlias

from markupsafe import Markup, escape
from msgspec import Struct, field

from io_benchmark.analysis.model.comparison import Verdict

# A picture of ratios ends at the widest, also where an interval does not.
WIDEST_RATIO = 20.0
SHAPES = {
    Verdict.SLOWER: "M-5 4.5L5 4.5L0 -5Z",
    Verdict.FASTER: "M-5 -4.5L5 -4.5L0 5Z",
    Verdict.EQUIVALENT: "M-5 0L0 -5L5 0L0 5Z",
    Verdict.INCONCLUSIVE: "M-4.5 -4.5H4.5V4.5H-4.5Z",
}

_FRAME_UNITS = 1000  # the size of the frame around paths
_AXIS_HEIGHT = 20
# Below this ratio of its ends, ticks of a logarithmic axis are spaced as on a linear one.
_NARROW = 4.0
_ROOM = 0.06  # at both ends, as a part of the length
# On a phone, as parts of the width: a letter of a tick's label, and what is between two labels.
_LETTER, _BETWEEN = 0.021, 0.03

Spot: TypeAlias = tuple[float, float]  # a part of the width, and a height in pixels
Tick: TypeAlias = tuple[float, str]  # a part of an axis, and its label


class Scale(Struct, frozen=True):
    """A range of values; a place is a part of the axis: 0 at its start, 1 at its end."""

    low: float
    high: float
    logarithmic: bool = False

    @classmethod
    def around(cls, values: Iterable[float], *, logarithmic: bool = False) -> Self:
        """Return a scale of all finite values, with room at both ends."""
        finite = [value for value in values if math.isfinite(value)]
        if logarithmic:
            positive = [value for value in finite if value > 0] or [1.0]
            low, high = math.log(min(positive)), math.log(max(positive))
            margin = max((high - low) * _ROOM, 0.02)
            return cls(math.exp(low - margin), math.exp(high + margin), logarithmic=True)
        low, high = min(finite, default=0.0), max(finite, default=0.0)
        margin = (high - low) * _ROOM or 1.0
        return cls(low - margin, high + margin)

    def place(self, value: float) -> float:
        """Return the place of a value; one beyond an end is at that end."""
        inside = max(self.low, min(self.high, value))
        if self.logarithmic:
            return math.log(inside / self.low) / math.log(self.high / self.low)
        return (inside - self.low) / (self.high - self.low)

    def labels(self, most: int, unit: str = "") -> list[Tick]:
        """Return ticks with all their digits and this unit, as many as a phone has room for."""
        for count in range(most, 0, -1):
            ticks = [(self.place(tick), _digits(tick) + unit) for tick in self.ticks(count)]
            ends = [_ends(place, label) for place, label in ticks]
            if all(left[1] + _BETWEEN <= right[0] for left, right in pairwise(ends)):
                break
        return ticks

    def ticks(self, most: int) -> list[float]:
        """Return at most this many round values on the axis."""
        if self.logarithmic and self.high / self.low >= _NARROW:
            return _round_decades(self.low, self.high, most)
        return _round_steps(self.low, self.high, most)


def _digits(value: float) -> str:
    return f"{value:,.0f}" if value == round(value) else f"{value:g}"


def _anchor(place: float, words: str) -> str:
    """Return the side of a text that is at its place, so that it ends inside of the picture."""
    half = max(len(words) * _LETTER / 2, 0.07)
    return "start" if place < half else "end" if place > 1 - half else "middle"


def _ends(place: float, words: str) -> tuple[float, float]:
    """Return where a text begins and ends on a phone."""
    before = {"start": 0.0, "middle": 0.5, "end": 1.0}[_anchor(place, words)]
    width = len(words) * _LETTER
    return place - before * width, place + (1 - before) * width


def _round_decades(low: float, high: float, most: int) -> list[float]:
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for digits in ((1, 2, 5), (1, 3), (1,)):
        values = (digit * 10.0**decade for decade in decades for digit in digits)
        ticks = [value for value in values if low <= value <= high]
        if len(ticks) <= most:
            return ticks
    every = math.ceil(len(ticks) / most)
    return [tick for index, tick in enumerate(ticks) if index % every == 0]


def _round_steps(low: float, high: float, most: int) -> list[float]:
    decade = 10.0 ** math.floor(math.log10((high - low) / most))
    step = next(
        factor * decade for factor in (1, 2, 5, 10, 20) if (high - low) / (factor * decade) <= most
    )
    return [number * step for number in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _element(tag: str, *content: str, **attributes: object) -> Markup:
    """Return an element; underscores in attribute names become hyphens, all text is escaped."""
    written = Markup().join(
        Markup(' {}="{}"').format(key.strip("_").replace("_", "-"), _value(value))
        for key, value in attributes.items()
    )
    return Markup("<{0}{1}>{2}</{0}>").format(tag, written, Markup().join(map(escape, content)))


def _value(value: object) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def _percent(place: float) -> str:
    return _value(100.0 * place) + "%"


class Drawing(Struct):
    """A picture that grows downwards."""

    label: str  # what it shows, for screen readers
    _height: float = 0.0
    _has_levels: bool = False
    _parts: list[Markup] = field(default_factory=list)
    _paths: list[Markup] = field(default_factory=list)

    def line(self, start: Spot, end: Spot, kind: str) -> None:
        (x1, y1), (x2, y2) = start, end
        self._add("line", x1=_percent(x1), y1=y1, x2=_percent(x2), y2=y2, class_=kind)

    def band(self, left: float, right: float, height: float, kind: str) -> None:
        """Fill everything between two places, from the top down to this height."""
        width = _percent(right - left)
        self._add("rect", x=_percent(left), width=width, height=height, class_=kind)

    def bar(self, ends: Spot, heights: Spot, title: str, kind: str) -> None:
        """Fill from one place to another, from a height on so many pixels, below a title."""
        (left, right), (top, height) = ends, heights
        shown = _element("title", title)
        size = {"x": _percent(left), "width": _percent(right - left), "y": top, "height": height}
        self._add("rect", shown, **size, class_=kind)

    def text(self, spot: Spot, words: str, kind: str = "t", anchor: str = "") -> None:
        """Write text; near an edge it is inside the picture, unless `anchor` is given."""
        place, height = spot
        anchor = anchor or _anchor(place, words)
        self._add("text", words, x=_percent(place), y=height, text_anchor=anchor, class_=kind)

    def mark(self, spot: Spot, shape: str, kind: str) -> None:
        """Draw a symbol whose shape has a meaning as well as its color."""
        place, height = spot
        symbol = _element("path", d=shape, class_=f"mark {kind}")
        self._add("svg", symbol, x=_percent(place), y=height, overflow="visible", class_="point")

    def dot(self, spot: Spot, title: str, link: str, kind: str) -> None:
        """Draw a circle that shows its title, and leads somewhere if it has a link.

        A key does not stop at each of hundreds of dots: tables have the same links.
        """
        place, height = spot
        shown = _element("title", title)
        circle = _element("circle", shown, cx=_percent(place), cy=height, r=3.5, class_=kind)
        if link:
            circle = _element("a", circle, href=link, tabindex=-1)
        self._parts.append(circle)

    def path(self, spots: Sequence[Spot], kind: str) -> None:
        self._paths.append(_element("path", d="M" + "L".join(map(_in_frame, spots)), class_=kind))

    def points(self, spots: Iterable[Spot], kind: str) -> None:
        """Draw points as one path: strokes without a length, of which only the caps are visible."""
        if data := "".join(f"M{_in_frame(spot)}h0" for spot in spots):
            self._paths.append(_element("path", d=data, class_=f"points {kind}"))

    def panel(
        self, top: float, height: float, ticks: Sequence[Tick], levels: Iterable[Tick] = ()
    ) -> None:
        """Draw all paths on a grid: lines at ticks, and at levels with their labels at the left.

        The labels of the ticks are below it, where the picture ends.
        """
        for place, _ in ticks:
            self.line((place, top), (place, top + height), "grid")
        for place, label in levels:
            y = top + (1 - place) * height
            self.line((0, y), (1, y), "grid")
            self._add("text", label, x=-8, y=y + 4, text_anchor="end", class_="tick")
            self._has_levels = True
        self.frame(top, height)
        for place, label in ticks:
            self.text((place, top + height + 15), label, "tick")
        self._height = top + height + _AXIS_HEIGHT

    def frame(self, top: float, height: float) -> None:
        """Draw all paths in a frame as wide as the picture, where it ends."""
        box = f"0 0 {_FRAME_UNITS} {height:g}"
        size = {"x": 0, "y": top, "width": "100%", "height": height}
        self._add("svg", *self._paths, **size, viewBox=box, preserveAspectRatio="none")
        self._height = top + height

    def _add(self, tag: str, *content: str, **attributes: object) -> None:
        self._parts.append(_element(tag, *content, **attributes))

    def markup(self, role: str = "img") -> Markup:
        """Return the picture; one with links in it is a `group`, because an image has none."""
        box = {"width": "100%", "height": self._height, "role": role, "aria_label": self.label}
        kind = "plot gutter" if self._has_levels else "plot"
        return _element("svg", *self._parts, class_=kind, **box)


def _in_frame(spot: Spot) -> str:
    return f"{round(_FRAME_UNITS * spot[0])} {round(spot[1])}"
