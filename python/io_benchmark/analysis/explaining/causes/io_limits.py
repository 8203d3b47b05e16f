# SPDX-License-Identifier: MPL-2.0
"""A limit that a cgroup sets on one side's I/O: whether copies were blocked at it, and for how long."""

import math
from collections.abc import Iterable, Sequence
from functools import partial
from operator import attrgetter, mul

from msgspec.structs import replace

from io_benchmark.analysis.explaining.case import Case
from io_benchmark.analysis.explaining.causes.ranked_settings import (
    FAR_ABOVE,
    NEITHER,
    NO_HIERARCHY,
    NO_LIMIT,
)
from io_benchmark.analysis.explaining.effects import Effect, Proof, Size
from io_benchmark.analysis.explaining.measured_gains import Push
from io_benchmark.analysis.explaining.rules import RankedFact, Ranking, RemedyRule, ranked_cause
from io_benchmark.analysis.model.cause import Change, Resource, Target
from io_benchmark.analysis.model.run import Run
from io_benchmark.analysis.model.statements import Quantity, Statement, Unit, joined, statement
from io_benchmark.analysis.reading import disk_rates
from io_benchmark.analysis.reading.disks import stack_of
from io_benchmark.analysis.reading.windows import Window
from io_benchmark.results.machine import IoLimit
from io_benchmark.results.parts import NS_PER_S
from io_benchmark.results.workloads.cache_retrieve import TrialKind

# A limit holds copies back if it is reached in more than this share of the time that they are blocked.
_BINDS_SHARE = 0.2
# A limit holds if at least this share of the run's windows show a rate at the limit.
_HELD_SHARE = 0.05
# A window's rate over a limit that holds, lowest and highest; a limit that is exceeded is not enforced.
_AT_LIMIT_SHARES = (0.85, 1.25)
# What idle disks wrote over a limit that holds, at least; and the least share of the time in which they wrote.
_MEASURED_AT_LIMIT_SHARE, _LEAST_WRITING_SHARE = 0.93, 0.3
# Without windows: the run's average rate over a limit that holds for most of the run, at least.
_AVERAGE_AT_LIMIT_SHARE = 0.7
# The fewest bytes of an average request: of writeback, and of small writes. A small write is a page of
# 4 KiB and a flush without bytes, so 2 KiB on average; half of that, because other work delays some.
_SEQUENTIAL_REQUEST_BYTES, _SMALL_REQUEST_BYTES = 32 * 1024, 1024
# Requests of writeback have these sizes at most: a limit at which they would be as large is reached.
_LARGE_REQUEST_BYTES = (192 * 1024, 1536 * 1024)
# Limits of operations are compared as if each had this size.
_OPERATION_BYTES = 128 * 1024
# Disks that write less than this share of a limit while they are busy are slower than the limit: the kernel
# counts no disk as busy that waits for a cgroup.
_DISKS_REACH_SHARE, _LEAST_BUSY_S = 0.95, 1.0
# A disk that moves this share of the other's rate or more is as fast.
AS_FAST_SHARE = 0.9
_LIMITS_SHOWN = 4
# Of a window, while copies waited: by the way.
_WAITED_RATES = attrgetter("reading_bytes_per_s"), attrgetter("writing_bytes_per_s")
_SAME_LIMITS = "Both sides have the same limits."


def _io_limits(run: Run) -> list[IoLimit]:
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


def _limit_values(run: Run) -> frozenset[tuple[str, int]]:
    return frozenset((limit.kind, limit.value) for limit in _io_limits(run))


def _is_of_bytes(limit: IoLimit) -> bool:
    return "bytes" in limit.kind


def _way(limit: IoLimit) -> int:
    """Return 0 for a limit of reads, 1 for one of writes."""
    return 0 if limit.kind.startswith("read") else 1


def _described(limit: IoLimit) -> Statement:
    unit = Unit.BYTES_PER_SECOND if _is_of_bytes(limit) else Unit.OPERATIONS_PER_SECOND
    return statement(
        "{way} {amount} on {device}",
        way=limit.kind.partition("_")[0],
        amount=Quantity(limit.value, unit),
        device=limit.device_name or limit.device,
    )


def _listed(limits: Sequence[IoLimit]) -> Statement:
    distinct = [*dict.fromkeys(map(_described, limits))]
    more = [statement("…")] if len(distinct) > _LIMITS_SHOWN else []
    return joined(distinct[:_LIMITS_SHOWN] + more)


def reaches_limit(side: Iterable[Run]) -> bool:
    """Return whether copies of most of a side's workers were blocked at a limit.

    Operations are not counted: at a limit of them, the copies only may have been blocked, unless each
    operation would have as many bytes as large requests have.
    """
    reaching = [
        any(_is_of_bytes(limit) or _moves_large_requests(limit, run) for limit in _binding([run]))
        for run in side
    ]
    return 2 * sum(reaching) > len(reaching)


def _moves_large_requests(limit: IoLimit, run: Run) -> bool:
    rates = disk_rates.window_peak(run)
    if rates is None or run.retrieves is None:
        return False
    size = rates[_way(limit)] / _disks_at_once(limit, run) / max(1, limit.value)
    return _LARGE_REQUEST_BYTES[0] <= size <= _LARGE_REQUEST_BYTES[1]


def _binding(side: Iterable[Run]) -> list[IoLimit]:
    """Return the limits that hold the copies of these workers back."""
    return [
        limit
        for run in side
        for limit in _io_limits(run)
        if _at_limit_share(limit, run)
        > _BINDS_SHARE
        * _share_of_time(run, [window.blocked_share for window in disk_rates.windows_of(run)])
    ]


def _share_of_time(run: Run, shares: Sequence[float]) -> float:
    seconds = [window.seconds for window in disk_rates.windows_of(run)]
    return math.fsum(map(mul, seconds, shares)) / math.fsum(seconds) if seconds else 0.0


def _at_limit_share(limit: IoLimit, run: Run) -> float:
    """Return the share of the time in which copies were blocked by the limit.

    It takes bytes ÷ limit to move them, where some windows show that it holds: those of the cold cache, or
    after a burst. Without windows, an average near the limit counts as all of the time.
    """
    if rates := [*map(_WAITED_RATES[_way(limit)], disk_rates.windows_of(run))]:
        windows = list(zip(disk_rates.windows_of(run), rates, strict=True))
        held = [window for window, rate in windows if _is_at(limit, rate, run)]
        is_at = _is_measured_at(limit, run)
        if is_at is None:
            is_at = len(held) >= max(2, _HELD_SHARE * len(rates))
        if not is_at or _is_above_disks(limit, held, run):
            return 0.0
        return _share_of_time(run, [_held_share(limit, run, *window) for window in windows])
    averages = disk_rates.moved_bytes_per_s(run)
    if averages is None or stack_of(run) is None:
        return 1.0  # nothing shows that it does not
    return float(_is_at(limit, averages[_way(limit)], run, _AVERAGE_AT_LIMIT_SHARE))


def _is_above_disks(limit: IoLimit, held: Sequence[Window], run: Run) -> bool:
    """Return whether the disks, while they are busy with hardly any reads, write less than a limit allows."""
    writing = [window for window in held if window.hardly_reads]
    busy_s = math.fsum(window.busy_s for window in writing)
    if limit.kind != "write_bytes_per_s" or busy_s < _LEAST_BUSY_S:
        return False
    written = math.fsum(window.written_bytes_per_s * window.seconds for window in writing)
    return written / busy_s < _DISKS_REACH_SHARE * limit.value * _disks_at_once(limit, run)


def _is_measured_at(limit: IoLimit, run: Run) -> bool | None:
    """Return whether disks that have nothing else to do keep to a limit of bytes; None: not measured.

    In a window, copies on a CPU leave the disks idle, so its rate may be below a limit that holds. The
    files that idle disks wrote were first copied in memory, which may or may not overlap with writing.
    """
    if not _is_of_bytes(limit):
        return None
    rate = disk_rates.idle_write_rate(run)
    if _way(limit) == 0:
        first = run.first_read_bytes_per_s
        return True if first is not None and _is_at(limit, first, run) else None
    if rate is None or not run.copied_bytes:
        return None
    copying_s = run.copy_work_ns * len(run.size_bytes) / run.copied_bytes / NS_PER_S
    highest = rate / max(1 - rate * copying_s, _LEAST_WRITING_SHARE)
    if not _is_at(limit, highest, run, _MEASURED_AT_LIMIT_SHARE, math.inf):
        return False
    return True if _is_at(limit, rate, run, _MEASURED_AT_LIMIT_SHARE) else None


def _held_share(limit: IoLimit, run: Run, window: Window, rate: float) -> float:
    """Return the share of a window in which copies were blocked by a limit that holds."""
    if not _is_of_bytes(limit):
        return window.blocked_share * _is_at(limit, rate, run)
    moved = window.written_bytes_per_s if _way(limit) else window.read_bytes_per_s
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

    Operations are not counted. Writeback of large files makes large requests, and other workloads make
    small ones: a limit on operations may bind where the rate has at least so many bytes for each.
    """
    rate = bytes_per_s / _disks_at_once(limit, run)
    if _is_of_bytes(limit):
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


def _io(run: Run) -> RankedFact | None:
    if not run.sees_cgroups:
        return None
    limits = sorted(_io_limits(run), key=lambda limit: (limit.kind, limit.value, limit.device))
    if not limits:
        return RankedFact(NO_LIMIT)
    listed = _listed(limits)
    bytes_per_s = [
        limit.value * (1 if _is_of_bytes(limit) else _OPERATION_BYTES) for limit in _binding([run])
    ]
    if not bytes_per_s:
        return RankedFact(statement("{limits}: not reached while copies waited", limits=listed))
    return RankedFact(listed, FAR_ABOVE / max(1, min(bytes_per_s)))


@ranked_cause(
    "cgroup-io-limit",
    "A cgroup limits the slower side's I/O.",
    Ranking(
        name="io-limits",
        read=_io,
        supports="The slower side's cgroup limits its I/O more tightly.",
        unseen=NO_HIERARCHY,
        same=_SAME_LIMITS,
        neither=NEITHER,
    ),
    change=Change(Resource.DISKS, Target.IMAGE),
    workloads=frozenset(("cache-retrieve", "unpack", "random-io", "sync-write")),
    remedies=(RemedyRule("lift the cgroup's I/O limit", Push.other_pool),),
    tried_by=TrialKind.PACE,
)
def cgroup_io_limit(case: Case, effect: Effect) -> Effect:
    if case.slower.values(_limit_values) == case.faster.values(_limit_values):
        return effect.opposed(_SAME_LIMITS)
    factor = _possible_factor(case)
    if factor is not None and factor * AS_FAST_SHARE < 1:
        return effect.opposed(
            "A cgroup limits the slower side's I/O, but its disks move as many bytes per second as those "
            "of the faster side."
        )
    at_limit = case.slower.mean(_longest_at_limit) or 0.0
    # Where nothing shows how fast it would be without the limit, it explains at most what differs.
    saved = 1 - 1 / case.times if factor is None else 1 - 1 / factor
    is_certain = reaches_limit(case.slower)
    # How many bytes each request of a retrieve has is not recorded, so a limit of them has no size.
    is_sized = is_certain or case.subject.workload != "cache-retrieve"
    size = Size(case.times_without(at_limit * saved)) if is_sized else None
    return replace(effect, size=size, proof=Proof.COST if is_certain else Proof.SETTING)


def _longest_at_limit(run: Run) -> float:
    return max((_at_limit_share(limit, run) for limit in _io_limits(run)), default=0.0)


def _possible_factor(case: Case) -> float | None:
    """Return how much faster the limited disks would be without the limit, as the faster side's show.

    Unless the limit is surely reached, a disk that is as fast as one of the same model is not held back.
    """
    rates = [_of_busy_disks]
    if not reaches_limit(case.slower) and len(case.values(_models)) == 1:
        rates.append(of_each_disk)
    ways = set(map(_way, _binding(case.slower)))
    known = [[case.times_as_fast(partial(rate, way)) for rate in rates] for way in ways]
    return max((min(filter(None, each)) for each in known if any(each)), default=None)


def _models(run: Run) -> frozenset[str | None]:
    stack = stack_of(run)
    return frozenset(disk.model for disk in stack.disks) if stack else frozenset()


def of_all_disks(way: int, run: Run) -> float | None:
    """Return the rate at which files were read (0) or written (1) while copies waited."""
    stack, rates = stack_of(run), disk_rates.peak_bytes_per_s(run)
    return None if stack is None or rates is None else rates[way] / (stack.copies if way else 1)


def of_each_disk(way: int, run: Run) -> float | None:
    """Return the rate of reads (0) or writes (1) that each disk kept up while copies waited."""
    stack, rates = stack_of(run), disk_rates.peak_bytes_per_s(run)
    if stack is None or rates is None:
        return None
    return rates[way] / (stack.writing if way else stack.width)


def _of_busy_disks(way: int, run: Run) -> float | None:
    """Return `of_all_disks`; without windows, small operations say nothing: they keep no disk busy."""
    return (
        of_all_disks(way, run) if run.retrieves is not None or disk_rates.windows_of(run) else None
    )
