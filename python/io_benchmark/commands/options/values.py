# SPDX-License-Identifier: MPL-2.0
"""Parse the values of options: each parser returns a value, or raises what is wrong in one line."""

import argparse
import re
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from io_benchmark.text import clean

if TYPE_CHECKING:  # --help needs no data classes
    from io_benchmark.analysis.expectations import Expectation
    from io_benchmark.analysis.gate.gate_model import Gate
    from io_benchmark.costs.worker_time import Price

V = TypeVar("V")
VALUE_LENGTH = 100  # characters of a wrong value in a message


def wrong_value(value: str, problem: str) -> argparse.ArgumentTypeError:
    """Return the error about an option's value: 'x' is not such a thing."""
    return argparse.ArgumentTypeError(f"{clean(value, VALUE_LENGTH)!r} {problem}")


def parse_name(value: str) -> str:
    """Return a name, address or path; refuse a lone dash, so that no file gets this name."""
    if value == "-":
        raise wrong_value(value, "is not a name; stdin and stdout cannot be used here")
    return value


def parse_names(value: str) -> Sequence[str]:
    names = [name for name in value.split(",") if name]
    if not names:
        raise wrong_value(value, "contains no name; try io-benchmark")
    return names


def parse_path(value: str) -> Path:
    return Path(parse_name(value))


def matching(pattern: str, problem: str, convert: Callable[[str], V]) -> Callable[[str], V]:
    """Return a parser that converts a value if the pattern matches it."""

    def parse(value: str) -> V:
        if not re.fullmatch(pattern, value):
            raise wrong_value(value, problem)
        return convert(value)

    return parse


parse_minutes = matching(
    r"[0-9]{1,4}(\.[0-9]{1,3})?", "is not a number of minutes, such as 90", float
)
parse_hours = matching(r"(?=.*[1-9])[0-9]{1,6}(\.[0-9]{1,3})?", "is not a number above 0", float)


def parse_percentage(value: str) -> float:
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)%?", value)
    if match is None or not 0 < float(match[1]) < 100:
        raise wrong_value(value, "is not a percentage such as 5%")
    return float(match[1]) / 100


def whole_number(most: int) -> Callable[[str], int]:
    """Return a parser of a number from 1 to `most`."""

    def parse(value: str) -> int:
        if not re.fullmatch("[0-9]{1,10}", value) or not 1 <= int(value) <= most:
            raise wrong_value(value, f"is not a number from 1 to {most:,}")
        return int(value)

    return parse


def parse_date(value: str) -> date:
    try:
        return date.fromisoformat(value)
    except ValueError:
        raise wrong_value(value, "is not a date such as 2026-05-01") from None


def parse_order(value: str) -> str:
    from io_benchmark.analysis.fleet.orders import ORDERS
    from io_benchmark.suggestions import did_you_mean

    if value not in ORDERS:
        problem = f"is not an order of pools; use one of these: {', '.join(ORDERS)}"
        raise wrong_value(value, problem + did_you_mean(value, ORDERS))
    return value


def parse_prices(path: str) -> "dict[str, Price]":
    from io_benchmark.costs.prices import read_prices

    return read_prices(parse_path(path))


def parse_expectation(value: str) -> "Expectation":
    from io_benchmark.analysis.expectations import Expectation

    return Expectation.parse(value)


def parse_gate(value: str) -> "Gate":
    from io_benchmark.analysis.gate.gate_model import Gate

    return Gate.parse(value)
