# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""How figures are written in messages."""

import math


def percent(value: float, digits: int = 0) -> str:
    return f"{100 * value:.{digits}f} %"


def digits(value: float) -> str:
    """Three significant digits, thousands grouped."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    rounded = round(value, 2 - math.floor(math.log10(abs(value))))
    return f"{rounded:,.{max(2 - math.floor(math.log10(abs(rounded))), 0)}f}" if rounded else "0"


def time(value_ns: float) -> str:
    """In the unit that gives at least a tenth."""
    for size_ns, unit in ((1e6, "ms"), (1e3, "µs")):
        if value_ns >= size_ns / 10:
            return f"{digits(value_ns / size_ns)} {unit}"
    return f"{digits(value_ns)} ns"


def plain(text: str, limit: int) -> str:
    """Return one printable line of at most `limit` characters; the others show as '?'."""
    if len(text) <= limit and text.isprintable():
        return text
    cut = text[: limit + 1]
    shown = "".join(character if character.isprintable() else "?" for character in cut)
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"
