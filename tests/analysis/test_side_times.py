# SPDX-License-Identifier: MPL-2.0
"""What the storage of a side did, and whether its copies waited for it."""

from typing import Any

import pytest
import seed_workers
from seed_facts import waiting_for_io

from io_benchmark.analysis.observed.sides import Side
from io_benchmark.analysis.side_times import SideStorage

ENTRY = "workloads.0"
MIB = 1024 * 1024


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


def side(*changes: dict[str, Any]) -> SideStorage:
    """Return what the storage of a side did, with one worker per change."""
    change = {f"amd-16/{number}": facts for number, facts in enumerate(changes)}
    runs = seed_workers.workers(len(changes), pools=["amd-16"], change=change)
    return SideStorage.of_side(Side.of_workers(runs, seed_workers.SUBJECT))


@pytest.mark.parametrize(
    ("change", "waits"),
    [
        ({}, 1.0),
        (waiting_for_io(0.19), 0.0),
        (waiting_for_io(0.21), 1.0),
        # A cache that does not fit; all in memory, whatever a neighbour waits for.
        (moved(22_900, 3), 1.0),
        (moved(22_500, 3), 0.0),
        # What the final sync wrote did not hold up a copy.
        (moved(0, 42_900) | left(20_000), 1.0),
        (moved(0, 42_500) | left(20_000), 0.0),
        ({"timeline": None}, None),
        ({f"{ENTRY}.device_bytes": None}, None),
    ],
)
def test_waiting(change: dict[str, Any], waits: float | None) -> None:
    """Copies wait where bytes reach or leave the disks meanwhile, and something waits for I/O."""
    made = side(change)
    assert made.waiting_runs_ratio == waits


def test_where_bytes_went() -> None:
    """Each worker counts alike, as far as it recorded the figure."""
    made = side({}, moved(0, 20_000) | left(19_900), {"timeline": None})
    assert made.written_bytes is not None
    assert made.left_dirty_bytes == (80 + 19_900 + 80) / 3 * MIB
    assert (made.io_wait_ratio, made.write_cap_bytes_per_s) == (0.48, 350 * MIB)
    assert made.waiting_runs_ratio == 0.5


def test_what_other_processes_left_dirty_is_not_counted() -> None:
    """Where the disks' counters around the final sync are known, they replace the machine's."""
    synced = {"nvme0n1": {"read": 0, "written": 3 * MIB}, "nvme1n1": {"read": 1, "written": MIB}}
    for counters, left_mib in ((synced, 4), ({}, 19_900)):
        made = side({**left(19_900), f"{ENTRY}.final_sync_device_bytes": counters})
        assert made.left_dirty_bytes == left_mib * MIB
