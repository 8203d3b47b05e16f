# SPDX-License-Identifier: MPL-2.0
"""Every command that the program tells people to type is one that it takes."""

import ast
import html
import importlib
import inspect
import io
import itertools
import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import program
import pytest
import settings
from checkout import ROOT
from divided_reports import to_be_confirmed
from golden import ALL
from worker import WORKLOADS

from io_benchmark import command_lines
from io_benchmark.commands.options.option import Given, check_options
from io_benchmark.commands.options.parsers import COMMANDS
from io_benchmark.context import Context
from io_benchmark.operations.group_work import GroupWork
from io_benchmark.report.formats import Layout, rendered
from io_benchmark.sources.taskcluster import addresses
from io_benchmark.submit.definitions import SubmissionOptions

GROUP = "Fqm6GL_zRPurCmd1rRuTRQ"
# A new parameter needs values here.
VALUES: dict[str, list[Any]] = {
    "group_id": [GROUP, "-ROjBvgiQRSGhmTMtWQsBA"],
    "baseline_or_gates": [None, "intel", ["amd-30/intel<1.1", "amd-16/intel<1.05"]],
    "gates": [[], ["amd-30/intel<1.1", "amd-16/intel<1.05"]],
    "budget_hours": [None, 8],
    "address": [f"group:{GROUP}", Path("a folder/it's")],
    "candidate": [f"group:{GROUP}", "a folder"],
    "baseline": ["past/results", "it's"],
    "pool": ["amd-16", "POOL"],
    "folder": ["results", "FOLDER"],
    "places": [[], ["cache"]],
    "addresses": [[f"group:{GROUP}"]],
    "label": ["build-linux64/opt", "a 'label' (1)"],
    "task_id": [GROUP],
    "pools": [["amd-16"], ["amd-16", "intel"]],
    "file": ["io-benchmark.pyz", "a file.pyz"],
    "tree": [None, Path("a tree")],
    "checkout": [Path("a 'checkout'")],
}
FUNCTIONS = {
    name: function
    for name, function in inspect.getmembers(command_lines, inspect.isfunction)
    if not name.startswith("_")
}
MODULES = sorted((ROOT / "python/io_benchmark").rglob("*.py"))
NAMES = "|".join(COMMANDS)
# A command, or what looks like a part of one: `compare --details`
COMMAND = re.compile(
    rf"(?:io-benchmark (?:{NAMES})|io-benchmark\.pyz (?:run|measure))\b"
    rf"|(?<![\w-])(?:{NAMES}) --[a-z]"
)
REPORTS: dict[str, Callable[[], Any]] = {**ALL, "to be confirmed": to_be_confirmed}
# How a format marks a command: reports write none without.
MARKED = {
    "text": "`([^`\n]+)`",
    "markdown": "`([^`\n]+)`",
    "html": "<code>([^<]+)</code>",
    "json": "`([^`\n]+)`",
}
# The worker's program, mach and cp have these.
OF_OTHER_PROGRAMS = {"--place", "--worker-override", "--remove-destination"}
# Names of the firefox command in what it writes; they are not to be typed.
MENTIONED = {"adopt/firefox_checkout.py", "adopt/firefox_kind.py"}


def lines_of(name: str) -> Iterator[str]:
    function = FUNCTIONS[name]
    values = [VALUES[parameter] for parameter in inspect.signature(function).parameters]
    yield from (function(*chosen) for chosen in itertools.product(*values))


def check(line: str) -> None:
    """Parse a command as the program does; its addresses are of the kind that it takes."""
    name, command, *arguments = shlex.split(line)
    if (name, command) == ("python3", "io-benchmark.pyz"):
        run, *options = arguments
        assert run == "run"
        assert settings.parse(options, WORKLOADS)
        return
    assert name == "io-benchmark"
    given = program.parse(command, *arguments)
    check_options(importlib.import_module(f"io_benchmark.commands.{command}").OPTIONS, Given(given))
    for option in ("resume", "confirm", "cancel"):
        if command == "submit" and option in given:
            context = Context(None, io.StringIO(), io.StringIO(), {})
            GroupWork.find(f"--{option}", given[option], SubmissionOptions(), context)
    for address in (*given.get("addresses", ()), *given.get("against", ())):
        addresses.parse(address, {})


@pytest.mark.parametrize("name", FUNCTIONS)
def test_parsed(name: str) -> None:
    """Whatever the values are."""
    lines = [*lines_of(name)]
    assert len({*lines}) == len(lines)
    for line in lines:
        check(line)


def literals(module: Path) -> Iterator[str]:
    """Yield the texts of a module that a user may see: no docstring, no example of --help."""
    tree = ast.parse(module.read_text(encoding="utf-8"))
    hidden = set[int]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in ("EXAMPLES", "USAGE"):
            hidden.update(map(id, ast.walk(node)))
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            hidden.add(id(node.value))
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in hidden
        ):
            yield node.value


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(ROOT / "python")))
def test_written_in_one_place(module: Path) -> None:
    """No other module has a command in a text, so that the test above sees all of them."""
    found = [text for text in literals(module) if COMMAND.search(text)]
    is_mentioned = str(module.relative_to(ROOT / "python/io_benchmark")) in MENTIONED
    assert bool(found) is is_mentioned, found


def test_what_looks_like_a_command() -> None:
    """The expression finds whole commands and parts of them, and no other words."""
    for text in (
        "try io-benchmark compare a",
        "(submit --confirm task:",
        "compare --details shows",
    ):
        assert COMMAND.search(text)
    for text in ("io-benchmark results", "trials --confirm", "re-compare --details", "compare a"):
        assert not COMMAND.search(text)


@pytest.mark.parametrize("form", MARKED)
@pytest.mark.parametrize("report", REPORTS)
def test_printed(report: str, form: str) -> None:
    """What a report prints in a format can be copied from it and is taken."""
    printed = html.unescape(rendered(REPORTS[report](), form, Layout(details=True, columns=200)))
    # The page's script makes text of its form, which is there for readers as well.
    printed = re.sub(' data-command="[^"]*"', "", printed)
    marked = [text for text in re.findall(MARKED[form], printed) if COMMAND.search(text)]
    assert len(marked) == len(COMMAND.findall(printed))
    for line in marked:
        check(line)


@pytest.mark.parametrize("report", ["to be confirmed", "investigation: a change"])
@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_some_reports_print_one(report: str, form: str) -> None:
    """Otherwise the test above would see none."""
    assert COMMAND.search(rendered(REPORTS[report](), form, Layout(details=True)))


def test_options() -> None:
    """An option that a report names is one of a command, or of another program."""
    titles = {
        name
        for command in COMMANDS
        for group in importlib.import_module(f"io_benchmark.commands.{command}").OPTIONS.values()
        for option in group
        for name in option.names
    }
    rooms = ("analysis", "report")
    named = {
        option
        for module in MODULES
        if module.relative_to(ROOT / "python/io_benchmark").parts[0] in rooms
        for text in literals(module)
        if "<" not in text  # custom properties of the page's style
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)
    }
    assert named >= {"--baseline", "--details"}
    assert named - titles <= OF_OTHER_PROGRAMS
