# SPDX-License-Identifier: MPL-2.0
"""Options as a table: the help, the values and the checks of a command line follow from it.

A command has groups of options. A value is in the result only if it was given, because defaults
belong to what uses them: the operation's own options.
"""

import argparse
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from io_benchmark.analysis.statistics.levels import DEFAULT_MARGIN
from io_benchmark.errors import UsageError
from io_benchmark.suggestions import did_you_mean
from io_benchmark.text import clean, clean_name

if TYPE_CHECKING:  # --help needs no data classes
    from io_benchmark.analysis.expectations import Expectation
    from io_benchmark.costs.worker_time import Price

Given = Mapping[str, Any]  # by the name of the option: `worker_variation`
_VALUE_LENGTH = 100  # characters of a wrong value in a message
REPORT_OUTPUT = "output (* can be given more than once)"


class _Option(NamedTuple):
    """An option or a positional argument."""

    names: tuple[str, ...]
    summary: str
    settings: Mapping[str, Any]  # argparse's own
    excludes: Mapping[str, str]  # options that cannot be given with it, and why
    needs: tuple[str, ...] = ()  # at least one of these must be given with it

    @property
    def title(self) -> str:
        """Return the name in messages: `--since`, or `ADDRESS` of a positional argument."""
        name = self.names[-1]
        return name if name.startswith("-") else str(self.settings["metavar"])


Groups = Mapping[str, Sequence[_Option]]  # by title


def parse_name(value: str) -> str:
    """Return a name, address or path; a lone dash is none, so that no file gets this name."""
    if value == "-":
        raise wrong_value(value, "is not a name; stdin and stdout cannot be used here")
    return value


def parse_path(value: str) -> Path:
    return Path(parse_name(value))


def option(
    names: str,
    value: str,
    summary: str,
    parse: Callable[[str], Any] = parse_name,
    *,
    excludes: Mapping[str, str] | None = None,
    needs: tuple[str, ...] = (),
    **settings: Any,
) -> _Option:
    """Return an option with a value, such as `-j, --jobs NAME`; without dashes, an argument."""
    settings = {"metavar": value, "type": parse, **settings}
    return _Option(tuple(names.split(", ")), summary, settings, excludes or {}, needs)


def flag(name: str, summary: str, excludes: Mapping[str, str] | None = None) -> _Option:
    """Return an option without a value."""
    return _Option((name,), summary, {"action": "store_true"}, excludes or {})


class _PerPool(argparse.Action):
    """Collects values by pool, of an option that can be given once per pool."""

    def __call__(self, _parser: Any, namespace: Any, pair: Any, title: Any = None) -> None:
        values, (pool, value) = getattr(namespace, self.dest, {}), pair
        if pool in values:
            name = f"{title} {clean_name(pool)}={clean(str(value), _VALUE_LENGTH)}"
            raise UsageError(f"{name}: pool given twice; use each pool once")
        setattr(namespace, self.dest, {**values, pool: value})


def per_pool(pattern: str, problem: str, convert: Callable[[str], Any] = str) -> Mapping[str, Any]:
    """Return the settings of an option `POOL=VALUE`; the pattern has a group for each."""

    def parse(pair: str) -> tuple[str, Any]:
        match = re.fullmatch(pattern, pair)
        if match is None:
            raise wrong_value(pair, problem)
        return match[1], convert(match[2])

    return {"parse": parse, "action": _PerPool}


def add_options(parser: argparse.ArgumentParser, groups: Groups) -> list[argparse.Action]:
    """Add the options to a parser, and return what argparse makes of each."""
    actions = []
    for title, options in groups.items():
        group = parser.add_argument_group(title)
        for entry in options:
            settings = {"default": argparse.SUPPRESS, **entry.settings}
            actions.append(group.add_argument(*entry.names, help=entry.summary, **settings))
    return actions


def check_options(groups: Groups, given: Given) -> None:
    """Refuse options that exclude each other, and those without what they need."""
    present = {
        entry.title: entry
        for entries in groups.values()
        for entry in entries
        if entry.names[-1].lstrip("-").replace("-", "_") in given
    }
    for title, entry in present.items():
        for name, reason in entry.excludes.items():
            if name in present:
                why = f": {reason}" if reason else ""
                raise UsageError(f"{name} cannot be combined with {title}{why}; omit one")
    for title, entry in present.items():
        if entry.needs and not present.keys() & set(entry.needs):
            raise UsageError(f"{title} needs {entry.needs[0]}; use both or none")


def arguments(operation: Callable[..., Any], given: Given) -> dict[str, Any]:
    """Return the arguments of an operation, or of its options, that were given; others have its defaults."""
    from inspect import signature

    return {name: given[name] for name in signature(operation).parameters if name in given}


def wrong_value(value: str, problem: str) -> argparse.ArgumentTypeError:
    """Return the error about an option's value: 'x' is not such a thing."""
    return argparse.ArgumentTypeError(f"{clean(value, _VALUE_LENGTH)!r} {problem}")


def matching(
    pattern: str, problem: str, convert: Callable[[str], Any] = str
) -> Callable[[str], Any]:
    """Return what parses the value of an option that has a pattern."""

    def parse(value: str) -> Any:
        if not re.fullmatch(pattern, value):
            raise wrong_value(value, problem)
        return convert(value)

    return parse


def parse_percentage(value: str) -> float:
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)%?", value)
    if match is None or not 0 < float(match[1]) < 100:
        raise wrong_value(value, "is not a percentage such as 5%")
    return float(match[1]) / 100


def whole_number(most: int) -> Callable[[str], int]:
    """Return what parses the value of an option that is a number from 1 to `most`."""

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


def _parse_names(value: str) -> list[str]:
    names = [name for name in value.split(",") if name]
    if not names:
        raise wrong_value(value, "contains no name; try io-benchmark")
    return names


def _parse_prices(path: str) -> "dict[str, Price]":
    from io_benchmark.costs.prices import read_prices

    return read_prices(parse_path(path))


def _parse_expectation(value: str) -> "Expectation":
    from io_benchmark.analysis.expectations import Expectation

    return Expectation.parse(value)


# Of `--budget`.
parse_hours = matching(r"(?=.*[1-9])[0-9]{1,6}(\.[0-9]{1,3})?", "is not a number above 0", float)
BASELINE = option("--baseline", "POOL", "pool to compare the others with")
MARGIN = option(
    "--margin",
    "PERCENT",
    f"smaller differences count as equal (default: {100 * DEFAULT_MARGIN:g}%%)",
    parse_percentage,
)
PROJECT = option("--project", "NAME", "project in the index (default: io-benchmark)")
PRICES = option("--prices", "FILE", "prices of worker hours, to show costs in money", _parse_prices)
ROOT = option(
    "--root",
    "DIR",
    "tree with taskcluster/ (default: the checkout around this folder, else the installed copy)",
    parse_path,
)


JOBS = option("-j, --jobs", "NAME[,NAME]", "tasks by job_try_name, label or pool", _parse_names)
AGAINST = option(
    "--against",
    "ADDRESS",
    "compare each pool with what it has there",
    nargs="+",
    excludes={"--baseline": "each pool is its own baseline"},
)
EXPECT = option(
    "--expect",
    "A/B<RATIO",
    "exit with 3 if 'a/b<1.05 on sync-write' is not proven *",
    _parse_expectation,
    action="append",
)


def report_options(formats: Collection[str]) -> tuple[_Option, ...]:
    """Return `--format`, `--json` and `--write`, of a command that ends in a report."""
    listed = ", ".join(formats)

    def parse_target(value: str) -> tuple[str, Path]:
        form, equals, path = value.partition("=")
        if form not in formats or not equals or not path:
            problem = f"is not FORMAT=FILE; use one of these formats: {listed}"
            raise wrong_value(value, problem + did_you_mean(form, formats))
        if path == "-":
            raise wrong_value(value, f"is not a file; --format {form} prints to stdout")
        return form, Path(path)

    return (
        option(
            "--format",
            "FORMAT",
            f"format printed to stdout: {listed} (default: text)",
            choices=formats,
        ),
        flag("--json", "same as --format json", excludes={"--format": ""}),
        option(
            "--write",
            "FORMAT=FILE",
            "also write this format to FILE *",
            parse_target,
            action="append",
        ),
    )
