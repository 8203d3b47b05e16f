# SPDX-License-Identifier: MPL-2.0
"""The bottleneck of a run, by its signature."""

from typing import Any

import pytest
import seed_workers
from msgspec.structs import replace

from io_benchmark.analysis.report_model import Bottleneck, SideBottleneck
from io_benchmark.analysis.summary import bottlenecks
from io_benchmark.report.content.statement_text import text_of

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


def found(change: dict[str, Any], pool: str = "amd-16") -> SideBottleneck:
    sides = {pool: seed_workers.workers(1, pools=[pool], change={pool: change})}
    return bottlenecks.bottlenecks_of_sides(seed_workers.SUBJECT, sides)[pool]


@pytest.mark.parametrize(
    ("change", "bottleneck", "why"),
    [
        pytest.param(
            {},
            Bottleneck.CAP,
            "waiting for I/O 48 % of the time, 100 % of the bytes written meanwhile, at 388 MiB/s "
            "of a cap of 350 MiB/s",
            id="the seed's",
        ),
        pytest.param(
            {**NOT_GOOGLES, "timeline.devices.nvme1n1.busy_ms": growing(950)},
            Bottleneck.DEVICE,
            "waiting for I/O 48 % of the time, 100 % of the bytes written meanwhile, a disk busy "
            "95 %",
            id="a busy disk",
        ),
        pytest.param(
            {**NOT_GOOGLES, "timeline.devices.nvme1n1.busy_ms": growing(20)},
            Bottleneck.WRITEBACK,
            "waiting for I/O 48 % of the time, 100 % of the bytes written meanwhile, no disk busy "
            "more than 2 %",
            id="writers held back",
        ),
        pytest.param(
            {**NOT_GOOGLES, **moved(110_000, 3)},
            Bottleneck.READING,
            "waiting for I/O 48 % of the time, 97 % of the bytes read from disk",
            id="a cache that does not fit",
        ),
        pytest.param(
            {**NOT_GOOGLES, **moved(3, 3)},
            Bottleneck.PAGE_CACHE,
            "0 % of the bytes written meanwhile",
            id="all in memory, whatever a neighbour waits for",
        ),
        pytest.param(
            {**NO_PRESSURE},
            Bottleneck.PAGE_CACHE,
            "waiting for I/O 0 % of the time, 100 % of the bytes written meanwhile",
            id="a disk that keeps pace",
        ),
        pytest.param(
            {**moved(3, 3), f"{ENTRY}.samples.lookup_ns": lambda column: [10**9] * len(column)},
            Bottleneck.CPU,
            "0 % of the bytes written meanwhile, 87 % of the time looking up",
            id="lookups",
        ),
        pytest.param(
            {**NO_PRESSURE, "timeline.columns.psi_cpu_some_us": growing(600_000)},
            Bottleneck.CPU,
            "waiting for I/O 0 % of the time, 100 % of the bytes written meanwhile, waiting for a "
            "CPU 60 % of the time",
            id="too few CPUs",
        ),
        pytest.param(
            {"timeline": None},
            Bottleneck.UNKNOWN,
            "100 % of the bytes written meanwhile, but no pressure was recorded",
            id="no timeline",
        ),
        pytest.param(
            {f"{ENTRY}.device_bytes": None},
            Bottleneck.UNKNOWN,
            "the disks' counters were not recorded",
            id="no counters",
        ),
    ],
)
def test_signatures(change: dict[str, Any], bottleneck: Bottleneck, why: str) -> None:
    """Each bottleneck is recognized by its signature, and unknown without one."""
    run = found(change)
    assert (run.bottleneck, text_of(run.reason)) == (bottleneck, why)


def test_what_the_last_copy_left_was_not_written_meanwhile() -> None:
    """All that reached the disk reached it in the final sync: the copies were absorbed."""
    run = found({**NOT_GOOGLES, **moved(0, 20_000), **left(19_900), **NO_PRESSURE})
    assert run.bottleneck is Bottleneck.PAGE_CACHE
    assert (run.written_bytes, run.left_dirty_bytes) == (20_000 * MIB, 19_900 * MIB)


def test_what_other_processes_left_dirty_is_not_counted() -> None:
    """Where the disks' counters around the final sync are known, they replace the machine's."""
    synced = {"nvme0n1": {"read": 0, "written": 3 * MIB}, "nvme1n1": {"read": 1, "written": MIB}}
    run = found({**left(19_900), f"{ENTRY}.final_sync_device_bytes": synced})
    assert run.left_dirty_bytes == 4 * MIB
    run = found({**left(19_900), f"{ENTRY}.final_sync_device_bytes": {}})
    assert run.left_dirty_bytes == 19_900 * MIB


def test_the_figure_that_is_steady() -> None:
    """Medians where memory takes everything, means where writers wait for the disk."""
    assert {one.name for one in Bottleneck if one.median_is_steady} == {"PAGE_CACHE", "CPU"}


ABSORBED = {**NO_PRESSURE, **moved(3, 3)}


@pytest.mark.parametrize(
    ("changes", "bottleneck"),
    [
        pytest.param([{}, {}, ABSORBED], Bottleneck.CAP, id="most"),
        pytest.param([{}, ABSORBED], Bottleneck.UNKNOWN, id="half each"),
        pytest.param([{"timeline": None}, ABSORBED], Bottleneck.PAGE_CACHE, id="one tells"),
        pytest.param([{"timeline": None}], Bottleneck.UNKNOWN, id="none tells"),
    ],
)
def test_several_workers(changes: list[dict[str, Any]], bottleneck: Bottleneck) -> None:
    """A side's bottleneck is that of most of its runs; the bytes are their means."""
    change = {f"amd-16/{at}": one for at, one in enumerate(changes)}
    workers = seed_workers.workers(len(changes), pools=["amd-16"], change=change)
    sides = bottlenecks.bottlenecks_of_sides(seed_workers.SUBJECT, {"amd-16": workers})
    assert sides["amd-16"].bottleneck is bottleneck
    assert sides["amd-16"].written_bytes is not None


def test_other_workloads_have_none() -> None:
    """Only copies go through the page cache in this way."""
    subject = replace(seed_workers.SUBJECT, workload="spawn")
    workers = seed_workers.workers(1, pools=["intel"])
    assert bottlenecks.bottlenecks_of_sides(subject, {"intel": workers}) == {}
