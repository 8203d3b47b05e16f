# SPDX-License-Identifier: MPL-2.0
"""Checks that the stanzas of all kinds share, and the messages about mistakes in them."""

import re
from collections.abc import Sequence
from typing import Any, Callable

import voluptuous

from io_benchmark_taskgraph.mistakes import BadKeyError, plain, shown, there_are


def form(pattern: str, problem: str) -> Callable[[Any], str]:
    """Return a check that a value is a text of this form; `problem` says what to write."""

    def check(value: Any) -> str:
        if isinstance(value, str) and re.fullmatch(pattern, value):
            return value
        raise voluptuous.Invalid(f"{shown(value)} {problem}")

    return check


# Above zero, with at most two digits before the point.
percentage = form(
    r"(?!0+(\.0+)?%)[0-9]{1,2}(\.[0-9]{1,6})?%",
    "is not a percentage; write one such as 2%",
)


def whole_number(minimum: int, maximum: int) -> Callable[[Any], int]:
    def check(value: Any) -> int:
        if type(value) is int and minimum <= value <= maximum:
            return value
        text = f"is not a whole number from {minimum:,} to {maximum:,}"
        raise voluptuous.Invalid(f"{shown(value)} {text}")

    return check


def checked(schema: voluptuous.Schema, stanza: object, name: str) -> dict[str, Any]:
    """Return the stanza with defaults; a BadKeyError names the first key that is wrong."""
    if stanza is None:
        raise BadKeyError(name, "is missing; add it to the task or to task-defaults")
    try:
        values: dict[str, Any] = schema(stanza)
    except voluptuous.MultipleInvalid as error:
        # Unknown keys first: a missing key may only be misspelt.
        def order(each: voluptuous.Invalid) -> tuple[bool, str]:
            is_missing = isinstance(each, voluptuous.RequiredFieldInvalid)
            return is_missing, _dotted(name, each.path)

        keys = [str(key) for key in schema.schema]
        raise _as_problem(min(error.errors, key=order), name, keys) from None
    return values


def _dotted(name: str, path: Sequence[object]) -> str:
    keys = (str(key) if isinstance(key, voluptuous.Marker) else key for key in path)
    return name + "".join(f".{plain(key)}" for key in keys)


def _as_problem(
    error: voluptuous.Invalid, name: str, keys: Sequence[str]
) -> BadKeyError:
    """Return what to write instead; voluptuous only says what its schema expected."""
    key = _dotted(name, error.path)
    if isinstance(error, voluptuous.RequiredFieldInvalid):
        return BadKeyError(key, "is missing; add it to the task or to task-defaults")
    if error.msg == "extra keys not allowed":
        return BadKeyError(key, f"unknown key; {there_are(keys)}")
    if not error.path:
        return BadKeyError(key, f"is not a mapping; {there_are(keys)}")
    return BadKeyError(key, error.msg)
