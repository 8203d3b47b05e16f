# SPDX-License-Identifier: MPL-2.0
"""Imports between the rooms of analysis and report go in one direction."""

import ast
from functools import cache
from pathlib import Path

import pytest

import io_benchmark

PACKAGE = Path(io_benchmark.__file__).parent
# Each room, or module between the rooms, imports from those before it.
READING = ("model", "statistics", "reading", "validity")
COMPARISON = (*READING, "comparing", "explaining", "compare")
# A prediction needs what trials measured and which runs are valid, and no comparison.
PREDICTION = (*READING, "comparing", "explaining", "prediction")
# A history judges one pool over time, without diagnosis.
HISTORY = (*READING, "history")
# Real tasks are compared by the same statistics; a benchmark's report may be held against them.
TASKS = (*READING, "phases", "tasks")
# An investigation looks at real tasks over time, and concludes from what the others found.
INVESTIGATION = (*COMPARISON[:-1], "history", "phases", "tasks", "prediction", "investigation")
GATE = (*COMPARISON, "gate")
# A fleet's table has what each pool measured over time, and predictions of tasks.
FLEET = (*PREDICTION, "history", "fleet")
EXPECTATIONS = ("model", "expectations")
REPORT = ("content", "caveats", "links", "drawn", "blocks", "facts", "sections", "formats")


@cache
def imports_of(path: Path) -> list[str]:
    """Every module that a module imports, also within functions: 'analysis.observed.limits'."""
    names: list[str] = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            names += (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            names += (alias.name for alias in node.names)
    return names


def rooms_imported(layer: str, room: str) -> set[str]:
    """The other rooms of a layer that one room imports from."""
    prefix = f"io_benchmark.{layer}."
    paths = [*(PACKAGE / layer / room).rglob("*.py"), PACKAGE / layer / f"{room}.py"]
    return {
        name.removeprefix(prefix).split(".")[0]
        for path in paths
        if path.exists()
        for name in imports_of(path)
        if name.startswith(prefix)
    } - {room}


ORDERS = {
    "analysis": (COMPARISON, PREDICTION, HISTORY, TASKS, INVESTIGATION, GATE, FLEET, EXPECTATIONS),
    "report": (REPORT,),
}


@pytest.mark.parametrize("layer", ORDERS)
def test_rooms_import_only_from_earlier_rooms(layer):
    """No cycles, no room knows what uses it, and a new room is added to the order here."""
    rooms = {path.parent.name for path in (PACKAGE / layer).glob("*/__init__.py")}
    rooms |= {path.stem for path in (PACKAGE / layer).glob("[a-z]*.py")}
    assert rooms == {room for order in ORDERS[layer] for room in order}
    for order in ORDERS[layer]:
        for number, room in enumerate(order):
            assert rooms_imported(layer, room) & rooms <= set(order[:number]), room


@pytest.mark.parametrize(
    ("layer", "above"),
    # Of sources, analysis knows only the types of what was read.
    [("analysis", ("report", "commands", "cli")), ("report", ("commands", "cli", "sources"))],
)
def test_a_layer_knows_nothing_above_it(layer, above):
    """A report is made from the analysis' data alone."""
    names = {name for path in (PACKAGE / layer).rglob("*.py") for name in imports_of(path)}
    prefixes = tuple(f"io_benchmark.{name}" for name in above)
    assert not [name for name in names if name.startswith(prefixes)]
