# SPDX-License-Identifier: MPL-2.0
"""The state of each cause in one situation each: facts of both sides in, the state out.

All facts are those of seed 000's case, whose slower side takes 69.7 ms longer per retrieve, with
the changes of a row. The recorded trees prove each cause end to end (tests/trees).
"""

from collections.abc import Sequence
from typing import Any

import pytest
from cause_thresholds import Expected, appending, assert_judged, sync_writes
from msgspec.structs import replace
from seed_facts import (
    ENTRY,
    HALF_RATE,
    MIB,
    PLACE,
    Facts,
    both_disks,
    cpu_limit,
    filesystem,
    first,
    free_memory,
    further_option,
    io_limit,
    last_third,
    more_cpu_time,
    operations_limit,
    options,
    scheduler,
    slower_lookups,
    stolen,
    times_written,
    touching,
    waiting_for_io,
    written,
)
from seed_workers import SUBJECT, causes_of, measurement, texts

from io_benchmark.analysis.explaining.causes import RULES
from io_benchmark.analysis.model.cause import State
from io_benchmark.analysis.model.comparison import Verdict
from io_benchmark.analysis.model.measurement import OtherMeasurement
from io_benchmark.analysis.model.subject import Subject
from io_benchmark.analysis.statistics.noise import FEWEST_TO_JUDGE
from io_benchmark.results.machine import WINDOWS
from io_benchmark.results.workloads import NOT_VISIBLE, OVER_HARDLINKED, SCALING

SUPPORTED, RULED_OUT, NOT_OBSERVABLE = State.SUPPORTED, State.RULED_OUT, State.NOT_OBSERVABLE
NOT_SEPARABLE, NOT_JUDGED = State.NOT_SEPARABLE, State.NOT_JUDGED
FRESH, UNLINK = ({f"{ENTRY}.destination": name} for name in ("fresh", "unlink"))
NO_PLACE: Facts = {"storage.places": []}
NO_DEVICES: Facts = {f"{PLACE}.devices": []}
NO_ENTRIES: Facts = {"workloads": []}
UNTOUCHED: Facts = {"host.first_touch_ns_per_mib": []}
NO_LIMITS, NO_TIMELINE, NO_HOST = {"limits": None}, {"timeline": None}, {"host": None}
NO_WAITS, NO_COUNTERS = waiting_for_io(0), {"timeline": None, f"{ENTRY}.device_bytes": None}
UNKNOWN_KIND, CRYPT = {f"{PLACE}.kind": "unknown"}, {f"{PLACE}.devices.0.kind": "crypt"}
DISK_MODEL = f"{PLACE}.devices.1.model"
ON_OVERLAY = filesystem("overlay") | {
    f"{PLACE}.kind": "overlay",
    f"{PLACE}.overlay": {
        "lower_layers": 12,
        "upper_directory": "/var/lib/docker/x/diff",
        "volatile": False,
    },
}
MIRROR = {f"{PLACE}.devices.0.stripe_count": None, f"{PLACE}.devices.0.raid_level": "raid1"}
IDLES = scheduler("bfq", slice_idle=8, low_latency=1)
BOTH_IDLE = IDLES | scheduler("bfq", 2, slice_idle=8)  # the faster side has two disks
STARVES = scheduler("bfq", strict_guarantees=1, slice_idle=0)
NO_GROUPS: Facts = {"host.container": None, "limits.groups": {}}
BOTH_GROUPS = {"blkio": "/sys/fs/cgroup/blkio", "unified": "/sys/fs/cgroup/unified/user.slice"}
V1_ROOT = {"host.container": None, "limits.groups": BOTH_GROUPS}
STARVES_NOT = scheduler("bfq", strict_guarantees=0, slice_idle=0)
AS_MUCH_MEANWHILE = FRESH | Facts({f"{ENTRY}.final_sync_device_bytes": {}})
BY_CHANCE = Verdict.INCONCLUSIVE


def row(
    name: str,
    expected: Expected,
    situation: str,
    slower: Facts | None = None,
    faster: Facts | None = None,
    **arguments: Any,
) -> Any:
    """The slower side is the candidate, the faster one is intel; both as in the seed's case."""
    change = {arguments.setdefault("candidate", "amd-16"): slower or {}, "intel": faster or {}}
    return pytest.param(name, expected, change, arguments, id=f"{name}: {situation}")


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
    row("disk-size", NOT_OBSERVABLE, "a model that says nothing", {DISK_MODEL: None}),
    row("disk-size", RULED_OUT, "local SSDs"),
    row("machine-limit", NOT_OBSERVABLE, "a model that says nothing", {DISK_MODEL: None}),
    row("network-disk", NOT_OBSERVABLE, "a model that says nothing", {DISK_MODEL: None}),
    row("boot-disk-fallback", NOT_OBSERVABLE, "a model that says nothing", {DISK_MODEL: None}),
    row("disk-speed", RULED_OUT, "nothing waited", NO_WAITS | times_written(0.25), **AMD_30),
    row("disk-speed", NOT_OBSERVABLE, "no counters", NO_COUNTERS),
    row(
        "cgroup-io-limit",
        NOT_SEPARABLE,
        "operations, device unnamed",
        operations_limit(100, "7:0", None) | HALF_RATE,
    ),
    row("cgroup-io-limit", RULED_OUT, "as fast", operations_limit(100, "7:0", None), **AMD_30),
    row(
        "cgroup-io-limit",
        RULED_OUT,
        "the same, which the faster side does not reach",
        io_limit(330 * MIB),
        io_limit(330 * MIB) | times_written(0.001),
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
        "ext4-flush",
        RULED_OUT,
        "on neither",
        further_option("noauto_da_alloc"),
        further_option("noauto_da_alloc"),
    ),
    row("ext4-flush", RULED_OUT, "xfs flushes as well", None, filesystem("xfs")),
    row("ext4-flush", RULED_OUT, "btrfs flushes as well", None, filesystem("btrfs")),
    row("ext4-flush", SUPPORTED, "others do not", None, filesystem("f2fs") | written(0.3)),
    row("ext4-flush", RULED_OUT, "another destination", UNLINK, UNLINK, **AS_UNLINKED),
    row("ext4-flush", RULED_OUT, "none waits", NO_WAITS | {"task.instance_type": "m5.large"}),
    row("ext4-flush", NOT_OBSERVABLE, "below an overlay", ON_OVERLAY),
    row(
        "mount-options",
        NOT_SEPARABLE,
        "barrier=1, next to fewer disks",
        options("rw,barrier=1,data=writeback,commit=60"),
    ),
    row(
        "mount-options",
        RULED_OUT,
        "ext4's defaults by name",
        options("rw,data=ordered,barrier=1,commit=5"),
        options("rw"),
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
        "dirty-limit",
        NOT_SEPARABLE,
        "what was written more is not known",
        FRESH | {"host.vm.dirty_ratio": 1, "host.vm.dirty_background_ratio": 1},
        FRESH,
        **AS_FRESH,
    ),
    row(
        "dirty-limit",
        RULED_OUT,
        "less room, but as much was written meanwhile",
        AS_MUCH_MEANWHILE | free_memory(4096),
        AS_MUCH_MEANWHILE,
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
    row("drift-over-time", NOT_OBSERVABLE, "few samples", first(FEWEST_TO_JUDGE - 1)),
    row("drift-over-time", RULED_OUT, "both alike", last_third(2), last_third(2)),
    row("other-load", NOT_OBSERVABLE, "nothing recorded", NO_COUNTERS),
    row("other-load", RULED_OUT, "syncs write it", written(3) | further_option("sync")),
    row("other-load", RULED_OUT, "syncs of folders do", written(3) | further_option("dirsync")),
]


def where(
    workload: str, variant: str, measurements: Sequence[OtherMeasurement], threads: int = 0
) -> dict[str, Any]:
    """Return the arguments of a row about this workload, of which this was measured."""
    subject = Subject(workload, SUBJECT.place, variant=variant, threads=threads)
    return {"subject": subject, "measurements": measurements}


def scaling(gain: float, **options: Any) -> list[OtherMeasurement]:
    """Several at once gain 4 on the faster side."""
    return [measurement("metadata", "stat", 4, SCALING, gain, 4, faster=4, **options)]


def late(files: float, of_faster: float) -> list[OtherMeasurement]:
    return [measurement("metadata", "visibility", 4, NOT_VISIBLE, files, faster=of_faster)]


def copies(cost: float, **options: Any) -> list[OtherMeasurement]:
    return [measurement("exec", "copies", 2, OVER_HARDLINKED, cost, **options)]


def uploads(kept_ms: float, **options: Any) -> list[OtherMeasurement]:
    times = {"connection-each": 11, "keep-alive": kept_ms}
    return [measurement("upload", variant, ms, **options) for variant, ms in times.items()]


UNMEASURED = sync_writes(1)
RANDOM_WRITES = ("random-io", "write-depth-32")
PLACE_ALONE = where("download", "to-place", [measurement("download", "to-place", 3)], threads=1)
NO_LESS_GAIN = "Several at once gain less on the slower side"
MEASURED = [
    *(
        row(f"network-{name}", NOT_OBSERVABLE, "no downloads to memory", **PLACE_ALONE)
        for name in ("rate", "latency", "first-byte")
    ),
    row(
        "scheduler",
        NOT_SEPARABLE,
        "starves both sides",
        STARVES,
        measurements=appending(20, faster_ms=20 / 1.09),
    ),
    row("scheduler", NOT_SEPARABLE, "not strict", STARVES_NOT, measurements=appending(20)),
    row(
        "scheduler-idling",
        NOT_OBSERVABLE,
        "by chance",
        IDLES,
        measurements=appending(1.11, verdict=BY_CHANCE),
    ),
    row(
        "spawn-cost",
        NOT_OBSERVABLE,
        "by chance",
        slower_lookups(40),
        measurements=[measurement("spawn", "", 23.5, verdict=BY_CHANCE)],
    ),
    row(
        "random-io",
        NOT_OBSERVABLE,
        "by chance",
        measurements=[measurement(*RANDOM_WRITES, 1.26, verdict=BY_CHANCE)],
    ),
    row(
        "random-io",
        NOT_SEPARABLE,
        "another place alone",
        measurements=[measurement(*RANDOM_WRITES, 3, place="memory")],
    ),
    row(
        "slow-flush",
        NOT_OBSERVABLE,
        "not measured in place",
        **where("sync-write", "dsync-append", appending(5)),
    ),
    row(
        "slow-journal",
        NOT_OBSERVABLE,
        "not measured in place",
        **where("sync-write", "dsync-append", appending(5)),
    ),
    row(
        "metadata-lock",
        "Several at once wait",
        "as many CPUs as threads",
        cpu_limit(4),
        **where("metadata", "stat", scaling(1), threads=4),
    ),
    row(
        "metadata-lock",
        "The slower side's cgroup gives",
        "fewer CPUs than threads",
        cpu_limit(3.9),
        **where("metadata", "stat", scaling(1), threads=4),
    ),
    row(
        "metadata-lock",
        f"{NO_LESS_GAIN}, but",
        "one thread",
        **where("metadata", "stat", scaling(1), threads=1),
    ),
    row(
        "metadata-lock",
        f"{NO_LESS_GAIN}. This may be chance",
        "by chance",
        **where("metadata", "stat", scaling(1, verdict=BY_CHANCE), threads=4),
    ),
    row(
        "metadata-lock",
        NOT_OBSERVABLE,
        "unmeasured",
        **where("metadata", "stat", [measurement("metadata", "stat", 4)], threads=4),
    ),
    row(
        "overlay-layers",
        NOT_OBSERVABLE,
        "hidden",
        {f"{PLACE}.kind": "overlay"},
        **where("metadata", "stat", UNMEASURED, threads=4),
    ),
    row(
        "files-not-visible",
        "As many files are late on both sides.",
        "as many",
        **where("metadata", "stat", late(4, of_faster=4), threads=4),
    ),
    row(
        "files-not-visible",
        SUPPORTED,
        "one more",
        **where("metadata", "stat", late(5, of_faster=4), threads=4),
    ),
    row(
        "files-not-visible",
        "The faster side has the slower setting.",
        "one less",
        **where("metadata", "stat", late(3, of_faster=4), threads=4),
    ),
    row(
        "files-not-visible",
        "Every file was visible",
        "none",
        **where("metadata", "stat", late(0, of_faster=0), threads=4),
    ),
    row(
        "files-not-visible",
        NOT_OBSERVABLE,
        "unmeasured",
        **where("metadata", "stat", UNMEASURED, threads=4),
    ),
    row(
        "per-builder-copies",
        "Copies cost the slower side no more",
        "by chance",
        **where("exec", "copies", copies(9, verdict=BY_CHANCE)),
    ),
    row(
        "per-builder-copies",
        RULED_OUT,
        "hardlinks",
        **where("exec", "hardlinked", copies(9)),
    ),
    row(
        "per-builder-copies",
        NOT_OBSERVABLE,
        "unmeasured",
        **where("exec", "copies", UNMEASURED),
    ),
    row(
        "connection-each",
        RULED_OUT,
        "by chance",
        **where("upload", "connection-each", uploads(1, verdict=BY_CHANCE)),
    ),
    row(
        "connection-each",
        RULED_OUT,
        "kept",
        **where("upload", "keep-alive", uploads(2)),
    ),
    row(
        "connection-each",
        NOT_OBSERVABLE,
        "unmeasured",
        **where("upload", "connection-each", uploads(2)[:1]),
    ),
    row(
        "expect-continue-stall",
        NOT_OBSERVABLE,
        "unmeasured",
        **where("upload", "connection-each", uploads(2)),
    ),
]


@pytest.mark.parametrize(("name", "expected", "change", "arguments"), STATES + MEASURED)
def test_state(name: str, expected: Expected, change: dict[str, Facts], arguments: Any) -> None:
    """Each situation has its state or its reason, and evidence of both sides."""
    cause = causes_of(change, **arguments)[name]
    assert_judged(cause, expected)
    assert all(texts(cause))
    assert cause.workload is None or cause.state is NOT_OBSERVABLE


def test_every_cause_can_be_not_observable() -> None:
    """The trees prove the two other states; test_windows_causes.py has what only Windows has."""
    rows = [row.values for row in STATES + MEASURED]
    unseen = {cause for cause, expected, *_ in rows if expected is NOT_OBSERVABLE}
    assert unseen == {rule.name for rule in RULES if rule.only_on != WINDOWS}
