# SPDX-License-Identifier: MPL-2.0
"""SVG elements, and a drawing as wide as its page.

Horizontal places are percentages, so that text has the same size on a phone and on a screen. Paths
are in a frame that is stretched to the width; their lines keep their thickness.
"""

from collections.abc import Iterable

import numpy as np
from markupsafe import Markup, escape
from msgspec import Struct, field
from numpy.typing import ArrayLike

_FRAME_UNITS = 1000
TITLE_HEIGHT = 26
_AXIS_HEIGHT = 20
# Room at the left for the labels of levels, as in the style sheet.
_GUTTER = 48


def _element(tag: str, *content: str, **attributes: object) -> Markup:
    """Return an element; underscores in attribute names become hyphens, all text is escaped."""
    written = Markup().join(
        Markup(' {}="{}"').format(key.strip("_").replace("_", "-"), _value(value))
        for key, value in attributes.items()
    )
    inner = Markup().join(escape(part) for part in content)
    return Markup("<{0}{1}>{2}</{0}>").format(tag, written, inner)


def _value(value: object) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def _percent(place: float) -> str:
    return f"{100 * place:.2f}".rstrip("0").rstrip(".") + "%"


class Drawing(Struct):
    """A picture that grows downwards, with a title and a description for screen readers."""

    identifier: str
    title: str
    description: str
    height: float = 0.0
    gutter: bool = True
    _parts: list[Markup] = field(default_factory=list)

    def line(self, start: tuple[float, float], end: tuple[float, float], kind: str) -> None:
        """Draw from one point (place across, height in pixels) to another."""
        (x1, y1), (x2, y2) = start, end
        self._add("line", x1=_percent(x1), y1=y1, x2=_percent(x2), y2=y2, class_=kind)

    def band(self, left: float, right: float, top: float, height: float, kind: str) -> None:
        width = _percent(right - left)
        self._add("rect", x=_percent(left), y=top, width=width, height=height, class_=kind)

    def text(
        self, place: float, height: float, text: str, kind: str = "", anchor: str = ""
    ) -> None:
        """Write text; near an edge it is inside the picture, unless `anchor` is given."""
        chosen = anchor or ("start" if place < 0.04 else "end" if place > 0.96 else "middle")
        x = _percent(place)
        self._add("text", text, x=x, y=height, text_anchor=chosen, class_=kind or "t")

    def mark(self, place: float, height: float, shape: str, kind: str) -> None:
        """Draw a symbol whose shape has a meaning as well as its color."""
        use = _element("path", d=shape, class_=f"mark {kind}")
        x = _percent(place)
        self._add("svg", use, x=x, y=height, overflow="visible", class_="point")

    def frame(self, top: float, height: float, paths: Iterable[Markup]) -> None:
        """Draw paths in units of _FRAME_UNITS across and pixels down."""
        box = f"0 0 {_FRAME_UNITS} {height:g}"
        size = {"x": 0, "y": top, "width": "100%", "height": height}
        self._add("svg", *paths, **size, viewBox=box, preserveAspectRatio="none")

    def name(self, height: float, text: str) -> None:
        """Write the name of a panel above it."""
        self._add("text", text, x=-_GUTTER, y=height, class_="name")

    def grid(
        self,
        across: Iterable[float],
        levels: Iterable[tuple[float, str]],
        top: float,
        height: float,
    ) -> None:
        """Draw the lines behind a panel: vertical, and horizontal with labels at the left."""
        for place in across:
            self.line((place, top), (place, top + height), "grid")
        for place, label in levels:
            at = top + (1 - place) * height
            self.line((0, at), (1, at), "grid")
            self._add("text", label, x=-8, y=at + 4, text_anchor="end", class_="tick")

    def axis(self, ticks: Iterable[tuple[float, str]], bottom: float) -> None:
        """Write the labels of the ticks; the picture ends below them."""
        self.height = bottom + _AXIS_HEIGHT
        for place, label in ticks:
            self.text(place, bottom + 15, label, "tick")

    def _add(self, tag: str, *content: str, **attributes: object) -> None:
        self._parts.append(_element(tag, *content, **attributes))

    def markup(self) -> Markup:
        title, description = f"{self.identifier}-t", f"{self.identifier}-d"
        return _element(
            "svg",
            _element("title", self.title, id=title),
            _element("desc", self.description, id=description),
            *self._parts,
            class_="plot gutter" if self.gutter else "plot",
            width="100%",
            height=self.height,
            role="img",
            aria_labelledby=title,
            aria_describedby=description,
        )


def path(across: ArrayLike, down: ArrayLike, kind: str, *, close_at: float | None = None) -> Markup:
    """Return a line through places and heights, or the area between it and `close_at`."""
    pairs = _pairs(across, down)
    if not pairs:
        return Markup()
    data = "M" + "L".join(f"{x} {y}" for x, y in pairs)
    if close_at is not None:
        data += f"V{close_at:g}H{pairs[0][0]}Z"
    return _element("path", d=data, class_=kind)


def points(across: ArrayLike, down: ArrayLike, kind: str, stroke: str = "h0") -> Markup:
    """Return points as one path: strokes without a length, of which only the caps are visible."""
    data = "".join(f"M{x} {y}{stroke}" for x, y in _pairs(across, down))
    return _element("path", d=data, class_=f"points {kind}") if data else Markup()


def _pairs(across: ArrayLike, down: ArrayLike) -> list[tuple[int, int]]:
    x = np.rint(np.asarray(across, dtype=np.float64) * _FRAME_UNITS)
    y = np.rint(np.asarray(down, dtype=np.float64))
    known = np.isfinite(x) & np.isfinite(y)
    return list(zip(x[known].astype(int).tolist(), y[known].astype(int).tolist(), strict=True))
