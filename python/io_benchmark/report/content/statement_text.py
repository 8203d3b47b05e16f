# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Statements as text: numbers with their units, and text from workers made harmless."""

from collections.abc import Callable

from io_benchmark.analysis.statements import Quantity, Range, Statement, Unit, Value
from io_benchmark.report.content import units
from io_benchmark.text import LINE_LENGTH, clean

MIB = 1024 * 1024


def text_of(statement: Statement, length: int = LINE_LENGTH) -> str:
    """Return the sentence; text from a worker is cut at `length` characters."""
    return statement.template.format_map(
        {name: value_text(value, length) for name, value in statement.values}
    )


def value_text(value: Value, length: int = LINE_LENGTH) -> str:
    """Return a value as reports write it."""
    if isinstance(value, str):
        return clean(value, length)
    if isinstance(value, Quantity):
        return _WRITERS[value.unit](value.value)
    return _range_text(value)


def _range_text(value: Range) -> str:
    """Write the unit once: '371 to 402 MiB/s'."""
    if value.unit is Unit.RATIO:
        return units.interval(value.low, value.high)
    if value.unit is Unit.NANOSECONDS:
        low, high = units.times([value.low, value.high])
    else:
        low, high = (_WRITERS[value.unit](each) for each in (value.low, value.high))
    if low == high:
        return low
    number, _, unit = low.rpartition(" ")
    return f"{number if number and high.endswith(f' {unit}') else low} to {high}"


_WRITERS: dict[Unit, Callable[[float], str]] = {
    Unit.NANOSECONDS: lambda value: units.times([value])[0],
    Unit.BYTES: units.size,
    Unit.BYTES_PER_SECOND: lambda value: f"{units.digits(value / MIB)} MiB/s",
    Unit.OPERATIONS_PER_SECOND: lambda value: f"{units.digits(value)} operations/s",
    Unit.IOPS: lambda value: f"{units.digits(value)} IOPS",
    Unit.RATIO: units.ratio,
    Unit.SHARE: units.percent,
    Unit.COUNT: lambda value: f"{value:,.0f}",
    Unit.NUMBER: units.digits,
}
