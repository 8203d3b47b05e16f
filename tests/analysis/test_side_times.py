# SPDX-License-Identifier: MPL-2.0
"""The bottleneck of a run, by its signature."""

from typing import Any

import pytest
import seed_workers
from seed_case import RETRIEVES
from seed_facts import counting, io_limit, waiting_for_io

from io_benchmark.analysis import side_times
from io_benchmark.analysis.observed.sides import Side
from io_benchmark.analysis.side_times import Bottleneck, SideBottleneck
from io_benchmark.report.content import text_of

ENTRY = "workloads.0"
MIB = 1024 * 1024
NO_PRESSURE = waiting_for_io(0)
NOT_GOOGLES = {"task.instance_type": "m5.large", "storage.places.0.devices.1.model": "other"}


def moved(read_mib: int, written_mib: int) -> dict[str, Any]:
    return {
        f"{ENTRY}.device_bytes": {
            "nvme1n1": {"read": read_mib * MIB, "written": written_mib * MIB},
        }
    }


def left(mib: int) -> dict[str, Any]:
    return {
        f"{ENTRY}.dirty_before_sync_bytes": mib * MIB,
        f"{ENTRY}.writeback_before_sync_bytes": 0,
    }


def side(*changes: dict[str, Any]) -> SideBottleneck:
    """Return the bottleneck of a side with one worker per change."""
    change = {f"amd-16/{number}": facts for number, facts in enumerate(changes)}
    runs = seed_workers.workers(len(changes), pools=["amd-16"], change=change)
    views = Side.of_workers(runs, seed_workers.SUBJECT)
    return side_times.bottlenecks_of_sides(seed_workers.SUBJECT, {"amd-16": views})["amd-16"]


WAITS, WRITTEN = "waiting for I/O 48 % of the time", "100 % of the bytes written meanwhile"
CALM, ABSORBED_ALL = "waiting for I/O 0 % of the time", "0 % of the bytes written meanwhile"
CAP, CPU, DEVICE, PAGE_CACHE, READING, UNKNOWN, WRITEBACK = (
    *(Bottleneck.CAP, Bottleneck.CPU, Bottleneck.DEVICE, Bottleneck.PAGE_CACHE),
    *(Bottleneck.READING, Bottleneck.UNKNOWN, Bottleneck.WRITEBACK),
)


def busy(ms_per_s: int) -> dict[str, Any]:
    return {"timeline.devices.nvme1n1.busy_ms": counting(ms_per_s)}


def waiting_for_a_cpu(share: float) -> dict[str, Any]:
    return NO_PRESSURE | {"timeline.columns.psi_cpu_some_us": counting(share * 1e6)}


def in_100_s(written_mib: int) -> dict[str, Any]:
    """Return a run of 100 s without a final sync, whose disk is not busy."""
    times = {f"{ENTRY}.run_ns": 100 * 10**9, f"{ENTRY}.final_sync_ns": 0}
    return moved(0, written_mib) | left(0) | times | busy(20)


def lookups(percent: int) -> dict[str, Any]:
    """Return retrieves of 100 ms that reach no disk, of which lookups take this share."""
    times_ms = {"lookup_ns": percent, "copy_ns": 100 - percent}
    return moved(3, 3) | {
        f"{ENTRY}.samples.{name}": [time_ms * 10**6] * RETRIEVES
        for name, time_ms in times_ms.items()
    }


def reading(mib: int) -> dict[str, Any]:
    return NOT_GOOGLES | moved(mib, 3)


@pytest.mark.parametrize(
    ("change", "bottleneck", "reason"),
    [
        ({}, CAP, f"{WAITS}, {WRITTEN}, at 388 MiB/s of a cap of 350 MiB/s"),
        # A busy disk, and writers that are held back while no disk is.
        (NOT_GOOGLES | busy(810), DEVICE, f"{WAITS}, {WRITTEN}, a disk busy 81 %"),
        (NOT_GOOGLES | busy(790), WRITEBACK, f"{WAITS}, {WRITTEN}, no disk busy more than 79 %"),
        # A rate near the cap is the cap's: 350 MiB/s in 100 s, some 27 % of the bytes.
        (in_100_s(30_000), CAP, f"{WAITS}, 27 % of the bytes written meanwhile, at 300"),
        (in_100_s(29_500), WRITEBACK, f"{WAITS}, 26 % of the bytes written meanwhile"),
        # A cgroup's limit on the disk is a cap; on another disk it is none.
        (
            NOT_GOOGLES | io_limit(400 * MIB),
            CAP,
            f"{WAITS}, {WRITTEN}, at 388 MiB/s of a cap of 400",
        ),
        (
            NOT_GOOGLES | io_limit(400 * MIB, name="sdb") | busy(20),
            *(WRITEBACK, f"{WAITS}, {WRITTEN}, no disk busy"),
        ),
        # Waiting for less than a fifth of the time is none.
        (waiting_for_io(0.19), PAGE_CACHE, f"waiting for I/O 19 % of the time, {WRITTEN}"),
        (waiting_for_io(0.21), CAP, f"waiting for I/O 21 % of the time, {WRITTEN}, at 388"),
        # A cache that does not fit; all in memory, whatever a neighbour waits for.
        (reading(110_000), READING, f"{WAITS}, 97 % of the bytes read from disk"),
        (reading(22_900), READING, f"{WAITS}, 20 % of the bytes"),
        (reading(22_500), PAGE_CACHE, ABSORBED_ALL),
        # A disk that keeps pace, too few CPUs, and lookups.
        (NO_PRESSURE, PAGE_CACHE, f"{CALM}, {WRITTEN}"),
        (waiting_for_a_cpu(0.31), CPU, f"{CALM}, {WRITTEN}, waiting for a CPU 31 % of the time"),
        (waiting_for_a_cpu(0.29), PAGE_CACHE, f"{CALM}, {WRITTEN}"),
        (lookups(51), CPU, f"{ABSORBED_ALL}, 51 % of the time looking up"),
        (lookups(49), PAGE_CACHE, ABSORBED_ALL),
        ({"timeline": None}, UNKNOWN, f"{WRITTEN}, but no pressure was recorded"),
        ({f"{ENTRY}.device_bytes": None}, UNKNOWN, "the disks' counters were not recorded"),
    ],
)
def test_signatures(change: dict[str, Any], bottleneck: Bottleneck, reason: str) -> None:
    """Each bottleneck is recognized by its signature, and unknown without one."""
    made = side(change)
    assert made.bottleneck is bottleneck
    assert text_of(made.reason).startswith(reason)


def test_what_the_last_copy_left_was_not_written_meanwhile() -> None:
    """All that reached the disk reached it in the final sync: the copies were absorbed."""
    made = side({**NOT_GOOGLES, **moved(0, 20_000), **left(19_900), **NO_PRESSURE})
    assert made.bottleneck is PAGE_CACHE
    assert (made.written_bytes, made.left_dirty_bytes) == (20_000 * MIB, 19_900 * MIB)


def test_what_other_processes_left_dirty_is_not_counted() -> None:
    """Where the disks' counters around the final sync are known, they replace the machine's."""
    synced = {"nvme0n1": {"read": 0, "written": 3 * MIB}, "nvme1n1": {"read": 1, "written": MIB}}
    for counters, left_mib in ((synced, 4), ({}, 19_900)):
        made = side({**left(19_900), f"{ENTRY}.final_sync_device_bytes": counters})
        assert made.left_dirty_bytes == left_mib * MIB


ABSORBED = {**NO_PRESSURE, **moved(3, 3)}


@pytest.mark.parametrize(
    ("changes", "bottleneck"),
    [
        ([{}, {}, ABSORBED], CAP),
        ([{}, ABSORBED], UNKNOWN),
        ([{"timeline": None}, ABSORBED], PAGE_CACHE),
        ([{"timeline": None}], UNKNOWN),
    ],
)
def test_several_workers(changes: list[dict[str, Any]], bottleneck: Bottleneck) -> None:
    """A side's bottleneck is that of more than half of its runs that show one."""
    made = side(*changes)
    assert made.bottleneck is bottleneck
    assert made.written_bytes is not None
