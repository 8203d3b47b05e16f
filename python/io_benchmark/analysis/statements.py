# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Statements as data: a sentence with named slots, and the values that belong into them.

Analysis decides what is true and keeps the numbers as numbers. Reports alone decide how a number is
written, and make text from a worker harmless.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from string import Formatter


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


def statement(template: str, **values: Value | Statement) -> Statement:
    """Return the statement that `template` makes with these values; statements in it are inlined."""
    parts: list[str] = []
    slots: dict[str, Value] = {}
    for text, name, _, _ in Formatter().parse(template):
        parts.append(_escaped(text))
        if name is not None:
            parts.append(_inlined(name, values[name], slots))
    return Statement("".join(parts), tuple(slots.items()))


def joined(parts: Iterable[Value | Statement], separator: str = ", ") -> Statement:
    """Return several values as one statement, each of them once."""
    named = {f"part{at}": part for at, part in enumerate(dict.fromkeys(parts))}
    return statement(_escaped(separator).join(f"{{{name}}}" for name in named), **named)


def _inlined(name: str, value: Value | Statement, slots: dict[str, Value]) -> str:
    """Return the part of a template that a value makes, and add its slots."""
    if value == "":
        return ""
    if not isinstance(value, Statement):
        slot = _free_name(name, value, slots)
        slots[slot] = value
        return f"{{{slot}}}"
    inner = dict(value.values)
    return "".join(
        _escaped(text) + ("" if slot is None else _inlined(slot, inner[slot], slots))
        for text, slot, _, _ in Formatter().parse(value.template)
    )


def _free_name(name: str, value: Value, slots: Mapping[str, Value]) -> str:
    """Return a slot's name that no other value has."""
    number, free = 1, name
    while free in slots and slots[free] != value:
        number += 1
        free = f"{name}_{number}"
    return free


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def count(number: float) -> Quantity:
    """Return a number of things."""
    return Quantity(number, Unit.COUNT)


def share(value: float) -> Quantity:
    """Return a part of one, which reports write as a percentage."""
    return Quantity(value, Unit.SHARE)
