# SPDX-License-Identifier: MPL-2.0
"""Every cause with recorded trees that support it, and trees that rule it out.

A row: the cause, the slower side's tree, the faster side's, and the workload that differs. The times
are seed 000's (1.92 times as long) for cache-retrieve, and by `times` for the others. A row also has
what a worker measures and no tree holds: `seen` and `seen_faster` are observations of a workload,
`facts` and `facts_faster` are parts of the document.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from io_benchmark.analysis.model import State

RETRIEVE, RANDOM, SPAWN, SYNC = "cache-retrieve", "random-io", "spawn", "sync-write"
METADATA, EXEC, UPLOAD = "metadata", "exec", "upload"
MS, MIB = 1_000_000, 1024 * 1024


@dataclass(frozen=True)
class Row:
    cause: str
    state: State
    slower: str
    faster: str
    workload: str = RETRIEVE
    times: Mapping[str, float] = field(default_factory=dict)  # of the slower side, by workload
    also_measured: tuple[str, ...] = ()  # further workloads that both sides measured
    seen: Mapping[str, Any] = field(default_factory=dict)
    seen_faster: Mapping[str, Any] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
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


# --- what a worker measured, which no tree holds ---

ENTRY = "workloads.0"
Change = Callable[[list[int]], list[int]]


def column(change: Callable[[int, int], float]) -> Change:
    """Change each value by its position."""
    return lambda values: [round(change(at, value)) for at, value in enumerate(values)]


SLOW_LOOKUPS = {f"{ENTRY}.samples.lookup_ns": column(lambda _, ns: ns + 40 * MS)}
SLOWING_DOWN = {f"{ENTRY}.samples.copy_ns": column(lambda at, ns: ns * (1 + at / 1000))}
NO_WAITS = {"timeline.columns.psi_io_some_us": column(lambda _at, _us: 0)}
READ_AGAIN = {
    f"{ENTRY}.device_bytes": lambda moved: {
        name: {**each, "read": each["written"]} for name, each in moved.items()
    }
}
REAL = {f"{ENTRY}.fidelity": "real"}
OLD_CP = {"host.tools.cp.version": "cp (GNU coreutils) 8.32"}
BUSY_KERNEL = {"timeline.columns.own_system_ms": column(lambda _, ms: 4 * ms)}
PRESSED = {"timeline.columns.psi_cpu_some_us": column(lambda at, _: 300_000 * at)}
WARM = {f"{ENTRY}.cache_state.resident_bytes": 5700 * MIB}
FEW = {f"{ENTRY}.samples": lambda samples: {name: rows[:200] for name, rows in samples.items()}}
REFLINKED = {f"{ENTRY}.shares_extents": True}
COSTLY_MEMORY = {"host.first_touch_ns_per_mib": [2 * MS] * 8}
FRESH = {f"{ENTRY}.destination": "fresh"}
LITTLE_MEMORY = {"host.memory_available_bytes": 4096 * MIB}
LATE = {"metadata/visibility": {"not_visible": 200, "longest_invisible_ns": 5 * MS}}
STALLED = {"upload/connection-each": {"expect_100_stalls": 50}}
APPENDING = {"sync-write/dsync-append": 5.0}
# 20 ms per write that commits the journal, as measured; a write in place does not wait.
STARVED = {"sync-write/dsync-append": 110.0, "sync-write/append-fsync": 100.0}
LOCKED = {"metadata/stat/2": 2.0, "metadata/stat/4": 5.0}

ROWS = (
    triggers("device-count", "gcp-amd-16", "gcp-intel"),
    triggers("device-count", "lab-one-disk", "lab-two-striped"),
    triggers("device-count", "vm-lvm-one-disk", "vm-lvm-striped"),
    rules_out("device-count", "vm-lvm-linear", "vm-lvm-striped"),
    rules_out("device-count", "vm-lvm-linear-io-hints", "vm-lvm-striped-io-hints"),
    rules_out("device-count", "gcp-amd-30", "gcp-intel"),
    rules_out("device-count", "vm-lvm-linear", "vm-lvm-one-disk"),
    rules_out("device-count", "vm-lvm-striped-io-hints", "vm-lvm-striped"),
    triggers("linear-volume", "gcp-amd-30-linear", "gcp-intel"),
    triggers("linear-volume", "lab-two-linear", "lab-two-striped"),
    triggers("linear-volume", "vm-lvm-linear", "vm-lvm-striped"),
    # Over disks that announce sizes of I/O, ext4 has stripe= on a linear volume as well.
    triggers("linear-volume", "vm-lvm-linear-io-hints", "vm-lvm-striped"),
    triggers("linear-volume", "vm-lvm-linear-io-hints", "vm-lvm-striped-io-hints"),
    rules_out("linear-volume", "gcp-amd-16", "gcp-intel"),
    rules_out("linear-volume", "lab-one-disk", "lab-two-striped"),
    rules_out("linear-volume", "vm-lvm-one-disk", "vm-lvm-striped"),
    rules_out("linear-volume", "vm-lvm-one-disk", "vm-lvm-striped-io-hints"),
    triggers("boot-disk-fallback", "gcp-boot-disk", "gcp-intel"),
    triggers("boot-disk-fallback", "gcp-boot-disk", "gcp-intel", SYNC),
    rules_out("boot-disk-fallback", "gcp-amd-16", "gcp-intel"),
    triggers("disk-speed", "gcp-amd-30", "gcp-intel"),
    rules_out("disk-speed", "gcp-amd-16", "gcp-intel"),
    leaves_open("cgroup-io-limit", "lab-capped", "lab-ext4-none"),
    triggers("cgroup-io-limit", "lab-capped", "lab-ext4-none", SYNC),
    triggers("cgroup-io-limit", "gcp-amd-16-capped", "gcp-amd-16"),
    rules_out("cgroup-io-limit", "lab-ext4-bfq", "lab-ext4-none", SYNC),
    rules_out("cgroup-io-limit", "gcp-amd-16", "gcp-intel"),
    rules_out("cgroup-io-limit", "vm-lvm-one-disk", "vm-lvm-striped"),
    triggers("cgroup-memory-limit", "lab-little-memory", "lab-ext4-none", facts=READ_AGAIN),
    rules_out("cgroup-memory-limit", "lab-capped", "lab-ext4-none"),
    triggers("cgroup-cpu-limit", "lab-half-a-cpu", "lab-ext4-none", SPAWN),
    rules_out("cgroup-cpu-limit", "lab-capped", "lab-ext4-none", SPAWN),
    leaves_open("storage-place", "lab-overlay-1-layer", "lab-ext4-none"),
    leaves_open("storage-place", "podman-container", "podman-volume"),
    leaves_open("storage-place", "lab-ext4-none", "lab-tmpfs"),
    rules_out("storage-place", "podman-volume-bfq", "podman-volume"),
    rules_out("storage-place", "vm-lvm-one-disk", "vm-lvm-striped"),
    rules_out("storage-place", "lab-overlay-21-layers", "lab-overlay-1-layer"),
    leaves_open("file-system", "lab-one-disk", "lab-ext4-none"),
    leaves_open("file-system", "lab-one-disk", "lab-ext4-none", METADATA),
    rules_out("file-system", "lab-capped", "lab-ext4-none"),
    leaves_open("device-layers", "lab-one-disk", "gcp-intel"),
    rules_out("device-layers", "gcp-amd-16", "gcp-intel"),
    rules_out("ext4-flush", "gcp-amd-16", "gcp-intel"),
    rules_out("ext4-flush", "vm-lvm-one-disk", "vm-lvm-striped"),
    triggers("ext4-flush", "lab-ext4-none", "lab-ext4-noauto_da_alloc"),
    rules_out("ext4-flush", "lab-ext4-noauto_da_alloc", "lab-ext4-none"),
    rules_out("ext4-flush", "lab-xfs-bfq", "lab-one-disk"),
    triggers("reflink", "lab-ext4-bfq", "lab-xfs-bfq", facts_faster=REFLINKED),
    rules_out("reflink", "lab-ext4-bfq", "lab-ext4-none"),
    leaves_open("mount-options", "lab-ext4-sync", "lab-ext4-none"),
    leaves_open("mount-options", "lab-ext4-none", "gcp-intel"),
    rules_out("mount-options", "lab-capped", "lab-ext4-none"),
    rules_out("mount-options", "gcp-amd-16", "gcp-intel"),
    rules_out("mount-options", "vm-lvm-one-disk", "vm-lvm-striped"),
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
    rules_out("volatile-overlay", "lab-overlay-21-layers", "lab-overlay-1-layer", SYNC),
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
    rules_out("scheduler-idling", "cfq-ext4-deadline", "cfq-xfs", SYNC),
    rules_out("scheduler-idling", "cfq-ext4-no-idling", "cfq-ext4-deadline", SYNC),
    rules_out("scheduler-idling", "lab-ext4-bfq-root-group", "lab-ext4-none", SYNC),
    rules_out("scheduler-idling", "lab-xfs-bfq", "lab-ext4-none", SYNC),
    rules_out("scheduler-idling", "lab-ext4-none", "lab-xfs-bfq", SYNC),
    rules_out("scheduler-idling", "lab-ext4-bfq-no-idling", "lab-ext4-none", SYNC),
    triggers("scheduler-starvation", "lab-ext4-bfq-starving", "lab-ext4-none", SYNC, times=STARVED),
    rules_out(
        "scheduler-starvation", "lab-ext4-bfq-starving", "lab-ext4-none", SYNC, times=APPENDING
    ),
    rules_out(
        "scheduler-starvation", "lab-ext4-bfq-starving", "lab-ext4-none", also_measured=(SYNC,)
    ),
    rules_out("scheduler-starvation", "lab-ext4-bfq", "lab-ext4-none", SYNC, times=STARVED),
    leaves_open("scheduler", "lab-ext4-bfq-root-group", "lab-ext4-none"),
    leaves_open("scheduler", "cfq-ext4-no-idling", "cfq-ext4-deadline", SYNC),
    rules_out("scheduler", "lab-capped", "lab-ext4-none"),
    rules_out("scheduler", "vm-lvm-one-disk", "vm-lvm-striped"),
    # What is a separate cause does not count twice.
    rules_out("scheduler", "lab-ext4-bfq", "lab-ext4-none", SYNC, times=APPENDING),
    rules_out("scheduler", "lab-ext4-bfq-starving", "lab-ext4-none", SYNC, times=STARVED),
    triggers("page-cache-state", "gcp-amd-16", "gcp-intel", facts=FEW, facts_faster=FEW | WARM),
    rules_out("page-cache-state", "gcp-amd-16", "gcp-intel"),
    leaves_open(
        "dirty-limit", "gcp-amd-16", "gcp-intel", facts=FRESH | LITTLE_MEMORY, facts_faster=FRESH
    ),
    rules_out("dirty-limit", "gcp-amd-16", "gcp-intel"),
    triggers("memory-first-touch", "gcp-amd-16", "gcp-intel", facts=COSTLY_MEMORY),
    rules_out("memory-first-touch", "gcp-amd-16", "gcp-intel"),
    triggers("cpu", "gcp-amd-16", "gcp-intel", facts=BUSY_KERNEL),
    rules_out("cpu", "gcp-amd-16", "gcp-intel"),
    triggers("kernel", "cfq-ext4-root-group", "lab-ext4-bfq-root-group", facts=BUSY_KERNEL),
    rules_out("kernel", "gcp-amd-16", "gcp-intel"),
    leaves_open(
        "image-and-tools", "cfq-ext4-root-group", "lab-ext4-bfq-root-group", facts=SLOW_LOOKUPS
    ),
    triggers(
        "image-and-tools",
        "cfq-ext4-root-group",
        "lab-ext4-bfq-root-group",
        facts=REAL | OLD_CP,
        facts_faster=REAL,
    ),
    rules_out("image-and-tools", "gcp-amd-16", "gcp-intel"),
    triggers(
        "lookup-cost",
        "gcp-amd-16",
        "gcp-intel",
        facts=SLOW_LOOKUPS | NO_WAITS,
        facts_faster=NO_WAITS,
    ),
    rules_out("lookup-cost", "gcp-amd-16", "gcp-intel"),
    triggers(
        "spawn-cost",
        "gcp-amd-16",
        "gcp-intel",
        also_measured=(SPAWN,),
        times={SPAWN: 100},
        facts=SLOW_LOOKUPS | NO_WAITS,
        facts_faster=NO_WAITS,
    ),
    rules_out("spawn-cost", "gcp-amd-16", "gcp-intel", also_measured=(SPAWN,), times={SPAWN: 1.06}),
    triggers("random-io", "gcp-amd-16", "gcp-intel", RANDOM),
    leaves_open("random-io", "gcp-amd-16", "gcp-intel", also_measured=(RANDOM,), times={RANDOM: 2}),
    rules_out("random-io", "gcp-amd-16", "gcp-intel", also_measured=(RANDOM,)),
    triggers("slow-flush", "gcp-amd-16", "gcp-intel", SYNC),
    rules_out("slow-flush", "gcp-amd-16", "gcp-intel", SYNC, times=APPENDING),
    rules_out("slow-flush", "lab-overlay-1-layer", "lab-overlay-volatile", SYNC),
    triggers("slow-journal", "gcp-amd-16", "gcp-intel", SYNC, times=APPENDING),
    rules_out("slow-journal", "gcp-amd-16", "gcp-intel", SYNC),
    rules_out("slow-journal", "lab-ext4-bfq", "lab-ext4-none", SYNC, times=APPENDING),
    rules_out("slow-journal", "lab-ext4-bfq-starving", "lab-ext4-none", SYNC, times=STARVED),
    triggers("metadata-lock", "docker-aufs", "docker-overlay2", METADATA, times=LOCKED),
    rules_out("metadata-lock", "docker-aufs", "docker-overlay2", METADATA),
    rules_out("metadata-lock", "lab-half-a-cpu", "lab-ext4-none", METADATA, times=LOCKED),
    triggers("overlay-layers", "lab-overlay-21-layers", "lab-overlay-1-layer", METADATA),
    rules_out("overlay-layers", "lab-overlay-1-layer", "lab-overlay-volatile", METADATA),
    rules_out("overlay-layers", "lab-overlay-1-layer", "lab-overlay-21-layers", METADATA),
    rules_out("overlay-layers", "docker-aufs", "docker-overlay2", METADATA),
    triggers(
        "files-not-visible",
        "docker-aufs",
        "docker-overlay2",
        METADATA,
        times={"metadata/visibility": 10},
        seen=LATE,
    ),
    rules_out("files-not-visible", "docker-aufs", "docker-overlay2", METADATA),
    triggers("per-builder-copies", "lab-tmpfs", "lab-tmpfs", EXEC, times={"exec/copies": 1.7}),
    rules_out("per-builder-copies", "lab-tmpfs", "lab-tmpfs", EXEC),
    triggers(
        "expect-continue-stall",
        "gcp-amd-16",
        "gcp-intel",
        UPLOAD,
        times={"upload/connection-each": 150},
        seen=STALLED,
    ),
    rules_out("expect-continue-stall", "gcp-amd-16", "gcp-intel", UPLOAD),
    triggers(
        "connection-each", "gcp-amd-16", "gcp-intel", UPLOAD, times={"upload/connection-each": 3}
    ),
    rules_out("connection-each", "gcp-amd-16", "gcp-intel", UPLOAD, times={"upload/keep-alive": 3}),
    # Where nothing else differs.
    triggers("drift-over-time", "gcp-amd-16", "gcp-amd-16", facts=SLOWING_DOWN),
    rules_out("drift-over-time", "gcp-amd-16", "gcp-intel"),
    triggers("other-load", "gcp-amd-16", "gcp-intel", facts=PRESSED),
    rules_out("other-load", "gcp-amd-16", "gcp-intel"),
)
