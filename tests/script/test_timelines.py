# SPDX-License-Identifier: MPL-2.0
"""The timelines: of a run, once a second by a separate process; of a command, ten times per second."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from observe import timelines
from observe.timelines import CommandTimeline
from worker import Worker, needs_disk

from io_benchmark.results.reader import MAXIMUM_PARTS

Record = Callable[..., None]


def test_a_row_has_a_value_for_each_column(recorded: Record) -> None:
    """Recorded figures of every source arrive under their names, with their units."""
    recorded(
        {
            "/proc/meminfo": "Dirty: 10 kB\nWriteback: 4 kB\nMemAvailable: 100 kB\n",
            "/proc/pressure/io": "some avg10=0.00 total=11\nfull avg10=0.00 total=7\n",
            "/proc/pressure/memory": "some avg10=0.00 total=5\n",
            "/proc/stat": "cpu  100 0 200 300 400 0 0 50 0 0\ncpu0 1\n",
            "/proc/9/io": "read_bytes: 4096\nwrite_bytes: 8192\n",
            "/proc/9/stat": "9 (a) b) S 1 1 1 0 -1 0 0 0 0 0 3 4 1 2 20 0 1 0 5\n",
            "/proc/diskstats": "259 0 nvme0n1 1 0 16 1 1 0 32 1 0 77 1 0 0 0 0 0 0\n",
        }
    )
    disks = ["nvme0n1", "gone"]
    row = dict(zip(timelines.column_names(disks), timelines.sample(9, disks), strict=True))
    tick_ms = 1000 // os.sysconf("SC_CLK_TCK")
    ticks = {"user": 100, "nice": 0, "system": 200, "idle": 300, "iowait": 400, "steal": 50}
    row.pop("time_ns")
    assert row == {
        "dirty_bytes": 10240,
        "writeback_bytes": 4096,
        "memory_available_bytes": 102400,
        "psi_io_some_us": 11,
        "psi_io_full_us": 7,
        "psi_memory_some_us": 5,
        "psi_cpu_some_us": None,
        **{f"cpu_{name}_ms": ticks.get(name, 0) * tick_ms for name in timelines.CPU_TICKS},
        "own_read_bytes": 4096,
        "own_written_bytes": 8192,
        "own_user_ms": 4 * tick_ms,
        "own_system_ms": 6 * tick_ms,
        "nvme0n1:read_bytes": 8192,
        "nvme0n1:written_bytes": 16384,
        "nvme0n1:busy_ms": 77,
        **dict.fromkeys(("gone:read_bytes", "gone:written_bytes", "gone:busy_ms")),
    }


def test_it_samples_until_it_is_stopped() -> None:
    """A first and a last row at least; stopping waits for the process and is no early end."""
    sampler = timelines.Sampler([], time.monotonic_ns())
    time.sleep(1.3)
    sampler.take()
    ((_, process, _),) = sampler._crew._members.values()
    sampler.stop()
    times = sampler.as_timeline()["columns"]["time_ns"]
    assert (sampler.ended_early, times) == (None, sorted(times))
    assert len(times) >= 3
    assert not Path(f"/proc/{process}").exists()


def test_the_timeline_shows_the_copies(worker: Worker) -> None:
    """A run's own writes are in the timeline, in bytes, with columns of one length."""
    needs_disk(worker.workspace)
    worker.complete("--retrieves", "300", "--sizes", "10x2")
    timeline = worker.result().timeline
    assert timeline is not None
    written = [value for value in timeline.columns["own_written_bytes"] if value is not None]
    assert written[-1] - written[0] >= 300 * 2 * 1024 * 1024


def row_of(number: int) -> dict[str, str]:
    """What the kernel shows of one disk after so many writes."""
    return {"/proc/diskstats": f"259 0 nvme0n1 1 0 1 0 {number} 0 1 0 0 1 0 0\n"}


@pytest.fixture
def timeline(recorded: Record) -> CommandTimeline:
    recorded(row_of(1))
    return CommandTimeline(["nvme0n1", "gone"])


def test_costly_rows_are_further_apart(
    timeline: CommandTimeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    """5 ms of CPU time for a row: one per second, so that all take 0.5 % of the time."""
    ticks = iter([0, 5_000_000])
    monkeypatch.setattr(time, "thread_time_ns", lambda: next(ticks))
    timeline.take()
    assert 0.9 < timeline.rest_s() <= 1.1


def test_a_pause_is_not_made_up_for(
    timeline: CommandTimeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine that stood still for an hour: one row, then the next a tenth later."""
    now = time.monotonic() + 3600
    monkeypatch.setattr(time, "monotonic", lambda: now)
    timeline.take()
    assert timeline.rest_s() == 0
    timeline.take()
    assert timeline.rest_s() > 0


def test_a_long_run(monkeypatch: pytest.MonkeyPatch, recorded: Record) -> None:
    """Rows are dropped evenly, never the first or the last one, and the interval doubles."""
    monkeypatch.setattr(timelines, "ROWS_AT_MOST", 11)
    recorded(row_of(1))
    timeline = CommandTimeline(["nvme0n1"])
    for number in range(2, 36):
        recorded(row_of(number))
        timeline.take()
    document = timeline.as_timeline()
    assert document["interval_s"] == timelines.COMMAND_EVERY_S * 2**5
    writes = document["devices"]["nvme0n1"]["writes"]
    assert (writes[0], writes[-1], writes) == (1, 35, sorted(writes))
    assert 5 <= len(writes) <= 11


def test_what_is_missing_is_null(timeline: CommandTimeline, recorded: Record) -> None:
    """A device that was never there has no columns; one that went away has nulls."""
    recorded({"/proc/diskstats": ""})
    timeline.take()
    disks = timeline.as_timeline()["devices"]
    assert (list(disks), disks["nvme0n1"]["reads"]) == (["nvme0n1"], [1, None])


def test_a_reader_takes_the_longest_profile() -> None:
    """Its cells are fewer than the values that a reader decodes."""
    commas = {character: most for character, most, _ in MAXIMUM_PARTS}[b","]
    assert commas / 2 > timelines.CELLS_AT_MOST
    assert timelines.ROWS_AT_MOST <= 100_000
