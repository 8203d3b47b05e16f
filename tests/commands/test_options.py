# SPDX-License-Identifier: MPL-2.0
"""The table of options: what is in the result, and which command lines are refused."""

import argparse
from typing import Any

import pytest
from msgspec import Struct

from io_benchmark.commands.options import (
    add_options,
    check_options,
    flag,
    option,
    read_options,
    repeatable,
)
from io_benchmark.errors import UsageError

OPTIONS = {
    "what": (
        option("addresses", "ADDRESS", "", nargs="*", excludes={"--project": ""}),
        option("--project", "NAME", ""),
        option("-n, --number-of-runs", "N", "", int),
    ),
    "how": (
        repeatable("--allow", "RULE", ""),
        flag("--all", "", excludes={"--number-of-runs": "it means every run"}),
        flag("--stat", "", needs=("--all", "--allow"), needs_reason=", which it counts"),
    ),
}


class Options(Struct, frozen=True, kw_only=True):
    project: str = "default"
    number_of_runs: int = 3
    all: bool = False


def parse(*arguments: str) -> dict[str, Any]:
    parser = argparse.ArgumentParser()
    add_options(parser, OPTIONS)
    given = vars(parser.parse_args(arguments))
    check_options(OPTIONS, given)
    return given


@pytest.mark.parametrize(
    ("arguments", "given", "options"),
    [
        ("", {}, Options()),
        ("-n 3", {"number_of_runs": 3}, Options()),
        ("--all", {"all": True}, Options(all=True)),
        (
            "a b --allow x --allow y --stat",
            {"addresses": ["a", "b"], "allow": ["x", "y"], "stat": True},
            Options(),
        ),
        ("--project p", {"project": "p"}, Options(project="p")),
    ],
)
def test_only_given_values(arguments, given, options):
    """What was not given gets the operation's default, and is not in the result."""
    values = parse(*arguments.split())
    assert {key: value for key, value in values.items() if value != []} == given
    assert read_options(Options, values) == options


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("a --project p", "--project cannot be combined with ADDRESS; omit one"),
        (
            "--all -n 3",
            "--number-of-runs cannot be combined with --all: it means every run; omit one",
        ),
        ("--stat", "--stat needs --all, which it counts; use both or none"),
    ],
)
def test_conflicts(arguments, message):
    """An option counts as given also with its default value."""
    with pytest.raises(UsageError) as caught:
        parse(*arguments.split())
    assert str(caught.value) == message
