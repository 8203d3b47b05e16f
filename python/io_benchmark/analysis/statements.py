# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Statements as data: a sentence with named slots, and the values that belong into them.

Analysis decides what is true and keeps the numbers as numbers. Reports alone decide how a number is
written, and make text from a worker harmless.
"""

from dataclasses import dataclass
from enum import StrEnum


class Unit(StrEnum):
    NANOSECONDS = "ns"
    BYTES = "bytes"
    BYTES_PER_SECOND = "bytes/s"
    OPERATIONS_PER_SECOND = "operations/s"
    IOPS = "IOPS"  # operations of a disk per second
    RATIO = "ratio"  # written 1.92×
    SHARE = "share"  # a part of one, written as a percentage
    COUNT = "count"
    NUMBER = "number"  # written with its decimals


@dataclass(frozen=True)
class Quantity:
    value: float
    unit: Unit


@dataclass(frozen=True)
class Range:
    """The lowest and the highest of several values."""

    low: float
    high: float
    unit: Unit


Value = str | Quantity | Range


@dataclass(frozen=True)
class Statement:
    """A template for `str.format` and the values of its slots, which are never templates."""

    template: str
    values: tuple[tuple[str, Value], ...] = ()


def statement(template: str, **values: Value) -> Statement:
    """Return the statement that `template` makes with these values."""
    return Statement(template, tuple(values.items()))
