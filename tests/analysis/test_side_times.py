# SPDX-License-Identifier: MPL-2.0
"""What the storage of a side did."""

from typing import Any

import seed_workers

from io_benchmark.analysis.observed.sides import Side
from io_benchmark.analysis.side_times import SideStorage

MIB = 1024 * 1024
MOVED = {"workloads.0.device_bytes": {"nvme1n1": {"read": 0, "written": 20_000 * MIB}}}


def side(*changes: dict[str, Any]) -> SideStorage:
    """Return what the storage of a side did, with one worker per change."""
    change = {f"amd-16/{number}": facts for number, facts in enumerate(changes)}
    runs = seed_workers.workers(len(changes), pools=["amd-16"], change=change)
    return SideStorage.of_side(Side.of_workers(runs, seed_workers.SUBJECT))


def test_where_bytes_went() -> None:
    """Each worker counts alike, as far as it recorded the figure."""
    made = side({}, MOVED, {"timeline": None})
    assert made.written_bytes is not None
    assert (made.io_wait_ratio, made.write_cap_bytes_per_s) == (0.48, 350 * MIB)
