# SPDX-License-Identifier: MPL-2.0
"""From recorded trees of /proc and /sys to causes, through all that a measurement passes.

The worker's observers read the tree and write a result document; the format's reader parses it, and
`compare` judges it. A row of the table: the cause, the slower side's tree, the faster side's, and
the workload that differs. The times are seed 000's (1.92 times as long) for cache-retrieve, and by
`times` for the others.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import pytest
import trees
from msgspec import convert
from seed_workers import measured, texts, workers

from io_benchmark.analysis.compare import compare
from io_benchmark.analysis.comparing.pairs import Options
from io_benchmark.analysis.model.cause import Cause, State
from io_benchmark.analysis.model.plan import Plan
from io_benchmark.analysis.reading.disks import Stack
from io_benchmark.results.machine import StoragePlace

# Trees of unlike places are compared for what tells them apart, as with --allow.
ALLOWED = Options(allow=frozenset({"place-kind", "reflink", "cache-state"}))
# The pools whose times the sides have.
SLOWER, FASTER = "amd-16", "intel"
Seen = Callable[[str], dict[str, Any]]
# Identifiers: of file systems, volumes, containers, machines.
IDENTIFIER = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{24,}\b"
    r"|(?<=\bLVM-)[0-9A-Za-z]{64}\b"
)
RETRIEVE, SPAWN, SYNC, METADATA = "cache-retrieve", "spawn", "sync-write", "metadata"


@dataclass(frozen=True)
class Row:
    cause: str
    state: State
    slower: str
    faster: str
    workload: str = RETRIEVE
    times: Mapping[str, float] = field(default_factory=dict)  # of the slower side, by workload
    also_measured: tuple[str, ...] = ()  # further workloads that both sides measured
    facts: Mapping[str, Any] = field(default_factory=dict)  # what no tree holds
    facts_faster: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"{self.cause}-{self.state.value}-{self.slower}-{self.faster}-{self.workload}"


def triggers(cause: str, slower: str, faster: str, workload: str = RETRIEVE, **more: Any) -> Row:
    return Row(cause, State.SUPPORTED, slower, faster, workload, **more)


def leaves_open(cause: str, slower: str, faster: str, workload: str = RETRIEVE, **more: Any) -> Row:
    """The setting differs, and nothing shows what it costs."""
    return Row(cause, State.NOT_SEPARABLE, slower, faster, workload, **more)


def rules_out(cause: str, slower: str, faster: str, workload: str = RETRIEVE, **more: Any) -> Row:
    return Row(cause, State.RULED_OUT, slower, faster, workload, **more)


READ_AGAIN = {
    "workloads.0.device_bytes": lambda moved: {
        name: {**counts, "read": counts["written"]} for name, counts in moved.items()
    }
}
HAS_LOCAL_SSDS = {"task.instance_type": "c3d-standard-16-lssd"}
FRESH = {"workloads.0.destination": "fresh"}
APPENDING = {"sync-write/dsync-append": 5.0}
# 20 ms per write that commits the journal, as measured; a write in place does not wait.
STARVED = {"sync-write/dsync-append": 110.0, "sync-write/append-fsync": 100.0}

ROWS = (
    triggers("device-count", "gcp-amd-16", "gcp-intel"),
    triggers("device-count", "lab-one-disk", "lab-two-striped"),
    triggers("device-count", "vm-lvm-one-disk", "vm-lvm-striped"),
    rules_out("device-count", "vm-lvm-linear", "vm-lvm-striped"),
    rules_out("device-count", "vm-lvm-linear-io-hints", "vm-lvm-striped-io-hints"),
    rules_out("device-count", "vm-lvm-striped-io-hints", "vm-lvm-striped"),
    triggers("linear-volume", "gcp-amd-30-linear", "gcp-intel"),
    triggers("linear-volume", "lab-two-linear", "lab-two-striped"),
    triggers("linear-volume", "vm-lvm-linear", "vm-lvm-striped"),
    # Over disks that announce sizes of I/O, ext4 has stripe= on a linear volume as well.
    triggers("linear-volume", "vm-lvm-linear-io-hints", "vm-lvm-striped"),
    triggers("linear-volume", "vm-lvm-linear-io-hints", "vm-lvm-striped-io-hints"),
    rules_out("linear-volume", "gcp-amd-16", "gcp-intel"),
    triggers("network-disk", "gcp-boot-disk", "gcp-intel"),
    triggers("network-disk", "gcp-boot-disk", "gcp-intel", SYNC),
    rules_out("network-disk", "gcp-boot-disk", "gcp-intel", facts=HAS_LOCAL_SSDS),
    triggers("boot-disk-fallback", "gcp-boot-disk", "gcp-intel", facts=HAS_LOCAL_SSDS),
    triggers("boot-disk-fallback", "gcp-boot-disk", "gcp-intel", SYNC, facts=HAS_LOCAL_SSDS),
    rules_out("boot-disk-fallback", "gcp-amd-16", "gcp-intel"),
    triggers("disk-speed", "gcp-amd-30", "gcp-intel"),
    rules_out("disk-speed", "gcp-amd-16", "gcp-intel"),
    leaves_open("cgroup-io-limit", "lab-capped", "lab-ext4-none"),
    triggers("cgroup-io-limit", "lab-capped", "lab-ext4-none", SYNC),
    triggers("cgroup-io-limit", "gcp-amd-16-capped", "gcp-amd-16"),
    rules_out("cgroup-io-limit", "lab-ext4-bfq", "lab-ext4-none", SYNC),
    triggers("cgroup-memory-limit", "lab-little-memory", "lab-ext4-none", facts=READ_AGAIN),
    rules_out("cgroup-memory-limit", "lab-capped", "lab-ext4-none"),
    triggers("cgroup-cpu-limit", "lab-half-a-cpu", "lab-ext4-none", SPAWN),
    rules_out("cgroup-cpu-limit", "lab-capped", "lab-ext4-none", SPAWN),
    leaves_open("storage-place", "lab-overlay-1-layer", "lab-ext4-none"),
    leaves_open("storage-place", "podman-container", "podman-volume"),
    leaves_open("storage-place", "lab-ext4-none", "lab-tmpfs"),
    rules_out("storage-place", "podman-volume-bfq", "podman-volume"),
    rules_out("storage-place", "lab-overlay-21-layers", "lab-overlay-1-layer"),
    leaves_open("file-system", "lab-one-disk", "lab-ext4-none"),
    leaves_open("file-system", "lab-one-disk", "lab-ext4-none", METADATA),
    rules_out("file-system", "lab-capped", "lab-ext4-none"),
    leaves_open("device-layers", "lab-one-disk", "gcp-intel"),
    rules_out("device-layers", "gcp-amd-16", "gcp-intel"),
    rules_out("ext4-flush", "gcp-amd-16", "gcp-intel"),
    triggers("ext4-flush", "lab-ext4-none", "lab-ext4-noauto_da_alloc"),
    rules_out("ext4-flush", "lab-ext4-noauto_da_alloc", "lab-ext4-none"),
    rules_out("ext4-flush", "lab-xfs-bfq", "lab-one-disk"),
    leaves_open("mount-options", "lab-ext4-sync", "lab-ext4-none"),
    leaves_open("mount-options", "lab-ext4-none", "gcp-intel"),
    rules_out("mount-options", "lab-capped", "lab-ext4-none"),
    triggers("volatile-overlay", "lab-overlay-1-layer", "lab-overlay-volatile", SYNC),
    triggers(
        "volatile-overlay",
        "lab-overlay-1-layer",
        "lab-overlay-volatile",
        facts=FRESH,
        facts_faster=FRESH,
    ),
    rules_out("volatile-overlay", "lab-overlay-1-layer", "lab-overlay-volatile"),
    rules_out("volatile-overlay", "lab-overlay-volatile", "lab-overlay-1-layer", SYNC),
    triggers("scheduler-idling", "cfq-ext4", "cfq-ext4-deadline", SYNC, times=APPENDING),
    triggers("scheduler-idling", "cfq-ext4", "cfq-xfs", SYNC, times=APPENDING),
    triggers("scheduler-idling", "lab-ext4-bfq", "lab-ext4-none", SYNC, times=APPENDING),
    triggers("scheduler-idling", "podman-volume-bfq", "podman-volume", SYNC, times=APPENDING),
    leaves_open("scheduler-idling", "lab-ext4-bfq", "lab-ext4-none"),
    triggers("scheduler-idling", "lab-ext4-bfq", "lab-xfs-bfq", SYNC, times=APPENDING),
    rules_out("scheduler-idling", "lab-ext4-bfq", "lab-ext4-none", also_measured=(SYNC,)),
    # Each of the four preconditions absent.
    rules_out("scheduler-idling", "cfq-ext4-root-group", "cfq-ext4-deadline", SYNC),
    rules_out("scheduler-idling", "cfq-xfs", "cfq-ext4-deadline", SYNC),
    rules_out("scheduler-idling", "cfq-ext4-no-idling", "cfq-ext4-deadline", SYNC),
    rules_out("scheduler-idling", "lab-ext4-bfq-root-group", "lab-ext4-none", SYNC),
    rules_out("scheduler-idling", "lab-xfs-bfq", "lab-ext4-none", SYNC),
    rules_out("scheduler-idling", "lab-ext4-bfq-no-idling", "lab-ext4-none", SYNC),
    leaves_open("scheduler", "lab-ext4-bfq-root-group", "lab-ext4-none"),
    leaves_open("scheduler", "cfq-ext4-no-idling", "cfq-ext4-deadline", SYNC),
    rules_out("scheduler", "lab-capped", "lab-ext4-none"),
    # What is a separate cause does not count twice.
    rules_out("scheduler", "lab-ext4-bfq", "lab-ext4-none", SYNC, times=APPENDING),
    triggers("scheduler", "lab-ext4-bfq-starving", "lab-ext4-none", SYNC, times=STARVED),
    leaves_open("scheduler", "lab-ext4-bfq-starving", "lab-ext4-none", SYNC, times=APPENDING),
    leaves_open("scheduler", "lab-ext4-bfq-starving", "lab-ext4-none"),
    triggers("overlay-layers", "lab-overlay-21-layers", "lab-overlay-1-layer", METADATA),
    rules_out("overlay-layers", "lab-overlay-1-layer", "lab-overlay-21-layers", METADATA),
    rules_out("overlay-layers", "docker-overlay2", "lab-overlay-21-layers", METADATA),
)


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
    """Return the seed's counters under the names of the tree's disks, as a cgroup allows."""
    (place,) = observed["storage"]["places"]
    leaves = [device["name"] for device in place["devices"] if not device["below"]]
    is_linear = (stack := Stack.under(convert(place, StoragePlace))) is not None and stack.linear
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
            for name in ("read_bytes", "written_bytes")
            if (each := [device[name] for device in devices.values()])
        }
        # Each disk is busy for as long as one of the seed's.
        columns["busy_ms"] = next(iter(devices.values()))["busy_ms"]
        begin, *_ = written = columns["written_bytes"]
        fastest = max(after - before for before, after in pairwise(written))  # in a second
        # Slower than the striped volumes of the trees, which a cgroup limits.
        held = 0.02 if is_linear else min([1.0, *(limit / fastest for limit in limits)])
        columns["written_bytes"] = [begin + round(held * (value - begin)) for value in written]
        return dict.fromkeys(leaves, columns)

    return {"workloads.0.device_bytes": moved, "timeline.devices": counted}


def document_of(
    row: Row, machine: Mapping[str, Any], facts: Mapping[str, Any], **entries: Any
) -> Any:
    """Return what changes in the seed's document: where it was measured, and what."""
    task = {f"task.{name}": machine["task"][name] for name in ("instance_type", "location")}
    places = {name: machine[name] for name in ("host", "storage", "limits")}
    change = {**task, **places, **on_its_disks(machine), **facts}
    if row.workload != RETRIEVE:
        added = measured(only=(row.workload, *row.also_measured), **entries)["workloads"]
        return change | {"workloads": lambda _: added([])}
    if row.also_measured:
        change |= {"workloads": measured(only=row.also_measured, **entries)["workloads"]}
    return change


def causes_of(row: Row, seen: Seen) -> Iterator[Cause]:
    """Yield the cause where the slower side is the candidate, and where it is the baseline."""
    times = row.times or ({} if row.workload == RETRIEVE else {row.workload: 2.0})
    change = {
        SLOWER: document_of(row, seen(row.slower), row.facts, slower=times),
        FASTER: document_of(row, seen(row.faster), row.facts_faster, seed=2),
    }
    measured_workers = workers(pools=(FASTER, SLOWER), change=change)
    for candidate, baseline in ((SLOWER, FASTER), (FASTER, SLOWER)):
        plan = Plan("trees", baseline, "for the test", ((candidate, baseline),))
        report = compare(plan, measured_workers, ALLOWED)
        (diagnosis,) = [
            diagnosis
            for diagnosis in report.diagnoses
            if diagnosis.subject and diagnosis.subject.workload == row.workload
        ]
        yield next(cause for cause in diagnosis.causes if cause.name == row.cause)


@pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in ROWS])
def test_a_tree_decides_its_cause(row: Row, seen: Seen) -> None:
    """A machine's observations lead to the cause, whichever side is the baseline."""
    for cause in causes_of(row, seen):
        assert cause.state is row.state, cause
        assert all(texts(cause))


@pytest.mark.parametrize("name", trees.names())
def test_a_tree_is_readable(name: str) -> None:
    """It says where it is from, and identifies no machine."""
    assert trees.load(name).origin.startswith(("recorded in ", "written after "))
    assert not IDENTIFIER.search((trees.FOLDER / f"{name}.tree").read_text(encoding="utf-8"))


def test_every_tree_is_used() -> None:
    """Every tree is in a row."""
    assert {name for row in ROWS for name in (row.slower, row.faster)} == set(trees.names())
