# SPDX-License-Identifier: MPL-2.0
"""Statements as data: a sentence with named slots, and the values that belong into them.

Analysis decides what is true and keeps the numbers as numbers. Reports alone decide how a number is
written, and make text from a worker harmless.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache
from string import Formatter

from msgspec import Struct

MIB = 1024 * 1024


class Unit(StrEnum):
    NANOSECONDS = "ns"
    SECONDS = "s"  # a duration that people plan with: written in minutes or hours
    BYTES = "bytes"
    BYTES_PER_SECOND = "bytes/s"
    OPERATIONS_PER_SECOND = "operations/s"
    IOPS = "IOPS"  # operations of a disk per second
    RATIO = "ratio"  # written 1.92×
    SHARE = "share"  # a part of one, written as a percentage
    COUNT = "count"
    NUMBER = "number"  # written with its decimals


class Quantity(Struct, frozen=True, tag_field="type", tag="quantity"):
    value: float
    unit: Unit


class Range(Struct, frozen=True, tag_field="type", tag="range"):
    """The lowest and the highest of several values."""

    low: float
    high: float
    unit: Unit


Value = str | Quantity | Range


class Statement:
    """A template for `str.format` and the values of its slots, which are never templates.

    JSON has the text that they make (`json_documents`), so this is not a struct, which msgspec
    would write by itself.
    """

    __slots__ = ("template", "values")

    def __init__(self, template: str, values: tuple[tuple[str, Value], ...] = ()) -> None:
        self.template = template
        self.values = values

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Statement):
            return NotImplemented
        return (self.template, self.values) == (other.template, other.values)

    def __hash__(self) -> int:
        return hash((self.template, self.values))

    def __repr__(self) -> str:
        return f"Statement(template={self.template!r}, values={self.values!r})"


def statement(template: str, **values: Value | Statement) -> Statement:
    """Return the statement that `template` makes with these values; statements are inlined."""
    slots = _Slots()
    made = slots.inline(template, values)
    return Statement(made, tuple(slots.values.items()))


def joined(parts: Iterable[Value | Statement], separator: str = ", ") -> Statement:
    """Return several values as one statement, each of them once."""
    named = {f"part{number}": part for number, part in enumerate(dict.fromkeys(parts))}
    return statement(_escaped(separator).join(f"{{{name}}}" for name in named), **named)


class _Slots:
    """The slots of a statement that is being made.

    It takes the same time for each slot: a worker may have written thousands of messages.
    """

    def __init__(self) -> None:
        self.values: dict[str, Value] = {}
        self._names: dict[tuple[str, Value], str] = {}
        self._last_numbers: defaultdict[str, int] = defaultdict(int)

    def add(self, name: str, value: Value) -> str:
        """Add a value under a name that no other value has, and return this name."""
        while (name, value) not in self._names:
            self._last_numbers[name] += 1
            number = self._last_numbers[name]
            slot = name if number == 1 else f"{name}_{number}"
            self._names.setdefault((name, self.values.setdefault(slot, value)), slot)
        return self._names[name, value]

    def inline(self, template: str, values: Mapping[str, Value | Statement]) -> str:
        """Return a template with the statements among its values inlined, and add all slots."""
        parts: list[str] = []
        for words, name in _parsed(template):
            parts.append(_escaped(words))
            value = "" if name is None else values[name]
            if isinstance(value, Statement):
                parts.append(self.inline(value.template, dict(value.values)))
            elif name is not None and value != "":
                parts.append(f"{{{self.add(name, value)}}}")
        return "".join(parts)


@lru_cache(maxsize=256)
def _parsed(template: str) -> Sequence[tuple[str, str | None]]:
    """Return the words of a template, each with the name of the slot behind them."""
    return [(words, name) for words, name, _, _ in Formatter().parse(template)]


def _escaped(words: str) -> str:
    return words.replace("{", "{{").replace("}", "}}")


def count(number: float) -> Quantity:
    return Quantity(number, Unit.COUNT)


def ratio_of(value: float) -> Quantity:
    return Quantity(value, Unit.RATIO)


def share(value: float) -> Quantity:
    return Quantity(value, Unit.SHARE)
