# SPDX-License-Identifier: MPL-2.0
"""What the disks of a run moved, and at which rates; None is what was not recorded.

A rate that was only seen is *at least* what the disks can do, unless something waited for them. A
number of disks is not a capacity.
"""

from collections.abc import Callable, Sequence
from math import fsum
from operator import attrgetter
from statistics import median

from io_benchmark.analysis.model.once import once
from io_benchmark.analysis.model.run import Run
from io_benchmark.analysis.model.time_parts import Kind, Part, Phase
from io_benchmark.analysis.reading.counters import busiest_share, io_wait_share, rows_of
from io_benchmark.analysis.reading.disks import stack_of
from io_benchmark.analysis.reading.windows import Window
from io_benchmark.results import CacheRetrieveEntry, workloads
from io_benchmark.results.machine import WINDOWS
from io_benchmark.results.parts import NS_PER_S

# Where something waits for I/O for this part of the time, copies count as waiting for the disks.
WAITS_SHARE = 0.2
# Below these shares nothing waits for a disk, whatever the disk could do.
_HARDLY_MOVED_SHARE = 0.2
# Copies that are blocked for a smaller share of a retrieve's time do not wait for the disks.
_BLOCKED_SHARE = 0.02
# Nor do those for which all that waits for storage on the machine does so for less of the time.
_WAITED_SHARE = 0.5
# A window shows what disks do that are busy for this part of it; fewer windows show no rate.
_BUSY_SHARE, _FEWEST_BUSY = 0.2, 3


@once
def moved_bytes(run: Run) -> tuple[int, int] | None:
    """Return the bytes that the disks read and wrote, from the first sample to the final sync."""
    devices = run.facts.device_bytes if run.facts is not None else None
    if not devices:
        return None
    read = sum(device.read for device in devices.values())
    return read, sum(device.written for device in devices.values())


def written_bytes(run: Run) -> float | None:
    """Return the bytes that reached the disks."""
    moved = moved_bytes(run)
    return None if moved is None else moved[1]


def written_share(run: Run) -> float | None:
    """Return the bytes that reached the disks per byte copied."""
    moved, copied = moved_bytes(run), run.copied_bytes
    return moved[1] / copied if moved is not None and copied else None


@once
def moved_bytes_per_s(run: Run) -> tuple[float, float] | None:
    """Return the rates at which all disks of the place read and wrote."""
    facts, moved = run.facts, moved_bytes(run)
    if facts is None or moved is None or not facts.run_ns:
        return None
    sync_ns = facts.final_sync_ns if isinstance(facts, CacheRetrieveEntry) else 0
    elapsed_s = (facts.run_ns + (sync_ns or 0)) / NS_PER_S
    return moved[0] / elapsed_s, moved[1] / elapsed_s


def written_bytes_per_s(run: Run) -> float | None:
    """Return the rate at which all disks of the place wrote."""
    rates = moved_bytes_per_s(run)
    return rates[1] if rates is not None else None


@once
def windows_of(run: Run) -> tuple[Window, ...]:
    """Return the run in windows of its timeline; none where the disks' counters are missing."""
    stack = stack_of(run)
    if stack is None:
        return ()
    disks = {disk.name for disk in stack.disks}
    has_busy = run.system == WINDOWS or (run.limits is not None and bool(run.limits.io))
    return Window.of_run(run, rows_of(run), disks, has_busy=has_busy)


def windows_around(run: Run, moment_ns: int) -> tuple[tuple[Window, ...], tuple[Window, ...]]:
    """Return the windows that ended before a moment, and those that began after it."""
    windows = list(zip(windows_of(run), rows_of(run).spans_ns, strict=False))
    before = tuple(window for window, (_, end_ns) in windows if end_ns <= moment_ns)
    return before, tuple(window for window, (begin_ns, _) in windows if begin_ns > moment_ns)


@once
def window_peak(run: Run) -> tuple[float, float] | None:
    """Return the rates of reads and of writes that were kept up while copies waited."""
    return Window.peak(windows_of(run))


def peak_bytes_per_s(run: Run) -> tuple[float, float] | None:
    """Return the rates at which the disks read and wrote while copies waited for them."""
    return window_peak(run) or moved_bytes_per_s(run)


@once
def waits_for_disks(run: Run) -> bool | None:
    """Return whether this worker's copies waited for its disks; None: nothing shows it.

    The process' own time decides where it was recorded: pressure also counts writeback and
    neighbours.
    """
    into_files = run.copied_bytes
    bytes_of_workload = workloads.of(run.subject.workload).written_bytes
    if bytes_of_workload is not None and run.is_measured:
        into_files = bytes_of_workload(run.measured)
    least_bytes = _HARDLY_MOVED_SHARE * (into_files or 0)
    moved = moved_bytes(run)
    if moved is not None and sum(moved) < least_bytes:
        return False
    if run.blocked_ns is not None and run.known_mean_ns:
        is_blocked = run.blocked_ns >= _BLOCKED_SHARE * run.known_mean_ns
        return is_blocked and not _storage_is_idle(run)
    at_most = waited_share_at_most(run)
    if at_most is not None and at_most < _BLOCKED_SHARE:
        return False
    waited = io_wait_share(run)
    return None if waited is None else waited >= WAITS_SHARE


@once
def waited_share_at_most(run: Run) -> float | None:
    """Return the share of its time in which an operation on Windows waits for disks, at most.

    It is not on a CPU then, and its disks are busy. None on Linux, which records waiting.
    """
    if run.system != WINDOWS or not run.is_measured:
        return None
    phase = Phase.OPERATION if run.retrieves is None else Phase.COPY
    off_cpu_ns = run.parts_ns.get(Part(phase, Kind.UNEXPLAINED), 0.0)
    return min(off_cpu_ns / run.mean_ns, busiest_share(run) or 1.0)


def _storage_is_idle(run: Run) -> bool:
    """Return whether nothing waited for storage most of the time; False where nothing shows it."""
    if any(part.kind is Kind.ELSEWHERE for part in run.parts_ns):
        return False  # the blocked time is for storage then
    rows = rows_of(run)
    waited = rows.waited_share(run, range(len(rows.spans_ns)))
    return waited is not None and waited < _WAITED_SHARE


def idle_write_rate(run: Run) -> float | None:
    """Return how fast idle disks wrote the files of the trials, in bytes per second."""
    # Few files: the median leaves out one that something else disturbed.
    rates = [
        file.written_bytes / file.duration_ns
        for other in run.worker.runs
        if other.subject.place == run.subject.place and other.trials is not None
        for file in other.trials.ceilings
    ]
    return median(rates) * NS_PER_S if rates else None


def busy_read_rate(run: Run) -> float | None:
    """Return how fast the disks read while copies waited for them, in bytes per second."""
    return _busy_rates(run)[0] or None


def busy_write_rate(run: Run) -> float | None:
    """Return how fast the disks wrote while copies waited, in bytes of files per second."""
    stack = stack_of(run)
    return _busy_rates(run)[1] / (stack.copies if stack is not None else 1) or None


def _busy_rates(run: Run) -> tuple[float, float]:
    if run.system == WINDOWS:
        return _rates_while_busy(run)
    return (window_peak(run) if waits_for_disks(run) else None) or (0.0, 0.0)


@once
def _rates_while_busy(run: Run) -> tuple[float, float]:
    """Return what the disks moved per second in which they were busy, in windows of one way.

    Windows does not record what a process waits for, but a disk that it waits for is busy.
    """
    busy = [window for window in windows_of(run) if window.busy_s >= _BUSY_SHARE * window.seconds]
    writing = [window for window in busy if window.hardly_reads]
    reading = [window for window in busy if window.hardly_writes]
    return (
        _per_busy_s(reading, attrgetter("read_bytes_per_s")),
        _per_busy_s(writing, attrgetter("written_bytes_per_s")),
    )


def _per_busy_s(windows: Sequence[Window], rate: Callable[[Window], float]) -> float:
    if len(windows) < _FEWEST_BUSY:
        return 0.0
    moved = fsum(rate(window) * window.seconds for window in windows)
    return moved / fsum(window.busy_s for window in windows)
