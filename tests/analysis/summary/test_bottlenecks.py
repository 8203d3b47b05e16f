# SPDX-License-Identifier: MPL-2.0
"""The bottleneck of a run, by its signature."""

from typing import Any

import pytest
import seed_workers
from seed_facts import io_limit

from io_benchmark.analysis.observed.sides import Side
from io_benchmark.analysis.report_model import Bottleneck, SideBottleneck
from io_benchmark.analysis.summary import bottlenecks
from io_benchmark.report.content.wording import text_of

ENTRY = "workloads.0"
MIB = 1024 * 1024
NO_PRESSURE = {"timeline.columns.psi_io_some_us": lambda column: [0] * len(column)}
NOT_GOOGLES = {"task.instance_type": "m5.large", "storage.places.0.devices.1.model": "other"}


def growing(per_second: float) -> Any:
    """A counter that grows evenly; the timeline has a value a second."""
    return lambda column: [round(per_second * at) for at in range(len(column))]


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
    return bottlenecks.bottlenecks_of_sides(seed_workers.SUBJECT, {"amd-16": views})["amd-16"]


WAITS, WRITTEN = "waiting for I/O 48 % of the time", "100 % of the bytes written meanwhile"
CALM = "waiting for I/O 0 % of the time"
BUSY = "timeline.devices.nvme1n1.busy_ms"


def in_100_s(written_mib: int) -> dict[str, Any]:
    """Return a run of 100 s without a final sync, whose disk is not busy."""
    times = {f"{ENTRY}.run_ns": 100 * 10**9, f"{ENTRY}.final_sync_ns": 0}
    return {**moved(0, written_mib), **left(0), **times, BUSY: growing(20)}


def waiting(us_per_s: int) -> dict[str, Any]:
    return {"timeline.columns.psi_io_some_us": growing(us_per_s)}


def lookups(percent: int) -> dict[str, Any]:
    """Return retrieves of 100 ms, of which lookups take this share."""
    times_ns = {"lookup_ns": percent * 10**6, "copy_ns": (100 - percent) * 10**6}
    samples = {f"{ENTRY}.samples.{name}": time_ns for name, time_ns in times_ns.items()}
    return {
        key: lambda column, time_ns=time_ns: [time_ns] * len(column)
        for key, time_ns in samples.items()
    }


@pytest.mark.parametrize(
    ("change", "bottleneck", "reason"),
    [
        ({}, Bottleneck.CAP, f"{WAITS}, {WRITTEN}, at 388 MiB/s of a cap of 350 MiB/s"),
        # A busy disk, and writers that are held back while no disk is.
        (
            *({**NOT_GOOGLES, BUSY: growing(810)}, Bottleneck.DEVICE),
            f"{WAITS}, {WRITTEN}, a disk busy 81 %",
        ),
        (
            *({**NOT_GOOGLES, BUSY: growing(790)}, Bottleneck.WRITEBACK),
            f"{WAITS}, {WRITTEN}, no disk busy more than 79 %",
        ),
        # A rate near the cap is the cap's: 350 MiB/s in 100 s, some 27 % of the bytes.
        (in_100_s(30_000), Bottleneck.CAP, f"{WAITS}, 27 % of the bytes written meanwhile, at 300"),
        (in_100_s(29_500), Bottleneck.WRITEBACK, f"{WAITS}, 26 % of the bytes written meanwhile"),
        # A cgroup's limit on the disk is a cap; on another disk it is none.
        (
            *({**NOT_GOOGLES, **io_limit(400 * MIB)}, Bottleneck.CAP),
            f"{WAITS}, {WRITTEN}, at 388 MiB/s of a cap of 400 MiB/s",
        ),
        (
            *({**NOT_GOOGLES, **io_limit(400 * MIB, name="sdb"), BUSY: growing(20)},),
            *(Bottleneck.WRITEBACK, f"{WAITS}, {WRITTEN}, no disk busy"),
        ),
        # Waiting for less than a fifth of the time is none.
        (waiting(190_000), Bottleneck.PAGE_CACHE, f"waiting for I/O 19 % of the time, {WRITTEN}"),
        (waiting(210_000), Bottleneck.CAP, f"waiting for I/O 21 % of the time, {WRITTEN}, at 388"),
        # A cache that does not fit; all in memory, whatever a neighbour waits for.
        (
            *({**NOT_GOOGLES, **moved(110_000, 3)}, Bottleneck.READING),
            f"{WAITS}, 97 % of the bytes read from disk",
        ),
        ({**NOT_GOOGLES, **moved(22_900, 3)}, Bottleneck.READING, f"{WAITS}, 20 % of the bytes"),
        (
            *({**NOT_GOOGLES, **moved(22_500, 3)}, Bottleneck.PAGE_CACHE),
            "0 % of the bytes written meanwhile",
        ),
        # A disk that keeps pace, too few CPUs, and lookups.
        (NO_PRESSURE, Bottleneck.PAGE_CACHE, f"{CALM}, {WRITTEN}"),
        (
            *({**NO_PRESSURE, "timeline.columns.psi_cpu_some_us": growing(310_000)},),
            *(Bottleneck.CPU, f"{CALM}, {WRITTEN}, waiting for a CPU 31 % of the time"),
        ),
        (
            *({**NO_PRESSURE, "timeline.columns.psi_cpu_some_us": growing(290_000)},),
            *(Bottleneck.PAGE_CACHE, f"{CALM}, {WRITTEN}"),
        ),
        (
            *({**moved(3, 3), **lookups(51)}, Bottleneck.CPU),
            "0 % of the bytes written meanwhile, 51 % of the time looking up",
        ),
        (
            *({**moved(3, 3), **lookups(49)}, Bottleneck.PAGE_CACHE),
            "0 % of the bytes written meanwhile",
        ),
        ({"timeline": None}, Bottleneck.UNKNOWN, f"{WRITTEN}, but no pressure was recorded"),
        (
            *({f"{ENTRY}.device_bytes": None}, Bottleneck.UNKNOWN),
            "the disks' counters were not recorded",
        ),
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
    assert made.bottleneck is Bottleneck.PAGE_CACHE
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
        ([{}, {}, ABSORBED], Bottleneck.CAP),
        ([{}, ABSORBED], Bottleneck.UNKNOWN),
        ([{"timeline": None}, ABSORBED], Bottleneck.PAGE_CACHE),
        ([{"timeline": None}], Bottleneck.UNKNOWN),
    ],
)
def test_several_workers(changes: list[dict[str, Any]], bottleneck: Bottleneck) -> None:
    """A side's bottleneck is that of more than half of its runs that show one."""
    made = side(*changes)
    assert made.bottleneck is bottleneck
    assert made.written_bytes is not None
