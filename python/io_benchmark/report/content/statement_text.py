# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Statements as text: numbers with their units, and text from workers made harmless."""

from collections.abc import Callable

from io_benchmark import number_text
from io_benchmark.analysis.statements import Quantity, Range, Statement, Unit, Value
from io_benchmark.text import LINE_LENGTH, clean

_MIB = 1024 * 1024


def text_of(statement: Statement, length: int = LINE_LENGTH) -> str:
    """Return the sentence; text from a worker is cut at `length` characters."""
    return statement.template.format_map(
        {name: _value_text(value, length) for name, value in statement.values}
    )


def _value_text(value: Value, length: int = LINE_LENGTH) -> str:
    """Return a value as reports write it."""
    match value:
        case Quantity():
            return _joined(*_parts(value.value, value.unit))
        case Range():
            return _range_text(value)
    return clean(value, length)


def _range_text(value: Range) -> str:
    """Write the unit once where both ends have the same: '371 to 402 MiB/s'."""
    if value.unit is Unit.RATIO:
        return number_text.interval(value.low, value.high)
    if value.unit is Unit.NANOSECONDS:
        (low, high), unit = number_text.time_numbers([value.low, value.high])
        low_unit = unit
    else:
        low, low_unit = _parts(value.low, value.unit)
        high, unit = _parts(value.high, value.unit)
    if (low, low_unit) == (high, unit):
        return _joined(low, unit)
    start = low if low_unit == unit else _joined(low, low_unit)
    return f"{start} to {_joined(high, unit)}"


def _joined(number: str, unit: str) -> str:
    return f"{number} {unit}" if unit else number


def _parts(value: float, unit: Unit) -> tuple[str, str]:
    """Return the number and its unit."""
    return _WRITERS[unit](value)


def _time_parts(value_ns: float) -> tuple[str, str]:
    (number,), unit = number_text.time_numbers([value_ns])
    return number, unit


_WRITERS: dict[Unit, Callable[[float], tuple[str, str]]] = {
    Unit.NANOSECONDS: _time_parts,
    Unit.BYTES: number_text.size_parts,
    Unit.BYTES_PER_SECOND: lambda value: (number_text.digits(value / _MIB), "MiB/s"),
    Unit.OPERATIONS_PER_SECOND: lambda value: (number_text.digits(value), "operations/s"),
    Unit.IOPS: lambda value: (number_text.digits(value), "IOPS"),
    Unit.RATIO: lambda value: (number_text.ratio(value), ""),
    Unit.SHARE: lambda value: (number_text.percent_number(value), "%"),
    Unit.COUNT: lambda value: (number_text.count(value), ""),
    Unit.NUMBER: lambda value: (number_text.digits(value), ""),
}
