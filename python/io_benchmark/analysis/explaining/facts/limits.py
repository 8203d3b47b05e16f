# SPDX-License-Identifier: MPL-2.0
"""Whether copies were blocked at a cgroup's limit of I/O, and for how long."""

import math
from collections.abc import Iterable, Sequence
from operator import mul
from typing import TypeVar

from io_benchmark.analysis.model.run import Run
from io_benchmark.analysis.reading import disk_rates
from io_benchmark.analysis.reading.disks import stack_of
from io_benchmark.analysis.reading.windows import Window
from io_benchmark.results.machine import IoLimit
from io_benchmark.results.parts import NS_PER_S

_BINDS_SHARE = 0.2  # a limit binds if it is reached in more of the time that copies are blocked
_HELD_SHARE = 0.05  # a limit holds if at least this share of the windows are at it
_FEWEST_HELD = 2  # one window may be at any rate by chance
# A window's rate over a limit that holds; a limit that is exceeded is not enforced.
_AT_LIMIT_SHARES = (0.85, 1.25)
# What idle disks wrote over a limit that holds, and the share of the time in which they wrote.
_MEASURED_AT_LIMIT_SHARE, _LEAST_WRITING_SHARE = 0.93, 0.3
# Without windows: the run's average rate over a limit that holds for most of the run, at least.
_AVERAGE_AT_LIMIT_SHARE = 0.7
# The fewest bytes of an average request: of writeback, and of small writes. A small write is a page
# of 4 KiB and a flush without bytes, so 2 KiB on average; half of that, because other work delays
# some.
_SEQUENTIAL_REQUEST_BYTES, _SMALL_REQUEST_BYTES = 32 * 1024, 1024
# Sizes of writeback's largest requests: a limit at which they would be as large is reached.
_LARGE_REQUEST_BYTES = (192 * 1024, 1536 * 1024)
# Disks that write less than this share of a limit while they are busy are slower than the limit:
# the kernel counts no disk as busy that waits for a cgroup.
_DISKS_REACH_SHARE, _LEAST_BUSY_S = 0.95, 1.0
LIMITED = "A cgroup limits what the slower side's disks may write or read."
T = TypeVar("T")


def io_limits_of(run: Run) -> list[IoLimit]:
    """Return the limits on the place's devices, and those on devices that are not known."""
    if run.limits is None:
        return []
    devices = run.place.devices if run.place is not None else []
    numbers = {device.number for device in devices}
    names = {None, *(device.name for device in devices)}
    return [
        limit
        for limit in run.limits.io
        if not devices or limit.device in numbers or limit.device_name in names
    ]


def is_of_bytes(limit: IoLimit) -> bool:
    return "bytes" in limit.kind


def _is_of_reads(limit: IoLimit) -> bool:
    return limit.kind.startswith("read")


def limited(limit: IoLimit, pair: tuple[T, T]) -> T:
    """Return what the limit is about of a pair: the first is of reads, the second of writes."""
    of_reads, of_writes = pair
    return of_reads if _is_of_reads(limit) else of_writes


def reaches_limit(side: Iterable[Run]) -> bool:
    """Return whether copies of most of a side's workers were blocked at a limit.

    Operations are not counted: at a limit of them, the copies only may have been blocked, unless
    each operation would have as many bytes as large requests have.
    """
    reaching = [
        any(is_of_bytes(limit) or _moves_large_requests(limit, run) for limit in binding([run]))
        for run in side
    ]
    return 2 * sum(reaching) > len(reaching)


def _moves_large_requests(limit: IoLimit, run: Run) -> bool:
    rates = disk_rates.window_peak(run)
    if rates is None or run.retrieves is None:
        return False
    size = limited(limit, rates) / _disks_at_once(limit, run) / max(1, limit.value)
    return _LARGE_REQUEST_BYTES[0] <= size <= _LARGE_REQUEST_BYTES[1]


def binding(side: Iterable[Run]) -> list[IoLimit]:
    """Return the limits that hold the copies of these workers back."""
    return [
        limit
        for run in side
        for limit in io_limits_of(run)
        if at_limit_share(limit, run)
        > _BINDS_SHARE
        * _share_of_time(run, [window.blocked_share for window in disk_rates.windows_of(run)])
    ]


def _share_of_time(run: Run, shares: Sequence[float]) -> float:
    seconds = [window.seconds for window in disk_rates.windows_of(run)]
    return math.fsum(map(mul, seconds, shares)) / math.fsum(seconds) if seconds else 0.0


def at_limit_share(limit: IoLimit, run: Run) -> float:
    """Return the share of the time in which copies were blocked by the limit.

    It takes bytes ÷ limit to move them, where some windows show that it holds: those of the cold
    cache, or after a burst. Without windows, an average near the limit counts as all of the time.
    """
    windows = disk_rates.windows_of(run)
    if windows:
        held = [window for window in windows if _is_at(limit, _rate_in(window, limit), run)]
        is_at = _is_measured_at(limit, run)
        if is_at is None:
            is_at = len(held) >= max(_FEWEST_HELD, _HELD_SHARE * len(windows))
        if not is_at or _is_above_disks(limit, held, run):
            return 0.0
        return _share_of_time(run, [_held_share(limit, run, window) for window in windows])
    averages = disk_rates.moved_bytes_per_s(run)
    if averages is None or stack_of(run) is None:
        return 1.0  # nothing shows that it does not
    return float(_is_at(limit, limited(limit, averages), run, _AVERAGE_AT_LIMIT_SHARE))


def _rate_in(window: Window, limit: IoLimit) -> float:
    """Return the rate of a window while copies waited."""
    return limited(limit, (window.reading_bytes_per_s, window.writing_bytes_per_s))


def _is_above_disks(limit: IoLimit, held: Sequence[Window], run: Run) -> bool:
    """Return whether disks that are busy with writes write less than a limit allows."""
    writing = [window for window in held if window.hardly_reads]
    busy_s = math.fsum(window.busy_s for window in writing)
    if limit.kind != "write_bytes_per_s" or busy_s < _LEAST_BUSY_S:
        return False
    written = math.fsum(window.written_bytes_per_s * window.seconds for window in writing)
    return written / busy_s < _DISKS_REACH_SHARE * limit.value * _disks_at_once(limit, run)


def _is_measured_at(limit: IoLimit, run: Run) -> bool | None:
    """Return whether disks that have nothing else to do keep to a limit of bytes; None: unknown.

    In a window, copies on a CPU leave the disks idle, so its rate may be below a limit that holds.
    The files that idle disks wrote were first copied in memory, which may or may not overlap with
    writing.
    """
    if not is_of_bytes(limit):
        return None
    rate = disk_rates.idle_write_rate(run)
    if _is_of_reads(limit):
        first = run.first_read_bytes_per_s
        return True if first is not None and _is_at(limit, first, run) else None
    if rate is None or not run.copied_bytes:
        return None
    copying_s = run.copy_work_ns * len(run.size_bytes) / run.copied_bytes / NS_PER_S
    highest = rate / max(1 - rate * copying_s, _LEAST_WRITING_SHARE)
    if not _is_at(limit, highest, run, _MEASURED_AT_LIMIT_SHARE, math.inf):
        return False
    return True if _is_at(limit, rate, run, _MEASURED_AT_LIMIT_SHARE) else None


def _held_share(limit: IoLimit, run: Run, window: Window) -> float:
    """Return the share of a window in which copies were blocked by a limit that holds."""
    if not is_of_bytes(limit):
        is_held = _is_at(limit, _rate_in(window, limit), run)
        return window.blocked_share if is_held else 0.0
    moved = limited(limit, (window.read_bytes_per_s, window.written_bytes_per_s))
    moved_by_each = moved / _disks_at_once(limit, run)
    return min(window.blocked_share, moved_by_each / max(1, limit.value))


def _is_at(
    limit: IoLimit,
    bytes_per_s: float,
    run: Run,
    least: float = _AT_LIMIT_SHARES[0],
    most: float = _AT_LIMIT_SHARES[1],
) -> bool:
    """Return whether a rate of all disks is near a limit of the volume, or of each disk.

    Operations are not counted. Writeback of large files makes large requests, and other workloads
    make small ones: a limit on operations may bind where the rate has at least so many bytes for
    each.
    """
    rate = bytes_per_s / _disks_at_once(limit, run)
    if is_of_bytes(limit):
        return least * limit.value <= rate <= most * limit.value
    request_bytes = _SEQUENTIAL_REQUEST_BYTES if run.retrieves else _SMALL_REQUEST_BYTES
    return rate >= request_bytes * limit.value


def _disks_at_once(limit: IoLimit, run: Run) -> int:
    """Return how many disks share this limit: the limit of a volume is for all of its disks."""
    stack = stack_of(run)
    if stack is None:
        return 1
    is_of_disk = limit.device_name in (None, *(disk.name for disk in stack.disks))
    return stack.width if is_of_disk else 1
