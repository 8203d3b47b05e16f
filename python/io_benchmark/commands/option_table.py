# SPDX-License-Identifier: MPL-2.0
"""Options as a table: help, completion and the checks of a command line follow from it.

A command has groups of options. A value is in the result only if it was given, because defaults
belong to what uses them: the operation's own options.
"""

import argparse
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from io_benchmark.errors import UsageError

if TYPE_CHECKING:  # --help needs no data classes
    from msgspec import Struct

OptionsType = TypeVar("OptionsType", bound="Struct")
Given = Mapping[str, Any]  # by the name of the option: `worker_variation`
_NOTHING: Mapping[str, str] = MappingProxyType({})


class Option(NamedTuple):
    """An option or a positional argument."""

    names: tuple[str, ...]
    help: str
    settings: Mapping[str, Any]  # argparse's own
    excludes: Mapping[str, str]  # options that cannot be given with it, and why
    needs: tuple[str, ...]  # at least one of these must be given with it
    needs_reason: str

    @property
    def key(self) -> str:
        """Return the name under which its value is given."""
        return str(self.settings.get("dest", self.names[-1].lstrip("-").replace("-", "_")))

    @property
    def title(self) -> str:
        """Return the name in messages: `--since`, or `ADDRESS` of a positional argument."""
        name = self.names[-1]
        return name if name.startswith("-") else str(self.settings.get("metavar", name))


Groups = Mapping[str, Sequence[Option]]  # by title


def option(
    *names: str,
    help: str,  # noqa: A002 - as argparse calls it
    excludes: Mapping[str, str] = _NOTHING,
    needs: Sequence[str] = (),
    needs_reason: str = "",
    **settings: Any,
) -> Option:
    """Return an option with a value, or whatever else the settings of argparse make of it."""
    return Option(names, help, settings, excludes, tuple(needs), needs_reason)


def flag(*names: str, help: str, **rules: Any) -> Option:  # noqa: A002 - as argparse calls it
    """Return an option without a value."""
    return option(*names, help=help, action="store_true", **rules)


def repeatable(*names: str, help: str, **settings: Any) -> Option:  # noqa: A002 - as argparse calls it
    """Return an option that can be given more than once."""
    return option(*names, help=help, action="append", **settings)


def add_options(parser: argparse.ArgumentParser, groups: Groups) -> None:
    """Add all options to a parser."""
    for title, options in groups.items():
        group = parser.add_argument_group(title)
        for entry in options:
            settings = {"default": argparse.SUPPRESS, **entry.settings}
            group.add_argument(*entry.names, help=entry.help, **settings)


def check_options(groups: Groups, given: Given) -> None:
    """Refuse options that exclude each other, and those without what they need."""
    options = {entry.title: entry for entries in groups.values() for entry in entries}
    present = [entry for entry in options.values() if is_given(entry, given)]
    for entry in present:
        for name, reason in entry.excludes.items():
            if is_given(options[name], given):
                why = f": {reason}" if reason else ""
                raise UsageError(f"{name} cannot be combined with {entry.title}{why}; omit one")
    for entry in present:
        if entry.needs and not any(is_given(options[name], given) for name in entry.needs):
            raise UsageError(
                f"{entry.title} needs {entry.needs[0]}{entry.needs_reason}; use both or none"
            )


def is_given(entry: Option, given: Given) -> bool:
    """Return whether the command line has this option, or any of this argument's values."""
    return given.get(entry.key) not in (None, [])


def read_options(kind: type[OptionsType], given: Given) -> OptionsType:
    """Return an operation's options: what was given, else its defaults."""
    return kind(**_selected(given, kind.__struct_fields__))


def _selected(given: Given, names: Iterable[str]) -> dict[str, Any]:
    return {name: given[name] for name in names if name in given}
