# SPDX-License-Identifier: MPL-2.0
"""What decides a cause: facts of both sides in, the state out.

All facts are those of seed 000's case, whose slower side takes 69.7 ms longer per retrieve, with the
changes of a row. A state stands for itself; a sentence is the beginning of the explanation. The recorded
trees prove each cause end to end (tests/trees).
"""

from collections.abc import Callable
from functools import partial
from itertools import accumulate
from operator import attrgetter
from typing import Any

import pytest
import seed_case
from msgspec.structs import replace
from seed_facts import (
    COPIED_BYTES,
    ENTRY,
    MIB,
    MS,
    PLACE,
    RATE,
    WRITTEN,
    Facts,
    both_disks,
    changing,
    counting,
    cpu_limit,
    filesystem,
    first,
    fixed_work,
    free_memory,
    further_option,
    held_for,
    idle_writes,
    io_limit,
    last_third,
    longer_first_reads,
    memory_limit,
    more_cpu_time,
    operations_limit,
    options,
    pressed,
    scheduler,
    slow_for_a_while,
    slower_lookups,
    spent,
    stolen,
    taking,
    times_written,
    touching,
    waiting_for_io,
    written,
)
from seed_workers import (
    SUBJECT,
    causes_of,
    explanation_text,
    measurement,
    texts,
    workers,
    workers_of,
)

from io_benchmark.analysis.explaining.case import Case, OtherMeasurement
from io_benchmark.analysis.explaining.causes import RULES
from io_benchmark.analysis.explaining.effects import NOT_MEASURED, Effect, Size
from io_benchmark.analysis.explaining.rules import CauseRule
from io_benchmark.analysis.model.cause import Cause, NoChange, State, TrialOutcome, TrialState
from io_benchmark.analysis.model.comparison import Verdict
from io_benchmark.analysis.model.side import Side
from io_benchmark.analysis.model.statements import statement
from io_benchmark.analysis.model.subject import Subject
from io_benchmark.results.workloads import NOT_VISIBLE, OVER_HARDLINKED, SCALING
from io_benchmark.results.workloads.cache_retrieve import TrialKind

SUPPORTED, RULED_OUT, NOT_OBSERVABLE = State.SUPPORTED, State.RULED_OUT, State.NOT_OBSERVABLE
NOT_SEPARABLE, NOT_JUDGED = State.NOT_SEPARABLE, State.NOT_JUDGED
Expected = State | str  # the beginning of the explanation
Value = tuple[Any, Expected]
FRESH, UNLINK = ({f"{ENTRY}.destination": name} for name in ("fresh", "unlink"))
NO_PLACE, NO_DEVICES, NO_ENTRIES, UNTOUCHED = (
    Facts({path: []})
    for path in ("storage.places", f"{PLACE}.devices", "workloads", "host.first_touch_ns_per_mib")
)
NO_LIMITS, NO_TIMELINE, NO_HOST = {"limits": None}, {"timeline": None}, {"host": None}
ALL_FOR_IO = waiting_for_io(1)
NO_WAITS, NO_COUNTERS = waiting_for_io(0), {"timeline": None, f"{ENTRY}.device_bytes": None}
UNKNOWN_KIND, CRYPT = {f"{PLACE}.kind": "unknown"}, {f"{PLACE}.devices.0.kind": "crypt"}
DISK_MODEL = f"{PLACE}.devices.1.model"
OVERLAY = {"lower_layers": 12, "upper_directory": "/var/lib/docker/x/diff", "volatile": False}
ON_OVERLAY = filesystem("overlay") | {f"{PLACE}.kind": "overlay", f"{PLACE}.overlay": OVERLAY}
MIRROR = {f"{PLACE}.devices.0.stripe_count": None, f"{PLACE}.devices.0.raid_level": "raid1"}
IDLES = scheduler("bfq", slice_idle=8, low_latency=1)
BOTH_IDLE = IDLES | scheduler("bfq", 2, slice_idle=8)  # the faster side has two disks
STARVES = scheduler("bfq", strict_guarantees=1, slice_idle=0)
NO_GROUPS: Facts = {"host.container": None, "limits.groups": {}}
BOTH_GROUPS = {"blkio": "/sys/fs/cgroup/blkio", "unified": "/sys/fs/cgroup/unified/user.slice"}
V1_ROOT = {"host.container": None, "limits.groups": BOTH_GROUPS}
READ = "timeline.devices.nvme1n1.read_bytes"
STARVES_NOT = scheduler("bfq", strict_guarantees=0, slice_idle=0)
EIGHT_GIB = {"host.memory_bytes": 8192 * MIB}
# Half of the usual rate, by a disk that is idle for a fifth of the time.
HALF_RATE = {
    WRITTEN: counting(RATE / 2),
    "timeline.devices.nvme1n1.busy_ms": changing(lambda ms: 0.8 * ms),
}
AS_MUCH_MEANWHILE = FRESH | Facts({f"{ENTRY}.final_sync_device_bytes": {}})


def row(
    name: str,
    state: State,
    situation: str,
    slower: Facts | None = None,
    faster: Facts | None = None,
    **arguments: Any,
) -> Any:
    """The slower side is the candidate, the faster one is intel; both as in the seed's case."""
    change = {arguments.setdefault("candidate", "amd-16"): slower or {}, "intel": faster or {}}
    return pytest.param(name, state, change, arguments, id=f"{name}-{state.value}-{situation}")


AMD_30: dict[str, Any] = {"candidate": "amd-30"}
AS_FRESH: dict[str, Any] = {"subject": replace(SUBJECT, destination="fresh")}
AS_UNLINKED: dict[str, Any] = {"subject": replace(SUBJECT, destination="unlink")}
STATES = [
    row("device-count", NOT_JUDGED, "no comparison", ratio=None),
    row("device-count", NOT_OBSERVABLE, "devices unseen", NO_DEVICES),
    row(
        "device-count", SUPPORTED, "nothing shows waits", NO_TIMELINE | {"task.instance_type": None}
    ),
    row("device-count", RULED_OUT, "a mirror", MIRROR, **AMD_30),
    row("mirrored-volume", NOT_OBSERVABLE, "devices unseen", None, NO_DEVICES),
    row("mirrored-volume", SUPPORTED, "a mirror", MIRROR, **AMD_30),
    row("mirrored-volume", RULED_OUT, "as fast", {**both_disks(2), **MIRROR}, **AMD_30),
    row("linear-volume", NOT_OBSERVABLE, "devices unseen", None, NO_DEVICES),
    row("boot-disk-fallback", NOT_OBSERVABLE, "a model that says nothing", {DISK_MODEL: None}),
    row("disk-speed", RULED_OUT, "nothing waited", NO_WAITS | times_written(0.25), **AMD_30),
    row("disk-speed", NOT_OBSERVABLE, "no counters", NO_COUNTERS),
    row(
        *("cgroup-io-limit", NOT_SEPARABLE, "operations, device unnamed"),
        operations_limit(100, "7:0", None) | HALF_RATE,
    ),
    row("cgroup-io-limit", RULED_OUT, "as fast", operations_limit(100, "7:0", None), **AMD_30),
    row(
        *("cgroup-io-limit", RULED_OUT, "the same, which the faster side does not reach"),
        *(io_limit(330 * MIB), io_limit(330 * MIB) | times_written(0.001)),
    ),
    row("cgroup-io-limit", RULED_OUT, "not enforced", io_limit(0) | HALF_RATE),
    row(
        "cgroup-io-limit",
        RULED_OUT,
        "another device",
        io_limit(200 * MIB, "8:0", "sda") | HALF_RATE,
    ),
    row("cgroup-io-limit", SUPPORTED, "by its number", io_limit(200 * MIB, name="sda") | HALF_RATE),
    row("cgroup-io-limit", SUPPORTED, "by its name", io_limit(200 * MIB, "8:0") | HALF_RATE),
    row("cgroup-io-limit", SUPPORTED, "unnamed", io_limit(200 * MIB, "8:0", None) | HALF_RATE),
    row(
        "cgroup-io-limit",
        RULED_OUT,
        "of reads",
        io_limit(200 * MIB, kind="read_bytes_per_s") | HALF_RATE,
    ),
    row("cgroup-io-limit", NOT_OBSERVABLE, "limits unread", NO_LIMITS),
    row("cgroup-io-limit", NOT_OBSERVABLE, "no hierarchy", {"limits.cgroup_versions": []}),
    row("cgroup-memory-limit", NOT_OBSERVABLE, "limits unread", None, NO_LIMITS),
    row("cgroup-cpu-limit", NOT_OBSERVABLE, "limits unread", None, NO_LIMITS),
    row("storage-place", NOT_OBSERVABLE, "unknown", UNKNOWN_KIND),
    row("storage-place", NOT_OBSERVABLE, "no place", NO_PLACE),
    row("file-system", NOT_OBSERVABLE, "xfs against ext4", filesystem("xfs")),
    row("file-system", NOT_OBSERVABLE, "below an overlay", ON_OVERLAY),
    row("device-layers", NOT_SEPARABLE, "encrypted", CRYPT),
    row("device-layers", NOT_OBSERVABLE, "no place", NO_PLACE),
    row(
        *("ext4-flush", RULED_OUT, "on neither"),
        *(further_option("noauto_da_alloc"), further_option("noauto_da_alloc")),
    ),
    row("ext4-flush", RULED_OUT, "xfs flushes as well", None, filesystem("xfs")),
    row("ext4-flush", RULED_OUT, "btrfs flushes as well", None, filesystem("btrfs")),
    row("ext4-flush", SUPPORTED, "others do not", None, filesystem("f2fs") | written(0.3)),
    row("ext4-flush", RULED_OUT, "another destination", UNLINK, UNLINK, **AS_UNLINKED),
    row("ext4-flush", RULED_OUT, "none waits", NO_WAITS | {"task.instance_type": "m5.large"}),
    row("ext4-flush", NOT_OBSERVABLE, "below an overlay", ON_OVERLAY),
    row(
        *("mount-options", NOT_SEPARABLE, "barrier=1, next to fewer disks"),
        options("rw,barrier=1,data=writeback,commit=60"),
    ),
    row(
        *("mount-options", RULED_OUT, "ext4's defaults by name"),
        *(options("rw,data=ordered,barrier=1,commit=5"), options("rw")),
    ),
    row("mount-options", RULED_OUT, "tuned on the slower side", None, options("rw,stripe=32")),
    row("mount-options", NOT_OBSERVABLE, "of unknown cost", further_option("dioread_lock")),
    row("mount-options", NOT_OBSERVABLE, "no mount", {f"{PLACE}.mount": None}),
    row("volatile-overlay", NOT_OBSERVABLE, "unknown", UNKNOWN_KIND),
    row("scheduler-idling", RULED_OUT, "bfq on both", IDLES, BOTH_IDLE),
    row("scheduler-idling", RULED_OUT, "on the faster side alone", None, BOTH_IDLE),
    row("scheduler-idling", NOT_OBSERVABLE, "no comparison, unseen", scheduler(None), ratio=None),
    row("scheduler-idling", NOT_OBSERVABLE, "below an overlay", IDLES | ON_OVERLAY),
    row("scheduler-idling", NOT_OBSERVABLE, "scheduler unseen", IDLES, scheduler(None)),
    row("scheduler-idling", RULED_OUT, "in v1's root group, whatever v2 has", IDLES | V1_ROOT),
    row("scheduler-idling", NOT_OBSERVABLE, "no groups seen", IDLES | NO_GROUPS),
    row("scheduler", NOT_OBSERVABLE, "deadline against none", scheduler("mq-deadline")),
    row("scheduler", NOT_OBSERVABLE, "unseen", scheduler(None)),
    row(
        *("dirty-limit", NOT_SEPARABLE, "what was written more is not known"),
        *(FRESH | {"host.vm.dirty_ratio": 1, "host.vm.dirty_background_ratio": 1}, FRESH),
        **AS_FRESH,
    ),
    row(
        *("dirty-limit", RULED_OUT, "less room, but as much was written meanwhile"),
        *(AS_MUCH_MEANWHILE | free_memory(4096), AS_MUCH_MEANWHILE),
        **AS_FRESH,
    ),
    row("dirty-limit", NOT_OBSERVABLE, "unknown", {"host.memory_available_bytes": None}),
    row("memory-first-touch", NOT_OBSERVABLE, "unmeasured", UNTOUCHED),
    row("memory-first-touch", NOT_OBSERVABLE, "no fixed work", touching(420), touching(160)),
    row("cpu", NOT_OBSERVABLE, "stolen, and not known of the other", stolen(4000), NO_TIMELINE),
    row("cpu", NOT_OBSERVABLE, "another model, no counters", NO_TIMELINE),
    row("cpu", NOT_OBSERVABLE, "no model", {"host.cpu_model": None}),
    row("kernel", NOT_OBSERVABLE, "another one", {"host.kernel": "5.4"} | NO_TIMELINE),
    row("kernel", NOT_OBSERVABLE, "unseen", NO_HOST | more_cpu_time(4)),
    row("image-and-tools", RULED_OUT, "lookups as fast", {"host.tools.python3.version": "3.8.10"}),
    row("image-and-tools", NOT_OBSERVABLE, "unseen", NO_HOST),
    row("lookup-cost", NOT_OBSERVABLE, "no times", NO_ENTRIES),
    row("spawn-cost", RULED_OUT, "the copies"),
    row("spawn-cost", NOT_OBSERVABLE, "slower lookups", slower_lookups(40)),
    row("spawn-cost", NOT_OBSERVABLE, "no times", NO_ENTRIES),
    row("random-io", NOT_OBSERVABLE, "always"),
    row("drift-over-time", RULED_OUT, "both alike", last_third(2), last_third(2)),
    row("other-load", NOT_OBSERVABLE, "nothing recorded", NO_COUNTERS),
    row("other-load", RULED_OUT, "syncs write it", written(3) | further_option("sync")),
    row("other-load", RULED_OUT, "syncs of folders do", written(3) | further_option("dirsync")),
]


@pytest.mark.parametrize(("name", "state", "change", "arguments"), STATES)
def test_state(name: str, state: State, change: dict[str, Facts], arguments: Any) -> None:
    """Each situation has its state, evidence of both sides and a reason."""
    cause = causes_of(change, **arguments)[name]
    assert cause.state is state
    assert all(texts(cause))
    assert cause.workload is None or cause.state is NOT_OBSERVABLE


TOO_SMALL = "The sides differ in this, but"
EQUAL_COSTS = "The sides differ in nothing that costs time here."
SLOWED_DOWN = "The slower side slowed down during the run, but without that"
NO_SLOWER = "The slower side was no slower at its end."
AS_FAST = "The slower side's disks together wrote as fast."
LIMITED_AS_FAST = "A cgroup limits the slower side's I/O, but its disks move"
BUSY_DISKS = "The slower side's disks were busy"
MOVED_AS_MUCH = "The slower side's disks moved as many bytes"
TIGHTER = "The slower side's memory is limited more tightly, but"
SAME_CPU = {"host.cpu_model": "same"}
LOOKUPS, ALL_WORK = slower_lookups(40), fixed_work(1, 1, 1)
FIXED = ALL_WORK | spent(copy_kernel=20)
KERNEL_WORK = {"host.kernel": "5.4"} | spent(copy_kernel=40) | more_cpu_time(2)
LIMITED_READS = io_limit(100 * MIB, kind="read_bytes_per_s") | {READ: counting(30 * MIB)}


def beside(facts: Facts, of_value: Callable[[Any], Facts]) -> Callable[[Any], Facts]:
    """Return facts of a value, and those that do not change."""
    return lambda value: facts | of_value(value)


def held_back(mib: float) -> Facts:
    return io_limit(mib * MIB) | HALF_RATE


def limit_of_half(mib: float) -> Facts:
    return io_limit(mib * MIB) | NO_TIMELINE | written(0.5)


def held_then_idle(seconds: int) -> Facts:
    return held_for(seconds, 0)


def kernel_copies(time_ms: float) -> Facts:
    return spent(copy_kernel=time_ms)


def busy_disk(share: float, name: str = "nvme1n1") -> Facts:
    """The disk is busy for this share of the time that it was."""
    return {f"timeline.devices.{name}.busy_ms": changing(lambda ms: share * ms)}


def busy(share: float) -> Facts:
    """Both disks of amd-30 are."""
    return busy_disk(share) | busy_disk(share, "nvme2n1")


def reading(share: float) -> Facts:
    """They read nearly as fast as half of the faster side writes, and this share of the bytes copied in all."""
    reads: Facts = {
        f"timeline.devices.{disk}.read_bytes": counting(0.45 * RATE)
        for disk in ("nvme1n1", "nvme2n1")
    }
    moved = {"read": round(share * COPIED_BYTES), "written": COPIED_BYTES}
    return reads | {f"{ENTRY}.device_bytes": {"nvme1n1": moved}}


def falling(share: float) -> Facts:
    """Copies take longer at the end; the disk writes this share of the usual rate, and then little."""

    def column(moved: list[int]) -> list[int]:
        rates = [RATE * (share if 2 * row < len(moved) else 0.2) for row in range(len(moved))]
        return [round(total) for total in accumulate(rates)]

    return last_third(1.6) | ALL_FOR_IO | {WRITTEN: column}


def few_writes(per_s: float) -> Facts:
    return operations_limit(per_s) | HALF_RATE


def limited_volume(mib: float) -> Facts:
    return io_limit(670 * MIB, "dm-0", "dm-0") | {WRITTEN: counting(mib * MIB)}


def slower(
    name: str,
    facts: Callable[[Any], Facts],
    *edge: Value,
    candidate: str = "amd-16",
    faster: Facts | None = None,
    **options: Any,
) -> Any:
    """A row: the cause, its threshold, facts of the slower side, and what two values lead to."""

    def judge(value: Any) -> dict[str, Cause]:
        change = {"intel": faster or {}, candidate: facts(value)}
        return causes_of(change, candidate=candidate, **options)

    return pytest.param(name.partition(":")[0], judge, edge, id=name)


def working(name: str, facts: Callable[[Any], Facts], *edge: Value) -> Any:
    """Both sides did fixed work, and the slower one works for longer in the kernel."""
    return slower(name, beside(KERNEL_WORK, facts), *edge, faster=FIXED)


def halved(facts: Callable[[Any], Facts]) -> Callable[[Any], Facts]:
    """Return these facts, where the disks write half as much."""
    return beside(both_disks(0.5), facts)


two_disks = partial(slower, candidate="amd-30")
EDGES = [
    slower("lookup-cost: a fifth", slower_lookups, (16.5, RULED_OUT), (18.5, NOT_SEPARABLE)),
    slower(
        *("lookup-cost: disks write", beside(LOOKUPS, written)),
        *((0.19, SUPPORTED), (0.21, NOT_SEPARABLE)),
    ),
    slower(
        *("lookup-cost: disks limit", beside(LOOKUPS, waiting_for_io)),
        *((0.19, SUPPORTED), (0.21, NOT_SEPARABLE)),
    ),
    slower("device-count: waits", waiting_for_io, (0.19, RULED_OUT), (0.21, SUPPORTED)),
    slower("device-count: hardly moved", written, (0.19, RULED_OUT), (0.21, SUPPORTED)),
    slower(
        *("device-count: parts", beside(ALL_FOR_IO, kernel_copies)),
        *((62, TOO_SMALL), (59.5, SUPPORTED)),
        faster=ALL_FOR_IO | spent(copy_kernel=5),
    ),
    two_disks("disk-speed: as fast", both_disks, (0.90, TOO_SMALL), (0.925, AS_FAST)),
    two_disks("disk-speed: busy for less", halved(busy), (0.65, BUSY_DISKS), (0.69, SUPPORTED)),
    two_disks(
        "disk-speed: busy most of the time",
        beside(both_disks(0.85), busy),
        (0.79, BUSY_DISKS),
        (0.82, SUPPORTED),
    ),
    two_disks("disk-speed: held back", halved(busy), (0.032, BUSY_DISKS), (0.029, SUPPORTED)),
    two_disks(
        "disk-speed: reads as well", halved(reading), (0.24, SUPPORTED), (0.26, MOVED_AS_MUCH)
    ),
    two_disks(
        "disk-speed: reads less",
        beside(reading(0.3), both_disks),
        (0.42, SUPPORTED),
        (0.46, MOVED_AS_MUCH),
    ),
    slower("cgroup-io-limit: reached", held_back, (229, RULED_OUT), (227, SUPPORTED)),
    slower("cgroup-io-limit: enforced", held_back, (154, RULED_OUT), (157, SUPPORTED)),
    slower(
        *("cgroup-io-limit: above what busy disks write", beside(held_back(220), busy_disk)),
        *((0.92, SUPPORTED), (0.95, RULED_OUT)),
    ),
    slower(
        "cgroup-io-limit: above them, though idle disks wrote nearly as much",
        beside(held_back(220) | idle_writes(210), busy_disk),
        *((0.92, SUPPORTED), (0.95, RULED_OUT)),
    ),
    slower(
        "cgroup-io-limit: disks that also read",
        lambda rate: held_back(220) | busy_disk(1) | {READ: counting(rate * RATE)},
        *((0.024, RULED_OUT), (0.026, SUPPORTED)),
    ),
    slower(
        *("cgroup-io-limit: what idle disks wrote", beside(held_back(400), idle_writes)),
        *((370, RULED_OUT), (374, SUPPORTED), (499, SUPPORTED), (501, RULED_OUT)),
    ),
    slower(
        *("cgroup-io-limit: idle disks do not reach it", beside(held_back(200), idle_writes)),
        *((185, RULED_OUT), (187, SUPPORTED)),
    ),
    slower(
        *("cgroup-io-limit: first reads", beside(LIMITED_READS, longer_first_reads)),
        *((7.9, RULED_OUT), (8.1, SUPPORTED), (11.7, SUPPORTED), (11.9, RULED_OUT)),
    ),
    slower("cgroup-io-limit: on average", limit_of_half, (280, RULED_OUT), (272, SUPPORTED)),
    slower("cgroup-io-limit: binds", held_then_idle, (55, EQUAL_COSTS), (62, TOO_SMALL)),
    slower("cgroup-io-limit: held", held_for, (15, RULED_OUT), (17, SUPPORTED)),
    slower("cgroup-io-limit: requests", few_writes, (6300, RULED_OUT), (6100, NOT_SEPARABLE)),
    slower(
        *("cgroup-io-limit: large requests", few_writes, (1050, NOT_SEPARABLE), (1020, SUPPORTED)),
        *((135, SUPPORTED), (125, NOT_SEPARABLE)),
    ),
    slower("cgroup-io-limit: as fast", limited_volume, (680, LIMITED_AS_FAST), (660, TOO_SMALL)),
    slower("cgroup-memory-limit: twice", memory_limit, (11_400, EQUAL_COSTS), (11_399, TIGHTER)),
    slower(
        *("cgroup-memory-limit: all of it", beside(EIGHT_GIB, memory_limit)),
        *((8192, "Neither side has such a limit"), (8191, TIGHTER)),
    ),
    slower(
        *("cgroup-cpu-limit: enough CPUs", cpu_limit),
        *((2.01, EQUAL_COSTS), (1.99, "The slower side has a smaller quota, but")),
    ),
    slower("cgroup-cpu-limit: a fifth", cpu_limit, (0.62, RULED_OUT), (0.58, SUPPORTED)),
    slower(
        *("memory-first-touch: more", beside(ALL_WORK, touching)),
        (198, "New memory costs the slower side no more."),
        (202, "New memory costs the slower side more, but"),
        faster=touching(160) | ALL_WORK,
    ),
    slower(
        *("memory-first-touch: a fifth", beside(ALL_WORK, touching), (390, RULED_OUT)),
        *((420, SUPPORTED),),
        faster=touching(160) | ALL_WORK,
    ),
    slower(
        *("memory-first-touch: all work", lambda ms: touching(250) | fixed_work(1, 1, ms)),
        (1.24, "New memory costs the slower side more, but per"),
        (1.26, "New memory costs the slower side more, but only as far as all"),
        faster=touching(160) | FIXED,
    ),
    slower(
        *("dirty-limit: as much room", lambda percent: FRESH | {"host.vm.dirty_ratio": percent}),
        *((14, RULED_OUT), (13, NOT_SEPARABLE)),
        **{"faster": FRESH, **AS_FRESH},
    ),
    slower("dirty-limit: two files", free_memory, (1075, RULED_OUT), (1060, NOT_SEPARABLE)),
    slower(
        *("ext4-flush: half of the bytes", written),
        (0.49, "The faster side has the slower"),
        (0.51, "Both sides write each rewritten file"),
    ),
    slower(
        "cpu: stolen", beside(SAME_CPU, stolen), (9.5, RULED_OUT), (11, SUPPORTED), faster=SAME_CPU
    ),
    slower("cpu: a fifth", more_cpu_time, (1.6, RULED_OUT), (1.75, NOT_OBSERVABLE)),
    working(
        *("cpu: fixed work", lambda ms: fixed_work(ms, 1, 1)),
        (1.09, "Fixed work in user mode takes as long"),
        (1.11, "Fixed work takes longer on the slower"),
    ),
    working(
        "cpu: a fifth of fixed work",
        lambda ms: fixed_work(ms, 1, 1),
        (1.52, RULED_OUT),
        (1.62, SUPPORTED),
    ),
    working(
        *("kernel: a fifth of fixed work", lambda ms: fixed_work(1.2, 1.2 * ms, 1.4)),
        *((1.52, RULED_OUT), (1.62, SUPPORTED)),
    ),
    working(
        "kernel: only copying",
        lambda ms: fixed_work(1, 2, ms),
        (1.09, NOT_SEPARABLE),
        (1.11, SUPPORTED),
    ),
    slower(
        *("other-load: the same work", lambda ms: spent(copy_kernel=ms, copy_waiting=30)),
        *((15.5, RULED_OUT), (14.5, SUPPORTED)),
        faster=spent(copy_kernel=5),
    ),
    slower("other-load: pressed", pressed, (0.09, RULED_OUT), (0.11, SUPPORTED)),
    slower("other-load: more written", written, (1.24, RULED_OUT), (1.26, SUPPORTED)),
    slower("drift-over-time: slower", last_third, (1.05, NO_SLOWER), (1.15, SLOWED_DOWN)),
    # What comes back is no step.
    slower(
        *("drift-over-time: by chance", slow_for_a_while, (1.2, NO_SLOWER), (1.6, SLOWED_DOWN)),
        (4, NOT_OBSERVABLE),
    ),
    slower(
        *("drift-over-time: blocked", beside(last_third(1.6), waiting_for_io)),
        (0.49, "The slower side's disks moved fewer bytes per second from the start."),
        (0.51, "The slower side slowed down, but its disks moved as many"),
    ),
    slower(
        *("drift-over-time: slower at first", falling),
        *((1.5, "The slower side's disks moved fewer"), (1.55, NOT_SEPARABLE)),
    ),
    slower("drift-over-time: samples", first, (59, NOT_OBSERVABLE), (60, RULED_OUT)),
]


def assert_judged(cause: Cause, expected: Expected) -> None:
    beginning = explanation_text(cause)[: len(expected)]
    assert expected in (cause.state, beginning)


def writes(appending_ms: float, in_place_ms: float = 1) -> list[OtherMeasurement]:
    times = {"dsync-overwrite": in_place_ms, "dsync-append": appending_ms}
    return [measurement("sync-write", name, ms) for name, ms in times.items()]


def timed(
    name: str,
    measured: str | Callable[[float], list[OtherMeasurement]],
    *edge: Value,
    subject: Subject = SUBJECT,
    faster: Facts | None = None,
    **facts: Any,
) -> Any:
    """A row: the cause, its threshold, what else was measured, and what each time leads to."""
    measure = one_measurement(measured) if isinstance(measured, str) else measured
    change = {"amd-16": facts, "intel": faster or {}}

    def judge(value: Any) -> dict[str, Cause]:
        return causes_of(change, subject=subject, measurements=measure(value))

    return pytest.param(name.partition(":")[0], judge, edge, id=name)


def one_measurement(name: str) -> Callable[[float], list[OtherMeasurement]]:
    """A workload and its variant, such as "spawn/", or "spawn/ by chance"."""
    named, _, is_chance = name.partition(" by ")
    workload, variant = named.split("/")
    verdict = Verdict.INCONCLUSIVE if is_chance else Verdict.SLOWER
    return lambda time_ms: [measurement(workload, variant, time_ms, verdict=verdict)]


def in_place(time_ms: float) -> list[OtherMeasurement]:
    return writes(time_ms, time_ms)


def appending(time_ms: float) -> list[OtherMeasurement]:
    return writes(time_ms)[1:]


def uploads(kept_ms: float, **more: Any) -> list[OtherMeasurement]:
    times = {"connection-each": 11, "keep-alive": kept_ms}
    return [measurement("upload", variant, ms, **more) for variant, ms in times.items()]


def scaling(gain: float, **more: Any) -> list[OtherMeasurement]:
    return [measurement("metadata", "stat", 4, SCALING, gain, 4, **more)]


def late(files: float, of_faster: float = 4) -> list[OtherMeasurement]:
    return [measurement("metadata", "visibility", 4, NOT_VISIBLE, files, faster=of_faster)]


def none_late(files: float) -> list[OtherMeasurement]:
    return late(files, 0)


def copies(cost: float, **more: Any) -> list[OtherMeasurement]:
    return [measurement("exec", "copies", 2, OVER_HARDLINKED, cost, **more)]


def in_places(here_ms: float) -> list[OtherMeasurement]:
    """The measurement of another place comes first, and is three times as slow."""
    return [
        measurement("random-io", "write-depth-32", 3, place="memory"),
        measurement("random-io", "write-depth-32", here_ms),
    ]


def subject(workload: str, variant: str, threads: int = 0) -> dict[str, Any]:
    return {"subject": Subject(workload, SUBJECT.place, variant=variant, threads=threads)}


def by_chance(
    measured: Callable[..., list[OtherMeasurement]],
) -> Callable[[float], list[OtherMeasurement]]:
    return lambda value: measured(value, verdict=Verdict.INCONCLUSIVE)


def both_appending(time_ms: float) -> list[OtherMeasurement]:
    return [measurement("sync-write", "dsync-append", time_ms, faster_ms=time_ms / 1.09)]


SYNC, EACH = subject("sync-write", "dsync-append"), subject("upload", "connection-each")
STAT, COPIES = subject("metadata", "stat", 4), subject("exec", "copies")
ONE_THREAD, KEPT = subject("metadata", "stat", 1), subject("upload", "keep-alive")
HARDLINKED = subject("exec", "hardlinked")
LAYERED = {"faster": ON_OVERLAY, **STAT, **ON_OVERLAY, f"{PLACE}.overlay.lower_layers": 21}
WRITE_DEPTH, KYBER = "random-io/write-depth-32", scheduler("kyber")
NO_LESS_GAIN = "Several at once gain less on the slower side"
MEASURED = [
    timed("spawn-cost: a fifth", "spawn/", (22.5, RULED_OUT), (23.5, NOT_SEPARABLE), **LOOKUPS),
    timed("random-io: slower", WRITE_DEPTH, (1.24, RULED_OUT), (1.26, NOT_SEPARABLE)),
    timed("scheduler: as fast", appending, (1.09, RULED_OUT), (1.11, NOT_OBSERVABLE), **KYBER),
    timed("scheduler: starves", appending, (9.9, NOT_SEPARABLE), (10.1, SUPPORTED), **STARVES),
    timed("scheduler: starves both", both_appending, (20, NOT_SEPARABLE), **STARVES),
    timed("scheduler: not strict", appending, (20, NOT_SEPARABLE), **STARVES_NOT),
    timed("scheduler-idling: as fast", appending, (1.09, RULED_OUT), (1.11, SUPPORTED), **IDLES),
    timed("slow-flush: slower", in_place, (1.24, RULED_OUT), (1.26, SUPPORTED), **SYNC),
    timed("slow-journal: slower", writes, (1.24, RULED_OUT), (1.26, SUPPORTED), **SYNC),
    timed("metadata-lock: scales", scaling, (3.01, RULED_OUT), (2.99, SUPPORTED), **STAT),
    timed(
        *("metadata-lock: as many CPUs as threads", scaling, (1, "Several at once wait")),
        **STAT | cpu_limit(4),
    ),
    timed(
        *("metadata-lock: fewer CPUs than threads", scaling, (1, "The slower side's cgroup gives")),
        **STAT | cpu_limit(3.9),
    ),
    timed("metadata-lock: one thread", scaling, (1, f"{NO_LESS_GAIN}, but"), **ONE_THREAD),
    timed(
        *("metadata-lock: chance", by_chance(scaling), (1, f"{NO_LESS_GAIN}. This may be chance")),
        **STAT,
    ),
    timed("metadata-lock: unmeasured", "metadata/stat", (4, NOT_OBSERVABLE), **STAT),
    timed(
        *("overlay-layers: a missing name", "metadata/lookup-missing"),
        *((1.09, RULED_OUT), (1.11, SUPPORTED)),
        **LAYERED,
    ),
    timed(
        "overlay-layers: hidden", writes, (1, NOT_OBSERVABLE), **STAT | {f"{PLACE}.kind": "overlay"}
    ),
    timed(
        *("files-not-visible: late", late, (4, "As many files are late on both sides.")),
        *((5, SUPPORTED), (3, "The faster side has the slower setting.")),
        **STAT,
    ),
    timed("files-not-visible: none", none_late, (0, "Every file was visible"), **STAT),
    timed("files-not-visible: unmeasured", writes, (1, NOT_OBSERVABLE), **STAT),
    timed("per-builder-copies: cost", copies, (4.39, RULED_OUT), (4.41, SUPPORTED), **COPIES),
    timed(
        *("per-builder-copies: chance", by_chance(copies)),
        *((9, "Copies cost the slower side no more"),),
        **COPIES,
    ),
    timed("per-builder-copies: hardlinks", copies, (9, RULED_OUT), **HARDLINKED),
    timed("per-builder-copies: unmeasured", writes, (1, NOT_OBSERVABLE), **COPIES),
    timed("connection-each: a fifth", uploads, (9.01, RULED_OUT), (8.99, SUPPORTED), **EACH),
    timed("connection-each: chance", by_chance(uploads), (1, RULED_OUT), **EACH),
    timed("connection-each: kept", uploads, (2, RULED_OUT), **KEPT),
    timed("connection-each: unmeasured", lambda ms: uploads(ms)[:1], (2, NOT_OBSERVABLE), **EACH),
    timed("expect-continue-stall: unmeasured", uploads, (2, NOT_OBSERVABLE), **EACH),
    timed("spawn-cost: chance", "spawn/ by chance", (23.5, NOT_OBSERVABLE), **LOOKUPS),
    timed("random-io: chance", f"{WRITE_DEPTH} by chance", (1.26, NOT_OBSERVABLE)),
    timed("random-io: of the same place", in_places, (1, RULED_OUT), (1.3, NOT_SEPARABLE)),
    timed("random-io: of another place", lambda ms: in_places(ms)[:1], (1, NOT_SEPARABLE)),
    timed(
        *("scheduler-idling: chance", "sync-write/dsync-append by chance"),
        *((1.11, NOT_OBSERVABLE),),
        **IDLES,
    ),
    timed("slow-flush: not in place", appending, (5, NOT_OBSERVABLE), **SYNC),
    timed("slow-journal: not in place", appending, (5, NOT_OBSERVABLE), **SYNC),
]


@pytest.mark.parametrize(("cause", "judge", "edge"), EDGES + MEASURED)
def test_thresholds(cause, judge, edge):
    """Each decides between two states, or between two reasons."""
    for value, expected in edge:
        assert_judged(judge(value)[cause], expected)


def test_every_cause_can_be_not_observable() -> None:
    """The trees prove the two other states."""
    found = [(cause, state) for cause, state, *_ in (row.values for row in STATES)]
    for cause, _, edge in (row.values for row in EDGES + MEASURED):
        found += [(cause, expected) for _, expected in edge]
    unseen = {cause for cause, expected in found if expected is NOT_OBSERVABLE}
    assert unseen == {rule.name for rule in RULES}


@pytest.mark.parametrize(
    ("cause", "ratios", "states"),
    [
        pytest.param("device-count", (1.019, 1.021), (NOT_JUDGED, SUPPORTED), id="two percent"),
        pytest.param("device-count", (1 / 1.019, 1 / 1.021), (NOT_JUDGED, RULED_OUT), id="faster"),
        pytest.param("device-count", (33, 31), (RULED_OUT, SUPPORTED), id="a fifth is predicted"),
    ],
)
def test_ratios(cause: str, ratios: tuple[float, float], states: tuple[State, State]) -> None:
    """The difference that is to be explained decides, too."""
    assert tuple(causes_of(ratio=ratio)[cause].state for ratio in ratios) == states


CONFIRMED, REFUTED = TrialState.CONFIRMED, TrialState.REFUTED
BUSY = SAME_CPU | more_cpu_time(2) | stolen(500)


@pytest.mark.parametrize(
    ("cause", "kind", "outcome", "facts", "state"),
    [
        ("device-count", TrialKind.PACE, REFUTED, {}, State.REFUTED),
        ("device-count", TrialKind.PACE, CONFIRMED, {}, State.CONFIRMED),
        ("device-count", TrialKind.PACE, TrialState.UNDECIDED, {}, SUPPORTED),
        ("device-count", TrialKind.MEMORY, REFUTED, {}, State.REFUTED),
        ("device-count", TrialKind.MEMORY, CONFIRMED, {}, SUPPORTED),
        ("lookup-cost", TrialKind.LOOKUP, CONFIRMED, slower_lookups(40), State.CONFIRMED),
        ("lookup-cost", TrialKind.LOOKUP, REFUTED, slower_lookups(40), State.REFUTED),
        ("cpu", TrialKind.MEMORY, CONFIRMED, BUSY, State.REFUTED),
        ("cpu", TrialKind.MEMORY, REFUTED, BUSY, SUPPORTED),
        # A copy that waits for each write is slow at any pace.
        ("mount-options", TrialKind.PACE, REFUTED, options("rw,sync"), NOT_SEPARABLE),
        # It acts through waiting for a CPU as well, which stays in memory.
        ("other-load", TrialKind.MEMORY, REFUTED, pressed(0.2), SUPPORTED),
    ],
)
@pytest.mark.parametrize("share", [None, 0.4])
def test_trials(cause, kind, outcome, facts, state, share):
    """A cause's own trial decides; the trial memory refutes storage, or whatever is not storage."""
    trials = (TrialOutcome(kind, outcome, statement("The gap."), share),)
    judged = causes_of({"amd-16": facts}, trials=trials)[cause]
    assert judged.state is state
    if state in (State.CONFIRMED, State.REFUTED):
        remark = f"Trial {kind.value}: The gap." + (
            " It explains 40 % of the gap." if share else ""
        )
        assert remark in explanation_text(judged)
        assert ("It explains" in explanation_text(judged)) is (share is not None)


@pytest.mark.parametrize(
    ("outcome", "state"), [(CONFIRMED, State.CONFIRMED), (REFUTED, NOT_SEPARABLE)]
)
def test_the_trial_of_a_remedy(outcome: TrialState, state: State) -> None:
    """Removing the destination first may not help, although the flush makes the difference."""
    trial = TrialOutcome(TrialKind.UNLINK, outcome, statement("The gap."), None)
    change = {"intel": further_option("noauto_da_alloc")}
    found = causes_of(change, trials=(trial,))["ext4-flush"]
    assert found.state is state
    is_refuted = "This refutes the remedy only" in explanation_text(found)
    assert is_refuted is (outcome is REFUTED)


@pytest.mark.parametrize(
    ("with_fact_ms", "without_ms", "expected"),
    [
        pytest.param([145.7] * 3, [121], NOT_SEPARABLE, id="one may be slow by chance"),
        pytest.param([145.7] * 3, [122], "As slow without this: 1 of 4", id="one is slow"),
        pytest.param([145.7] * 2, [118] * 2, NOT_SEPARABLE, id="two may be slow by chance"),
        pytest.param([145.7] * 2, [119] * 2, "As slow without this: 2 of 4", id="two are slow"),
        pytest.param([145.7] * 3 + [95], [], NOT_SEPARABLE, id="one may be fast by chance"),
        pytest.param(
            [145.7] * 3 + [92],
            [],
            "As fast as the faster side in spite of this: 1 of 4",
            id="one is fast",
        ),
        pytest.param(
            [145.7],
            [100] * 3,
            "Only 1 of 4 workers of the slower side has this",
            id="only one has it",
        ),
        pytest.param([145.7] * 2, [100] * 2, NOT_SEPARABLE, id="two have it"),
    ],
)
def test_workers_that_contradict(with_fact_ms, without_ms, expected):
    """A worker counts where it is clearly slow or fast; the mean of several is known better by √n."""
    facts = [IDLES | taking(ms) for ms in with_fact_ms]
    facts += [taking(ms) for ms in without_ms]
    change = {f"amd-16/{number}": each for number, each in enumerate(facts)}
    cause = causes_of(change, workers=len(facts))["scheduler-idling"]
    assert_judged(cause, expected)


def test_a_worker_counts_once() -> None:
    """The runs of one worker are averaged before workers are."""
    change = {"amd-16/2": slower_lookups(60)}
    (side,) = workers_of(seed_case.documents(3, pools=["amd-16"], change=change)).values()
    machines = [replace(run, machine=name) for run, name in zip(side, "aab", strict=True)]
    mean_ns = Side.of_workers(machines, SUBJECT).mean(attrgetter("lookup_mean_ns"))
    assert mean_ns == pytest.approx(31.35 * MS, rel=0.01)


def test_workers_that_follow_the_fact() -> None:
    """The explanation says how many have it."""
    change = {f"amd-16/{number}": IDLES for number in (0, 1)}
    change |= {f"amd-16/{number}": taking(100) for number in (2, 3)}
    cause = causes_of(change, workers=4)["scheduler-idling"]
    remark = "On 2 of 4 workers of the slower side; the others are faster."
    assert remark in explanation_text(cause)


def test_workers_of_the_faster_side_have_it_too() -> None:
    """Two of them are as fast with it."""
    change = {"amd-16": IDLES} | {f"intel/{number}": BOTH_IDLE for number in (1, 3)}
    cause = causes_of(change, workers=5)["scheduler-idling"]
    assert (cause.state, explanation_text(cause)) == (
        RULED_OUT,
        "Fast in spite of this: 2 of 5 workers of the faster side.",
    )


@pytest.mark.parametrize(
    ("times", "has_fact"),
    [(8.1, True), (7.9, None), (2.1, None), (1.9, False), (1.0, False)],
)
def test_a_fact_of_some_size(times: float, has_fact: bool | None) -> None:
    """A worker has it with three quarters of its side's size, and lacks it with a quarter: 16-fold."""

    def judge(case: Case) -> Effect:
        size = case.slower.mean(lambda view: float(view.worker.machine))
        return NOT_MEASURED.supports("So it is.", Size(size or 0.0))

    (one,) = workers(pools=["amd-16"])
    view = replace(one, machine=str(times)).run_of(SUBJECT)
    rule, nobody = CauseRule("", "", judge, NoChange("for the test")), Side.of([])
    of_side = NOT_MEASURED.supports("So it is.", Size(16.0))
    case = Case(SUBJECT, 2.0, nobody, Side.of([view]))
    assert rule._has_fact(case, of_side, [view], nobody) is has_fact
