# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""From recorded trees of /proc and /sys to causes, the whole way that a measurement takes.

The worker's observers look at the tree, what they say goes into a result document, the format's own
reader takes it, and `compare` judges it. The rows are in tests/helpers/tree_cases.py.
"""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
import trees
from cause_texts import texts
from record_tree import IDENTIFIER
from seed_workers import measured, workers
from tree_cases import RETRIEVE, ROWS, Row

from io_benchmark.analysis.compare import Options, compare
from io_benchmark.analysis.diagnosis.cause_rule import NOTHING_TO_EXPLAIN
from io_benchmark.analysis.diagnosis.causes import RULES
from io_benchmark.analysis.model import Cause, State
from io_benchmark.analysis.plan import Pair, Plan
from io_benchmark.analysis.statements import statement

# Trees of unlike places are compared for what tells them apart, as with --allow.
ALLOWED = Options(allow=frozenset({"place-kind", "reflink", "cache-state"}))
# The pools whose times the sides have.
SLOWER, FASTER = "amd-16", "intel"
Seen = Callable[[str], dict[str, Any]]


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """What the worker's observers say of a tree."""
    known: dict[str, dict[str, Any]] = {}

    def of(name: str) -> dict[str, Any]:
        if name not in known:
            known[name] = trees.observe(trees.load(name), tmp_path_factory.mktemp(name))
        return known[name]

    return of


def on_its_disks(observed: Mapping[str, Any]) -> dict[str, Any]:
    """The seed's counters, which name its own disks, under the names of the tree's."""
    (place,) = observed["storage"]["places"]
    leaves = [device["name"] for device in place["devices"] if not device["below"]]

    def moved(device_bytes: Mapping[str, Mapping[str, int]]) -> dict[str, Any]:
        totals = {
            what: sum(each[what] for each in device_bytes.values()) for what in ("read", "written")
        }
        return {
            leaf: {what: total // len(leaves) for what, total in totals.items()} for leaf in leaves
        }

    return {
        "workloads.0.device_bytes": moved,
        "timeline.devices": lambda found: dict.fromkeys(leaves, next(iter(found.values()))),
    }


def document_of(
    row: Row, machine: Mapping[str, Any], facts: Mapping[str, Any], **entries: Any
) -> dict[str, Any]:
    """What changes in the seed's document: where it was measured, and what was."""
    task = {f"task.{name}": machine["task"][name] for name in ("instance_type", "location")}
    places = {name: machine[name] for name in ("host", "storage", "limits")}
    change = {**task, **places, **on_its_disks(machine), **facts}
    if row.workload == RETRIEVE and not row.beside:
        return change
    only = row.beside if row.workload == RETRIEVE else (row.workload, *row.beside)
    added = measured(only=only, **entries)["workloads"]
    if row.workload == RETRIEVE:
        return change | {"workloads": added}
    return change | {"workloads": lambda _: added([])}


def cause_of(row: Row, seen: Seen, *, slower_is_candidate: bool = True) -> Cause:
    times = row.times or ({} if row.workload == RETRIEVE else {row.workload: 2.0})
    change = {
        SLOWER: document_of(row, seen(row.slower), row.facts, slower=times, observed=row.seen),
        FASTER: document_of(
            row, seen(row.faster), row.facts_faster, observed=row.seen_faster, seed=2
        ),
    }
    found = workers(pools=(FASTER, SLOWER), change=change)
    candidate, baseline = (SLOWER, FASTER) if slower_is_candidate else (FASTER, SLOWER)
    plan = Plan("trees", baseline, "for the test", (Pair(candidate, baseline),))
    report = compare(plan, found, ALLOWED)
    (diagnosis,) = [
        one for one in report.diagnoses if one.subject and one.subject.workload == row.workload
    ]
    return next(cause for cause in diagnosis.causes if cause.name == row.cause)


@pytest.mark.parametrize("candidate", ["slower", "faster"])
@pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in ROWS])
def test_a_tree_decides_its_cause(row: Row, candidate: str, seen: Seen) -> None:
    """What a machine shows of itself names its cause, whichever of the two is the baseline."""
    found = cause_of(row, seen, slower_is_candidate=candidate == "slower")
    assert found.state is row.state, found
    assert statement(NOTHING_TO_EXPLAIN) not in found.explanation
    assert all(texts(found))


def test_every_cause_has_both() -> None:
    """No cause without a tree that triggers it and one that rules it out."""
    rows = {(row.cause, row.state) for row in ROWS}
    assert rows == {
        (rule.name, state) for rule in RULES for state in (State.SUPPORTED, State.RULED_OUT)
    }


@pytest.mark.parametrize("name", trees.names())
def test_a_tree_is_readable(name: str) -> None:
    """It says where it is from, names no machine, and stands as the recorder writes it."""
    text = (trees.FOLDER / f"{name}.tree").read_text(encoding="utf-8")
    tree = trees.parse(text)
    assert tree.origin.startswith(("recorded in ", "written after "))
    assert not IDENTIFIER.search(text)
    assert trees.as_text(tree) == text


def test_every_tree_is_used() -> None:
    """A tree that decides nothing is left over from something."""
    assert {name for row in ROWS for name in (row.slower, row.faster)} == set(trees.names())
