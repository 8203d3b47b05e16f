# SPDX-License-Identifier: MPL-2.0
"""At which values the disks, what limits them and what waits for them become causes."""

import pytest
import seed_case
from cause_thresholds import (
    DIFFERENCE_MS,
    ENOUGH_MS,
    EQUAL_COSTS,
    TOO_SMALL,
    around,
    assert_threshold,
    enough_in_addition,
    from_number,
    threshold,
    with_facts,
    written_per_s,
)
from msgspec.structs import replace
from seed_facts import (
    COPIED_BYTES,
    ENTRY,
    HALF_RATE,
    MIB,
    RATE,
    WRITTEN,
    Facts,
    both_disks,
    busy_disk,
    counting,
    free_memory,
    held_for,
    idle_writes,
    io_limit,
    longer_first_reads,
    operations_limit,
    slower_lookups,
    spent,
    waiting_for_io,
    written,
)
from seed_workers import SUBJECT

from io_benchmark.analysis.explaining import against
from io_benchmark.analysis.explaining.case import AS_FAST_SHARE
from io_benchmark.analysis.explaining.causes import (
    disk_speed,
    memory,
    mount_costs,
)
from io_benchmark.analysis.explaining.facts import limits
from io_benchmark.analysis.model.cause import State
from io_benchmark.analysis.reading import disk_rates, windows

SUPPORTED, RULED_OUT, NOT_SEPARABLE = State.SUPPORTED, State.RULED_OUT, State.NOT_SEPARABLE
LOWEST_AT_LIMIT, HIGHEST_AT_LIMIT = limits._AT_LIMIT_SHARES
SMALLEST_REQUEST, LARGEST_REQUEST = limits._LARGE_REQUEST_BYTES
# MiB per second: what the slower side's disk writes, half of it, and what the others' write.
RATE_MIB, HALF_MIB = RATE / MIB, RATE / MIB / 2
INTEL_MIB, AMD_30_MIB = written_per_s(seed_case.INTEL), written_per_s(seed_case.AMD_30)
# One window is a second.
WINDOWS = seed_case.RETRIEVES * seed_case.AMD_16.average / 1000
CACHE_MIB = sum(seed_case.SIZES_MIB)
READ_AT_MIB, READ_LIMIT_MIB = 30, 100
READ = "timeline.devices.nvme1n1.read_bytes"
FRESH = {f"{ENTRY}.destination": "fresh"}
LIMITED_READS = io_limit(READ_LIMIT_MIB * MIB, kind="read_bytes_per_s") | {
    READ: counting(READ_AT_MIB * MIB)
}
READS_MIB = 0.9 * RATE_MIB  # by two disks, nearly half of what the faster side writes

AS_FAST = "The slower side's disks together wrote as fast."
BUSY_DISKS = "The slower side's disks were busy"
MOVED_AS_MUCH = "The slower side's disks moved as many bytes"


def held_back(limit_mib: float) -> Facts:
    """The disk writes half as much as usual, under this limit."""
    return io_limit(limit_mib * MIB) | HALF_RATE


def few_writes(per_s: float) -> Facts:
    return operations_limit(per_s) | HALF_RATE


def limit_of_half(limit_mib: float) -> Facts:
    """Only averages are known, of half of the bytes."""
    return io_limit(limit_mib * MIB) | {"timeline": None} | written(0.5)


def limited_volume(written_mib: float) -> Facts:
    limit = io_limit(0.9 * INTEL_MIB * MIB, "dm-0", "dm-0")
    return limit | {WRITTEN: counting(written_mib * MIB)}


def both_busy(share: float) -> Facts:
    return busy_disk(share) | busy_disk(share, "nvme2n1")


def reading(share: float) -> Facts:
    """Both disks read at this rate, and this share of the bytes copied in all."""
    reads: Facts = {
        f"timeline.devices.{disk}.read_bytes": counting(READS_MIB * MIB / 2)
        for disk in ("nvme1n1", "nvme2n1")
    }
    moved = {"read": round(share * COPIED_BYTES), "written": COPIED_BYTES}
    return reads | {f"{ENTRY}.device_bytes": {"nvme1n1": moved}}


WAITS = [
    threshold(
        "device-count: waits for I/O",
        waiting_for_io,
        around(disk_rates.WAITS_SHARE),
        RULED_OUT,
        SUPPORTED,
    ),
    threshold(
        "device-count: disks that hardly moved a byte",
        written,
        around(disk_rates._HARDLY_MOVED_SHARE),
        RULED_OUT,
        SUPPORTED,
    ),
    # What copies take longer in the kernel leaves too little of the difference that was blocked.
    threshold(
        "device-count: enough of the difference is blocked",
        with_facts(waiting_for_io(1), lambda kernel_ms: spent(copy_kernel=kernel_ms)),
        around(5 + DIFFERENCE_MS - ENOUGH_MS),
        SUPPORTED,
        TOO_SMALL,
        faster=waiting_for_io(1) | spent(copy_kernel=5),
    ),
    threshold(
        "lookup-cost: enough of the difference",
        slower_lookups,
        around(enough_in_addition()),
        RULED_OUT,
        NOT_SEPARABLE,
    ),
    # Fewer disks explain nothing where these hardly write, or nothing waits for them.
    threshold(
        "lookup-cost: alone where disks write little",
        with_facts(slower_lookups(40), written),
        around(against._WRITES_SHARE),
        SUPPORTED,
        NOT_SEPARABLE,
    ),
    threshold(
        "lookup-cost: alone where little waits for disks",
        with_facts(slower_lookups(40), waiting_for_io),
        around(disk_rates.WAITS_SHARE),
        SUPPORTED,
        NOT_SEPARABLE,
    ),
    threshold(
        "ext4-flush: most of the bytes reach the disk",
        written,
        around(mount_costs._FLUSHED_SHARE),
        "The faster side has the slower",
        "Both sides write each rewritten file",
    ),
    threshold(
        "dirty-limit: as much room",
        # The room is the mean of both limits; the faster side has 10 and 20 %.
        lambda percent: FRESH | {"host.vm.dirty_ratio": percent},
        from_number(round((10 + 20) / memory._ALIKE_RATIO - 10)),
        NOT_SEPARABLE,
        RULED_OUT,
        faster=FRESH,
        subject=replace(SUBJECT, destination="fresh"),
    ),
    threshold(
        "dirty-limit: room for two of the largest files",
        free_memory,
        around(memory._FILES_AT_ONCE * max(seed_case.SIZES_MIB) / 0.15),
        NOT_SEPARABLE,
        RULED_OUT,
    ),
]
DISK_SPEED = [
    threshold(
        "disk-speed: as fast",
        both_disks,
        around(AS_FAST_SHARE * INTEL_MIB / AMD_30_MIB),
        TOO_SMALL,
        AS_FAST,
        candidate="amd-30",
    ),
    # Disks that write half as much, and are busy for so much less, are as fast.
    threshold(
        "disk-speed: busy for less",
        with_facts(both_disks(0.5), both_busy),
        around(0.5 * AMD_30_MIB / INTEL_MIB / disk_speed._AS_FAST_WHILE_BUSY),
        BUSY_DISKS,
        SUPPORTED,
        candidate="amd-30",
    ),
    threshold(
        "disk-speed: busy most of the time",
        with_facts(both_disks(0.85), both_busy),
        around(disk_speed._MOSTLY_BUSY / seed_case.BUSY_SHARE),
        BUSY_DISKS,
        SUPPORTED,
        candidate="amd-30",
    ),
    threshold(
        "disk-speed: held back before they count as busy",
        with_facts(both_disks(0.5), both_busy),
        around(disk_speed._LEAST_BUSY / seed_case.BUSY_SHARE),
        SUPPORTED,
        BUSY_DISKS,
        candidate="amd-30",
    ),
    # The faster side reads the whole cache once.
    threshold(
        "disk-speed: reads as well",
        with_facts(both_disks(0.5), reading),
        around(disk_speed._MORE_READS_SHARE + CACHE_MIB * MIB / COPIED_BYTES),
        SUPPORTED,
        MOVED_AS_MUCH,
        candidate="amd-30",
    ),
    threshold(
        "disk-speed: moves as many bytes with its reads",
        with_facts(reading(0.3), both_disks),
        around((AS_FAST_SHARE * INTEL_MIB - READS_MIB) / AMD_30_MIB),
        SUPPORTED,
        MOVED_AS_MUCH,
        candidate="amd-30",
    ),
]
IO_LIMITS = [
    threshold(
        "cgroup-io-limit: reached",
        held_back,
        around(HALF_MIB / LOWEST_AT_LIMIT),
        SUPPORTED,
        RULED_OUT,
    ),
    threshold(
        "cgroup-io-limit: enforced",
        held_back,
        around(HALF_MIB / HIGHEST_AT_LIMIT),
        RULED_OUT,
        SUPPORTED,
    ),
    threshold(
        "cgroup-io-limit: above what busy disks write",
        with_facts(held_back(220), busy_disk),
        around(HALF_MIB / (limits._DISKS_REACH_SHARE * 220) / seed_case.BUSY_SHARE),
        SUPPORTED,
        RULED_OUT,
    ),
    threshold(
        "cgroup-io-limit: above that, though idle disks wrote nearly as much",
        with_facts(held_back(220) | idle_writes(210), busy_disk),
        around(HALF_MIB / (limits._DISKS_REACH_SHARE * 220) / seed_case.BUSY_SHARE),
        SUPPORTED,
        RULED_OUT,
    ),
    # Disks that also read write less, without being slower than the limit.
    threshold(
        "cgroup-io-limit: disks that also read",
        lambda read_mib: held_back(220) | busy_disk(1) | {READ: counting(read_mib * MIB)},
        around(windows._FEW_READS_SHARE * HALF_MIB),
        RULED_OUT,
        SUPPORTED,
    ),
    threshold(
        "cgroup-io-limit: idle disks write as much as it allows",
        with_facts(held_back(400), idle_writes),
        around(limits._MEASURED_AT_LIMIT_SHARE * 400),
        RULED_OUT,
        SUPPORTED,
    ),
    threshold(
        "cgroup-io-limit: idle disks write more than it allows",
        with_facts(held_back(400), idle_writes),
        around(HIGHEST_AT_LIMIT * 400),
        SUPPORTED,
        RULED_OUT,
    ),
    threshold(
        "cgroup-io-limit: idle disks do not reach it",
        with_facts(held_back(200), idle_writes),
        around(limits._MEASURED_AT_LIMIT_SHARE * 200),
        RULED_OUT,
        SUPPORTED,
    ),
    threshold(
        "cgroup-io-limit: first reads exceed it",
        with_facts(LIMITED_READS, longer_first_reads),
        around(1000 / (HIGHEST_AT_LIMIT * READ_LIMIT_MIB)),
        RULED_OUT,
        SUPPORTED,
    ),
    threshold(
        "cgroup-io-limit: first reads do not reach it",
        with_facts(LIMITED_READS, longer_first_reads),
        around(1000 / (LOWEST_AT_LIMIT * READ_LIMIT_MIB)),
        SUPPORTED,
        RULED_OUT,
    ),
    threshold(
        "cgroup-io-limit: reached on average",
        limit_of_half,
        around(HALF_MIB / limits._AVERAGE_AT_LIMIT_SHARE),
        SUPPORTED,
        RULED_OUT,
    ),
    threshold(
        "cgroup-io-limit: holds for long enough to bind",
        lambda windows: held_for(round(windows), 0),
        around(limits._BINDS_SHARE * WINDOWS, margin=0.02),
        EQUAL_COSTS,
        TOO_SMALL,
    ),
    threshold(
        "cgroup-io-limit: holds in enough windows",
        lambda windows: held_for(round(windows)),
        around(limits._HELD_SHARE * WINDOWS, margin=0.05),
        RULED_OUT,
        SUPPORTED,
    ),
    threshold(
        "cgroup-io-limit: requests of writeback",
        few_writes,
        around(HALF_MIB * MIB / limits._SEQUENTIAL_REQUEST_BYTES),
        NOT_SEPARABLE,
        RULED_OUT,
    ),
    threshold(
        "cgroup-io-limit: requests as large as they are",
        few_writes,
        around(HALF_MIB * MIB / SMALLEST_REQUEST),
        SUPPORTED,
        NOT_SEPARABLE,
    ),
    threshold(
        "cgroup-io-limit: requests larger than any",
        few_writes,
        around(HALF_MIB * MIB / LARGEST_REQUEST),
        NOT_SEPARABLE,
        SUPPORTED,
    ),
    threshold(
        "cgroup-io-limit: as fast",
        limited_volume,
        around(AS_FAST_SHARE * INTEL_MIB),
        TOO_SMALL,
        "A cgroup limits the slower side's I/O, but its disks move",
    ),
]


@pytest.mark.parametrize(("cause", "judge", "values", "expected"), WAITS + DISK_SPEED + IO_LIMITS)
def test_threshold(cause, judge, values, expected):
    """Just below and just above it are two states, or two reasons."""
    assert_threshold(cause, judge, values, expected)
