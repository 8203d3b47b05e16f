# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Statements as text: numbers with their units, and text from workers made harmless."""

from collections.abc import Callable

from io_benchmark.analysis.statements import Statement, Unit, Value
from io_benchmark.report.content import units
from io_benchmark.text import clean

MIB = 1024 * 1024


def text_of(statement: Statement) -> str:
    """Return the sentence, with each value written as reports write it."""
    return statement.template.format_map(
        {name: value_text(value) for name, value in statement.values}
    )


def value_text(value: Value) -> str:
    """Return a value as reports write it."""
    if isinstance(value, str):
        return clean(value)
    return _WRITERS[value.unit](value.value)


_WRITERS: dict[Unit, Callable[[float], str]] = {
    Unit.NANOSECONDS: lambda value: units.times([value])[0],
    Unit.BYTES: units.size,
    Unit.BYTES_PER_SECOND: lambda value: f"{units.digits(value / MIB)} MiB/s",
    Unit.OPERATIONS_PER_SECOND: lambda value: f"{units.digits(value)} operations/s",
    Unit.RATIO: units.ratio,
    Unit.SHARE: units.percent,
    Unit.COUNT: lambda value: f"{value:,.0f}",
}
