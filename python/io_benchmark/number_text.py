# SPDX-License-Identifier: MPL-2.0
"""Numbers as people read them: three significant digits and a unit."""

import math
from collections.abc import Sequence

NOTHING = "\N{EN DASH}"
MINUS = "\N{MINUS SIGN}"
_NS_PER_MS = 1_000_000
# The limits below are chosen. An interval narrower than this has a third decimal.
_NARROW = 0.1
# An interval that reaches over this factor is cut at these ends.
_WIDE, _LEAST, _MOST = 100_000, 0.01, 100
# An interval around 1 that reaches over this factor tells nothing.
_TELLS_NOTHING = 100
# Units with their size, the largest first
_TIME_UNITS = ((1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs"), (1, "ns"))
_LONG_UNITS = ((3600, "h"), (60, "min"), (1, "s"))
_SIZE_UNITS = ((1024**4, "TiB"), (1024**3, "GiB"), (1024**2, "MiB"), (1024, "KiB"), (1, "B"))
# At least two of a long unit, as in 90 min instead of 1.5 h
_LEAST_OF_LONG_UNIT = 2


def _unit(value: float, units: Sequence[tuple[int, str]]) -> tuple[int, str]:
    """Return the largest unit that gives at least one."""
    return next((unit for unit in units if value >= unit[0]), units[-1])


def time_unit(time_ns: float) -> tuple[int, str]:
    """Return the unit of a measured time, in nanoseconds, and its name: s, ms, µs or ns."""
    return _unit(time_ns, _TIME_UNITS)


def duration_unit(seconds: float) -> tuple[int, str]:
    """Return the unit of a duration that people plan with: its seconds, and h, min or s."""
    return _unit(seconds / _LEAST_OF_LONG_UNIT, _LONG_UNITS)


def duration(seconds: float) -> str:
    """Write a duration in its own unit: '1.5 min', '90 min'."""
    unit_s, unit = duration_unit(abs(seconds))
    return f"{compact(seconds / unit_s)} {unit}"


def digits(value: float) -> str:
    """Write three significant digits, with thousands grouped."""
    if math.isnan(value):
        return NOTHING
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if value == 0:
        return "0"
    # Rounded first, so that 999.7 becomes 1,000 and not 1000.0.
    rounded = round(value, 2 - math.floor(math.log10(abs(value))))
    decimals = max(2 - math.floor(math.log10(abs(rounded))), 0)
    return f"{rounded:,.{decimals}f}"


def compact(value: float) -> str:
    """Write three significant digits at most: '2.75', '5.5', '1,230'."""
    return f"{value:.3g}" if abs(value) < 100 else f"{value:,.0f}"


def rounded_parts(values: Sequence[float], decimals: int = 0) -> list[float]:
    """Round values so that they add up to their sum, as that is rounded."""
    scale = 10**decimals
    whole = round(round(math.fsum(values), decimals) * scale)
    scaled = [value * scale for value in values]
    rounded = [math.floor(value) for value in scaled]
    # Those that lose most by rounding down are rounded up.
    by_loss = sorted(range(len(rounded)), key=lambda index: rounded[index] - scaled[index])
    for index in by_loss[: max(whole - sum(rounded), 0)]:
        rounded[index] += 1
    return [value / scale for value in rounded]


def money(value: float) -> str:
    """Write an amount of money: 0.031, 3.10, 1,230."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    # From here on, three significant digits are two decimals: this is 0.10.
    return f"{value:.2f}" if abs(value) >= 0.0995 else f"{value:.3g}"


def count(value: float) -> str:
    return f"{value:,.0f}"


def plural(number: float, noun: str) -> str:
    """Return the noun as it is written after a number: 'worker', 'workers', 'pushes'."""
    if number == 1:
        return noun
    return f"{noun}es" if noun.endswith(("sh", "ch")) else f"{noun}s"


def number_of(number: int, noun: str) -> str:
    """Write '1 worker' or '1,200 workers'."""
    return f"{number:,} {plural(number, noun)}"


def listed(
    texts: Sequence[str], most: int, rest: str = " and {:,} more", separator: str = ", "
) -> str:
    """Write 'intel, amd-16 and 3 more': at most so many, then how many are left out."""
    left_out = len(texts) - most
    return separator.join(texts[:most]) + (rest.format(left_out) if left_out > 0 else "")


def signed(text: str, value: float) -> str:
    """Put the sign of a value before its text; what is written as zero has none."""
    is_zero = not text.strip("0., %")
    if is_zero:
        return text
    return f"+{text}" if value > 0 else f"{MINUS}{text}"


def times(values_ns: Sequence[float]) -> list[str]:
    """Write times of one row in one unit, that of the smallest."""
    positive = [value for value in values_ns if math.isfinite(value) and value > 0]
    unit_ns, unit = time_unit(min(positive, default=_NS_PER_MS))
    return [f"{digits(value / unit_ns)} {unit}" for value in values_ns]


def signed_percent(value: int) -> str:
    """Write a whole percentage: '97 %'; a negative one has a minus sign, not a hyphen."""
    return f"{value:,} %".replace("-", MINUS)


def ratio(value: float) -> str:
    return f"{_ratio_digits(value)}×"


def interval(low: float, high: float) -> str:
    """Write an interval of ratios: three decimals where two would hide how narrow it is."""
    if low < 1 < high and high > _TELLS_NOTHING * low:
        return "unknown"
    if is_cut(low, high):
        return f"{_end(low)} to {_end(high)}"
    if math.isfinite(high - low) and high - low < _NARROW and low >= 0.1:
        return f"{low:.3f} to {high:.3f}"
    return f"{_ratio_digits(low)} to {_ratio_digits(high)}"


def is_cut(low: float, high: float) -> bool:
    """Return whether an interval of ratios is so wide that its ends say next to nothing."""
    return high > _WIDE * low


def _end(value: float) -> str:
    if value < _LEAST:
        return f"<{_LEAST:g}"
    return f">{_MOST:,g}" if _MOST < value < math.inf else _ratio_digits(value)


def _ratio_digits(value: float) -> str:
    return f"{value:.2f}" if math.isfinite(value) and 0.1 <= value < 100 else digits(value)


def percent(value: float) -> str:
    """Write a part of one as a percentage, with a decimal only below 10 %."""
    if not math.isfinite(value):
        return f"{digits(value)} %"
    hundredths = 100 * value
    # From here on, one decimal would make it 10.
    text = f"{hundredths:,.0f}" if abs(hundredths) >= 9.95 else f"{hundredths:.1f}"
    return f"{text.removesuffix('.0')} %"


def size(value_bytes: float) -> str:
    """Write a size in the largest unit that gives at least one; whole numbers stay whole."""
    unit_bytes, unit = _unit(value_bytes, _SIZE_UNITS)
    value = value_bytes / unit_bytes
    return f"{count(value) if value == int(value) else digits(value)} {unit}"
