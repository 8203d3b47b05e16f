# SPDX-License-Identifier: MPL-2.0
"""Options that several commands have, and the functions that parse their values."""

import argparse
import re
from collections.abc import Callable, Collection
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from io_benchmark.analysis.inference.levels import DEFAULT_MARGIN
from io_benchmark.commands.option_table import Option, flag, option, repeatable
from io_benchmark.text import clean

if TYPE_CHECKING:
    from io_benchmark.analysis.expectations import Expectation
    from io_benchmark.costs.worker_time import Price

_VALUE_LENGTH = 100  # characters of a wrong value in a message
_DATE_FORM = "%Y-%m-%d"


def wrong_value(text: str, problem: str) -> argparse.ArgumentTypeError:
    """Return the error about an option's value: 'x' is not such a thing."""
    return argparse.ArgumentTypeError(f"{clean(text, _VALUE_LENGTH)!r} {problem}")


def parse_percentage(text: str) -> float:
    """Parse the value of an option such as `--margin 5%`."""
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)%?", text)
    if match is None or not 0 < float(match[1]) < 100:
        raise wrong_value(text, "is not a percentage such as 5%")
    return float(match[1]) / 100


def whole_number(most: int) -> Callable[[str], int]:
    """Return what parses the value of an option that is a number from 1 to `most`."""

    def parse(text: str) -> int:
        if not re.fullmatch("[0-9]{1,10}", text) or not 1 <= int(text) <= most:
            raise wrong_value(text, f"is not a number from 1 to {most:,}")
        return int(text)

    return parse


def parse_date(text: str) -> date:
    """Parse the value of an option such as `--since`."""
    try:
        return datetime.strptime(text, _DATE_FORM).replace(tzinfo=UTC).date()
    except ValueError:
        raise wrong_value(text, "is not a date such as 2026-05-01") from None


def parse_names(text: str) -> list[str]:
    """Parse the value of an option such as `-j NAME[,NAME]`."""
    names = [name for name in text.split(",") if name]
    if not names:
        raise wrong_value(text, "contains no name; try io-benchmark")
    return names


def _parse_prices(path: str) -> "dict[str, Price]":
    from io_benchmark.costs.prices import read_prices

    return read_prices(Path(path))


def _parse_expectation(text: str) -> "Expectation":
    from io_benchmark.analysis.expectations import Expectation

    return Expectation.parse(text)


BASELINE = option(
    "--baseline", metavar="POOL", help="pool to compare with (default: the last by name)"
)
MARGIN = option(
    "--margin",
    type=parse_percentage,
    metavar="PERCENT",
    help=f"smaller differences count as equal (default: {100 * DEFAULT_MARGIN:g}%%)",
)
PRICES = option(
    "--prices",
    type=_parse_prices,
    metavar="FILE",
    help="prices of worker hours, to show costs in money",
)
ROOT = option(
    "--root",
    type=Path,
    metavar="DIR",
    help="tree with taskcluster/ (default: the checkout around this folder, else the installed copy)",
)


def against(text: str, **excludes: str) -> Option:
    """Return `--against`, of a command that can compare each pool with itself before a change."""
    return option(
        "--against",
        nargs="+",
        metavar="ADDRESS",
        help=text,
        excludes={"--baseline": "each pool is its own baseline", **excludes},
    )


def expectation(text: str) -> Option:
    """Return `--expect`, of a command that compares pools."""
    return repeatable("--expect", type=_parse_expectation, metavar="A/B<RATIO", help=text)


def report_options(
    formats: Collection[str],
    format_text: str | None = None,
    write_text: str = "also write this format to FILE *",
) -> tuple[Option, ...]:
    """Return `--format`, `--json` and `--write`, of a command that ends in a report."""

    def parse_target(text: str) -> tuple[str, Path]:
        form, equals, path = text.partition("=")
        if form not in formats or not equals or not path:
            listed = ", ".join(formats)
            raise wrong_value(text, f"is not FORMAT=FILE; use one of these formats: {listed}")
        return form, Path(path)

    return (
        option(
            "--format",
            choices=formats,
            metavar="FORMAT",
            help=format_text or f"format printed to stdout: {', '.join(formats)} (default: text)",
        ),
        flag("--json", help="same as --format json", excludes={"--format": ""}),
        repeatable("--write", type=parse_target, metavar="FORMAT=FILE", help=write_text),
    )
