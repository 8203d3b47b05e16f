# SPDX-License-Identifier: MPL-2.0
"""From recorded trees of /proc and /sys to causes, through all that a measurement passes.

The worker's observers read the tree and write a result document; the format's reader parses it, and
`compare` judges it. The rows are in tests/helpers/tree_cases.py.
"""

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import pytest
import trees
from record_tree import IDENTIFIER
from seed_workers import measured, texts, workers
from tree_cases import RETRIEVE, ROWS, Row

from io_benchmark.analysis.compare import Options, compare
from io_benchmark.analysis.diagnosis.causes import RULES
from io_benchmark.analysis.model import Cause, State
from io_benchmark.analysis.plan import Plan

# Trees of unlike places are compared for what tells them apart, as with --allow.
ALLOWED = Options(allow=frozenset({"place-kind", "reflink", "cache-state"}))
# The pools whose times the sides have.
SLOWER, FASTER = "amd-16", "intel"
Seen = Callable[[str], dict[str, Any]]


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """Return what the worker's observers report about a tree."""
    known: dict[str, dict[str, Any]] = {}

    def of(name: str) -> dict[str, Any]:
        if name not in known:
            known[name] = trees.observe(trees.load(name), tmp_path_factory.mktemp(name))
        return known[name]

    return of


def on_its_disks(observed: Mapping[str, Any]) -> dict[str, Any]:
    """Return the seed's counters under the names of the tree's disks, no faster than a cgroup allows."""
    (place,) = observed["storage"]["places"]
    leaves = [device["name"] for device in place["devices"] if not device["below"]]
    limits = [
        limit["value"]
        for limit in observed["limits"]["io"]
        if limit["kind"] == "write_bytes_per_s" and limit["device_name"] is not None
    ]

    def moved(device_bytes: Mapping[str, Mapping[str, int]]) -> dict[str, Any]:
        totals = {
            what: sum(each[what] for each in device_bytes.values()) for what in ("read", "written")
        }
        return {
            leaf: {what: total // len(leaves) for what, total in totals.items()} for leaf in leaves
        }

    def counted(devices: Mapping[str, Mapping[str, list[int]]]) -> dict[str, Any]:
        if not leaves:
            return {}
        columns = {
            name: [sum(values) // len(leaves) for values in zip(*each, strict=True)]
            for name in ("read_bytes", "written_bytes", "busy_ms")
            if (each := [device[name] for device in devices.values()])
        }
        begin, *_ = written = columns["written_bytes"]
        fastest = max(after - before for before, after in pairwise(written))  # in a second
        held = min([1.0, *(limit / fastest for limit in limits)])
        columns["written_bytes"] = [begin + round(held * (value - begin)) for value in written]
        return dict.fromkeys(leaves, columns)

    return {"workloads.0.device_bytes": moved, "timeline.devices": counted}


def document_of(
    row: Row, machine: Mapping[str, Any], facts: Mapping[str, Any], **entries: Any
) -> dict[str, Any]:
    """Return what changes in the seed's document: where it was measured, and what."""
    task = {f"task.{name}": machine["task"][name] for name in ("instance_type", "location")}
    places = {name: machine[name] for name in ("host", "storage", "limits")}
    change = {**task, **places, **on_its_disks(machine), **facts}
    if row.workload == RETRIEVE and not row.also_measured:
        return change
    only = row.also_measured if row.workload == RETRIEVE else (row.workload, *row.also_measured)
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
    plan = Plan("trees", baseline, "for the test", ((candidate, baseline),))
    report = compare(plan, found, ALLOWED)
    (diagnosis,) = [
        one for one in report.diagnoses if one.subject and one.subject.workload == row.workload
    ]
    return next(cause for cause in diagnosis.causes if cause.name == row.cause)


@pytest.mark.parametrize("candidate", ["slower", "faster"])
@pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in ROWS])
def test_a_tree_decides_its_cause(row: Row, candidate: str, seen: Seen) -> None:
    """A machine's observations lead to the cause, whichever side is the baseline."""
    found = cause_of(row, seen, slower_is_candidate=candidate == "slower")
    assert found.state is row.state, found
    assert found.state is not State.NOT_JUDGED
    assert all(texts(found))


def test_every_cause_has_both() -> None:
    """Every cause has a tree that shows it, if only as one of several, and one that rules it out."""
    rows = {(row.cause, row.state is State.RULED_OUT) for row in ROWS}
    assert rows == {(rule.name, ruled_out) for rule in RULES for ruled_out in (False, True)}


@pytest.mark.parametrize("name", trees.names())
def test_a_tree_is_readable(name: str) -> None:
    """It says where it is from, identifies no machine, and is as the recorder writes it."""
    text = (trees.FOLDER / f"{name}.tree").read_text(encoding="utf-8")
    tree = trees.parse(text)
    assert tree.origin.startswith(("recorded in ", "written after "))
    assert not IDENTIFIER.search(text)
    assert trees.as_text(tree) == text


def test_every_tree_is_used() -> None:
    """Every tree is in a row."""
    assert {name for row in ROWS for name in (row.slower, row.faster)} == set(trees.names())
