# SPDX-License-Identifier: MPL-2.0
"""Options as a table: the help, the values and the checks of a command line follow from it.

A command has groups of options. It passes each value by name to what uses it, such as
`margin=given[MARGIN]`, so that a type checker sees whether the value fits.
"""

import argparse
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from io_benchmark.commands.options.values import VALUE_LENGTH, wrong_value
from io_benchmark.errors import UsageError
from io_benchmark.text import clean, clean_name

V = TypeVar("V")
Value_co = TypeVar("Value_co", covariant=True)
Default = TypeVar("Default")


class Option(NamedTuple, Generic[Value_co]):
    """An option or a positional argument that gives a value of this type."""

    names: tuple[str, ...]
    summary: str
    default: Any  # unused where the option is required
    settings: Mapping[str, Any]  # argparse's own
    excludes: Mapping[str, str]  # options that cannot be given with it, and why
    needs: tuple[str, ...] = ()  # at least one of these must be given with it

    @property
    def title(self) -> str:
        """Return the name in messages: `--since`, or `ADDRESS` of a positional argument."""
        name = self.names[-1]
        return name if name.startswith("-") else str(self.settings["metavar"])

    @property
    def key(self) -> str:
        """Return the name by which argparse stores the value: `worker_variation`."""
        return self.names[-1].lstrip("-").replace("-", "_")


Groups = Mapping[str, Sequence[Option[Any]]]  # by title


class Given:
    """The values of a command line: those that a user gave, and the defaults of the others."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values  # only those that a user gave, by the option's key

    def __contains__(self, option: Option[Any]) -> bool:
        return option.key in self._values

    def __getitem__(self, option: Option[V]) -> V:
        value: V = self._values.get(option.key, option.default)
        return value


def option(
    names: str,
    value: str,
    summary: str,
    parse: Callable[[str], V],
    *,
    default: Default,
    excludes: Mapping[str, str] | None = None,
    needs: tuple[str, ...] = (),
    **settings: Any,
) -> Option[V | Default]:
    """Return an option with a value, such as `-j, --jobs NAME`."""
    settings = {"metavar": value, "type": parse, **settings}
    return Option(tuple(names.split(", ")), summary, default, settings, excludes or {}, needs)


def required(
    names: str, value: str, summary: str, parse: Callable[[str], V], **settings: Any
) -> Option[V]:
    """Return an option that must be given; without dashes, a positional argument."""
    settings = {"metavar": value, "type": parse, **settings}
    if names.startswith("-"):
        settings["required"] = True
    return Option(tuple(names.split(", ")), summary, None, settings, {})


def several(
    name: str,
    value: str,
    summary: str,
    parse: Callable[[str], V],
    *,
    excludes: Mapping[str, str] | None = None,
    needs: tuple[str, ...] = (),
    **settings: Any,
) -> Option[Sequence[V]]:
    """Return an option that takes one or more values at once, such as `--on ADDRESS ...`."""
    settings = {"metavar": value, "type": parse, "nargs": "+", **settings}
    return Option((name,), summary, (), settings, excludes or {}, needs)


def repeatable(
    name: str,
    value: str,
    summary: str,
    parse: Callable[[str], V],
    *,
    excludes: Mapping[str, str] | None = None,
) -> Option[Sequence[V]]:
    """Return an option that can be given more than once."""
    settings = {"metavar": value, "type": parse, "action": "append"}
    return Option((name,), summary, (), settings, excludes or {})


def flag(name: str, summary: str, excludes: Mapping[str, str] | None = None) -> Option[bool]:
    """Return an option without a value."""
    return Option((name,), summary, False, {"action": "store_true"}, excludes or {})


class _PerPool(argparse.Action):
    """Collects values by pool, of an option that can be given once per pool."""

    def __call__(self, _parser: Any, namespace: Any, pairs: Any, title: Any = None) -> None:
        values = dict(getattr(namespace, self.dest, {}))
        for pool, value in pairs:
            if pool in values:
                name = f"{title} {clean_name(pool)}={clean(str(value), VALUE_LENGTH)}"
                raise UsageError(f"{name}: pool given twice; use each pool once")
            values[pool] = value
        setattr(namespace, self.dest, values)


def per_pool(
    name: str,
    value: str,
    summary: str,
    pattern: str,
    problem: str,
    convert: Callable[[str], V],
    *,
    separator: str | None = None,
) -> Option[Mapping[str, V]]:
    """Return an option `POOL=VALUE`; the pattern has a group for each of both.

    With a separator, one value of the option may have several pairs.
    """

    def parse(pairs: str) -> list[tuple[str, V]]:
        matches = []
        for pair in pairs.split(separator) if separator else [pairs]:
            match = re.fullmatch(pattern, pair)
            if match is None:
                raise wrong_value(pair, problem)
            matches.append((match[1], convert(match[2])))
        return matches

    return Option((name,), summary, {}, {"metavar": value, "type": parse, "action": _PerPool}, {})


def add_options(parser: argparse.ArgumentParser, groups: Groups) -> list[argparse.Action]:
    """Add the options to a parser, and return what argparse makes of each."""
    actions = []
    for title, options in groups.items():
        group = parser.add_argument_group(title)
        for entry in options:
            settings = dict(entry.settings)
            # The result has only what a user gave. An optional argument needs its default here:
            # Python 3.11 parses the mark SUPPRESS as if it were a value.
            is_optional_argument = settings.get("nargs") == "?"
            settings["default"] = entry.default if is_optional_argument else argparse.SUPPRESS
            actions.append(group.add_argument(*entry.names, help=entry.summary, **settings))
    return actions


def check_options(groups: Groups, given: Given) -> None:
    """Refuse options that exclude each other, and those without what they need."""
    present = {
        entry.title: entry for entries in groups.values() for entry in entries if entry in given
    }
    for title, entry in present.items():
        for name, reason in entry.excludes.items():
            if name in present:
                why = f": {reason}" if reason else ""
                raise UsageError(f"{name} cannot be combined with {title}{why}; omit one")
    for title, entry in present.items():
        if entry.needs and not present.keys() & set(entry.needs):
            raise UsageError(f"{title} needs {entry.needs[0]}; use both or none")
