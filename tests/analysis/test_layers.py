# SPDX-License-Identifier: MPL-2.0
"""Imports between the rooms of analysis and report go in one direction."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import io_benchmark

PACKAGE = Path(io_benchmark.__file__).parent
# Each room imports from those before it.
ANALYSIS = ("observed", "inference", "parts", "trials", "validity", "summary", "diagnosis")
# A prediction needs what trials measured and which runs are valid, and no comparison.
PREDICTION = ("observed", "inference", "parts", "trials", "validity", "prediction")
# A history judges one pool over time, without diagnosis.
HISTORY = ("observed", "inference", "validity", "history")
# Real tasks are compared by the same statistics.
TASKS = ("observed", "inference", "tasks")
REPORT = ("content", "sections", "formats")


def imports_of(path: Path) -> Iterator[str]:
    """Every module that a module imports, also within functions: 'analysis.observed.limits'."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def rooms_imported(layer: str, room: str) -> set[str]:
    """The other rooms of a layer that one room imports from."""
    prefix = f"io_benchmark.{layer}."
    names = (
        name.removeprefix(prefix).split(".")[0]
        for path in (PACKAGE / layer / room).rglob("*.py")
        for name in imports_of(path)
        if name.startswith(prefix)
    )
    return {name for name in names if (PACKAGE / layer / name).is_dir()} - {room}


ORDERS = {"analysis": (ANALYSIS, PREDICTION, HISTORY, TASKS), "report": (REPORT,)}


@pytest.mark.parametrize("layer", ORDERS)
def test_rooms_import_only_from_earlier_rooms(layer):
    """No cycles, no room knows what uses it, and a new room is added to the order here."""
    for rooms in ORDERS[layer]:
        for number, room in enumerate(rooms):
            assert rooms_imported(layer, room) <= set(rooms[:number]), room
    folders = {path.parent.name for path in (PACKAGE / layer).glob("*/__init__.py")}
    assert folders == {room for rooms in ORDERS[layer] for room in rooms}


@pytest.mark.parametrize(
    ("layer", "above"),
    [
        # Of sources only the types of what was read.
        ("analysis", ("report", "commands", "cli")),
        # A report is made from the analysis' data alone.
        ("report", ("commands", "cli", "sources")),
        ("operations", ("commands", "cli")),
        ("commands", ("cli",)),
    ],
)
def test_a_layer_knows_nothing_above_it(layer, above):
    """Imports go down only."""
    names = {name for path in (PACKAGE / layer).rglob("*.py") for name in imports_of(path)}
    prefixes = tuple(f"io_benchmark.{name}" for name in above)
    assert not [name for name in names if name.startswith(prefixes)]
