# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Numbers as people read them: three digits, a unit, no more than the machines repeat."""

import math
from collections.abc import Sequence

NS_PER_MS = 1_000_000
NOTHING = "\N{EN DASH}"
NARROW = 0.1
# An interval of so many times its own lower end is cut at these.
WIDE, LEAST, MOST = 100_000, 0.01, 100
# (nanoseconds, name), the largest first
TIME_UNITS = ((1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs"), (1, "ns"))
SIZE_UNITS = ((1024**4, "TiB"), (1024**3, "GiB"), (1024**2, "MiB"), (1024, "KiB"), (1, "B"))


def digits(value: float) -> str:
    """Three significant digits, thousands grouped."""
    if not math.isfinite(value):
        return NOTHING if math.isnan(value) else "∞" if value > 0 else "-∞"
    if value == 0:
        return "0"
    # Rounded first, so that 999.7 becomes 1,000 and not 1000.0.
    rounded = round(value, 2 - math.floor(math.log10(abs(value))))
    if rounded == 0:
        return "0"
    decimals = max(2 - math.floor(math.log10(abs(rounded))), 0)
    return f"{rounded:,.{decimals}f}"


def times(values_ns: Sequence[float]) -> list[str]:
    """Figures that stand in one row share one unit, that of the smallest."""
    known = [value for value in values_ns if math.isfinite(value) and value > 0]
    smallest = min(known, default=NS_PER_MS)
    size, unit = next((pair for pair in TIME_UNITS if smallest >= pair[0]), TIME_UNITS[-1])
    return [f"{digits(value / size)} {unit}" for value in values_ns]


def seconds(value_ns: float) -> str:
    return f"{digits(value_ns / 1_000_000_000)} s"


def ratio(value: float) -> str:
    return f"{_ratio_digits(value)}×"


def interval(low: float, high: float) -> str:
    """Two decimals, three where it is so narrow that two would hide where it ends.

    One that says next to nothing is cut: how far it reaches beyond tells no one anything.
    """
    if high > WIDE * low:
        return f"{_end(low)} to {_end(high)}"
    if math.isfinite(high - low) and high - low < NARROW and low >= 0.1:
        return f"{low:.3f} to {high:.3f}"
    return f"{_ratio_digits(low)} to {_ratio_digits(high)}"


def _end(value: float) -> str:
    if value < LEAST:
        return f"<{LEAST:g}"
    return f">{MOST:,g}" if MOST < value < math.inf else _ratio_digits(value)


def percent(value: float) -> str:
    """A part of one, as a percentage: whole ones from 10 on, else one decimal where it tells."""
    if not math.isfinite(value):
        return f"{digits(value)} %"
    hundredths = 100 * value
    text = f"{hundredths:,.0f}" if abs(hundredths) >= 9.95 else f"{hundredths:.1f}"
    return f"{text.removesuffix('.0')} %"


def size(value_bytes: float) -> str:
    """A size in the largest unit that gives at least one; whole numbers stay whole."""
    divisor, unit = next((pair for pair in SIZE_UNITS if value_bytes >= pair[0]), SIZE_UNITS[-1])
    value = value_bytes / divisor
    return f"{value:,.0f} {unit}" if value == int(value) else f"{digits(value)} {unit}"


def _ratio_digits(value: float) -> str:
    return f"{value:.2f}" if math.isfinite(value) and 0.1 <= value < 100 else digits(value)
