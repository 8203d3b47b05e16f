# SPDX-License-Identifier: MPL-2.0
"""Options: what a user gives arrives, else the default; a command reads each option that it has."""

import argparse
import ast
import importlib
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from io_benchmark.commands import output
from io_benchmark.commands.options.option import (
    Given,
    Option,
    add_options,
    flag,
    option,
    per_pool,
    repeatable,
    required,
    several,
)
from io_benchmark.commands.options.parsers import COMMANDS
from io_benchmark.commands.options.values import parse_name, parse_path, whole_number

# What output.py reads for a command that calls this function
READ_BY_PRINTERS = {
    "print_report": ("print_report",),
    "print_comparison": ("print_comparison", "print_report"),
}


def tree_of(module: ModuleType) -> ast.Module:
    assert module.__file__ is not None
    return ast.parse(Path(module.__file__).read_text(encoding="utf-8"))


def titles_read(module: ModuleType, code: ast.AST) -> set[str]:
    """Return the titles of the options that code of a module reads, as `given[NAME]`."""
    titles = set()
    for node in ast.walk(code):
        if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "given":
            entry: Option[Any] = attrgetter(ast.unparse(node.slice))(module)
            titles.add(entry.title)
    return titles


def titles_printed(code: ast.AST) -> set[str]:
    """Return the titles of the options that output.py reads for this code."""
    functions = {
        node.name: node for node in tree_of(output).body if isinstance(node, ast.FunctionDef)
    }
    called = {ast.unparse(node.func) for node in ast.walk(code) if isinstance(node, ast.Call)}
    return {
        title
        for printer in called & set(READ_BY_PRINTERS)
        for name in READ_BY_PRINTERS[printer]
        for title in titles_read(output, functions[name])
    }


@pytest.mark.parametrize("command", COMMANDS)
def test_each_option_is_read(command: str) -> None:
    """A command reads the options that it has, all of them, and no others."""
    module = importlib.import_module(f"io_benchmark.commands.{command}")
    titles = {entry.title for group in module.OPTIONS.values() for entry in group}
    code = tree_of(module)
    read = titles_read(module, code)
    assert read <= titles
    assert titles <= read | titles_printed(code)


ADDRESSES = several("addresses", "ADDRESS", "", parse_name, nargs="*")
LAST = option("--last", "N", "", whole_number(9), default=3)
OUTPUT = required("-o, --output", "FILE", "", parse_path)
AT = per_pool("--at", "POOL=N", "", "([a-z]+)=([0-9])", "is not POOL=N", int)
ALLOW = repeatable("--allow", "RULE", "", parse_name)
DRY_RUN = flag("--dry-run", "")
FOLDER = option("folder", "DIR", "", parse_path, default=Path(), nargs="?")


def given(*words: str) -> list[Any]:
    """Return the value of each option for a command line, and which of them a user gave."""
    parser = argparse.ArgumentParser()
    options = (ADDRESSES, LAST, OUTPUT, AT, ALLOW, DRY_RUN)
    add_options(parser, {"all": options})
    values = Given(vars(parser.parse_args(words)))
    return [
        [values[entry] for entry in options],
        [entry.title for entry in options if entry in values],
    ]


@pytest.mark.parametrize(
    ("words", "values", "titles"),
    [
        pytest.param("-o x", [(), 3, Path("x"), {}, (), False], ["--output"], id="defaults"),
        pytest.param(
            "a b --last 5 --output x --at c=1 --at d=2 --allow r --allow s --dry-run",
            [["a", "b"], 5, Path("x"), {"c": 1, "d": 2}, ["r", "s"], True],
            ["ADDRESS", "--last", "--output", "--at", "--allow", "--dry-run"],
            id="all given",
        ),
        # A user may give what is the default.
        pytest.param(
            "-o x --last 3", [(), 3, Path("x"), {}, (), False], ["--last", "--output"], id="equal"
        ),
    ],
)
def test_values(words: str, values: list[Any], titles: list[str]) -> None:
    """Each option has the value that was given, else its default."""
    assert given(*words.split()) == [values, titles]


@pytest.mark.parametrize(("words", "folder"), [([], Path()), (["a"], Path("a"))])
def test_an_argument_that_may_be_missing(words: list[str], folder: Path) -> None:
    """It has its default, which no parser has seen."""
    parser = argparse.ArgumentParser()
    add_options(parser, {"all": (FOLDER,)})
    assert Given(vars(parser.parse_args(words)))[FOLDER] == folder
