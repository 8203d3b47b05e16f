# SPDX-License-Identifier: MPL-2.0
"""Whether a task's time on a pool can be predicted; the first reason why not.

The model holds where disks are limited by bytes per second, and for the waiting of synchronous writes.
For everything else that may decide the time, there is no prediction: a wrong one costs more.
"""

from collections.abc import Iterator

import numpy as np

from io_benchmark.analysis.arrays import Numbers
from io_benchmark.analysis.prediction.demand import Demand, PlaceDemand
from io_benchmark.analysis.prediction.pool_storage import (
    FILE,
    OWN_CPU,
    SPAWN,
    SYNC,
    WRITE_RATE,
    WRITES,
    PoolStorage,
)
from io_benchmark.analysis.statements import Quantity, Statement, Unit, share, statement
from io_benchmark.results.workload import NS_PER_S

# What may be neglected of the task's time.
_SMALL_SHARE = 0.1
# A disk that writes this share of its ceiling does nothing else.
_AT_CEILING = 0.8
# A disk that writes more than this many times a ceiling has another one.
_ABOVE_CEILING = 1.5
# Nearer than this, two ceilings or numbers of CPUs are the same.
_SAME_RATIO = 1.1
# From this share of the time in the kernel on, the file system may decide the time.
_KERNEL_SHARE = 0.25
# A page: no file system writes less at once.
_LEAST_REQUEST_BYTES = 4096
# Any disk, also one that turns.
_LEAST_REQUESTS_PER_S = 100.0


def reason_against(demand: Demand, source: PoolStorage, target: PoolStorage) -> Statement | None:
    """Return the first reason why this task's time on a pool is not known; None: predict it."""
    return next(filter(None, _reasons(demand, source, target)), None)


def _reasons(
    demand: Demand, source: PoolStorage, target: PoolStorage
) -> Iterator[Statement | None]:
    """Return what each check says; a check may rely on those before it."""
    yield _cpus(demand, source, target)
    yield _memory(demand, target)
    for place in demand.places:
        yield _unmeasured(place, source, target)
        yield _burst(demand, place, source)
        yield _burst(demand, place, target)
        yield _another_disk(demand, place, source)
        yield _reading(demand, place, target)
        yield _source_bound(demand, place, source, target)
        yield _requests(demand, place, target)
        yield _metadata(demand, place, source, target)


def _is_small(time_ns: Numbers | float, demand: Demand) -> bool:
    """Return whether so much of the task's time may be neglected."""
    return float(np.sum(time_ns)) <= _SMALL_SHARE * demand.wall_ns


def _cpus(demand: Demand, source: PoolStorage, target: PoolStorage) -> Statement | None:
    """CPUs whose speed or number is not comparable."""
    there = target.cpus if target.cpus is not None else demand.cpus
    differs = not 1 / _SAME_RATIO < there / demand.cpus < _SAME_RATIO if demand.cpus else True
    if differs and demand.cpus_used > min(1.0, there):
        return statement(
            "the task used {used} CPUs on average, and {pool} has {there} instead of {here}; profile "
            "the task on {pool}",
            used=Quantity(demand.cpus_used, Unit.NUMBER),
            pool=target.pool,
            there=_number(there),
            here=_number(demand.cpus),
        )
    is_known = any(source.mean(each) and target.mean(each) for each in (OWN_CPU, SPAWN))
    if is_known or demand.cpu_share <= _SMALL_SHARE:
        return None
    return statement(
        "nothing compares the CPUs of {source} and {target}; measure spawn on both",
        source=source.pool,
        target=target.pool,
    )


def _number(cpus: float) -> Quantity:
    """Return a number of CPUs; a quota may have decimals."""
    return Quantity(cpus, Unit.COUNT if cpus.is_integer() else Unit.NUMBER)


def _memory(demand: Demand, target: PoolStorage) -> Statement | None:
    if target.dirty_room_bytes is None or demand.dirty_bytes <= target.dirty_room_bytes:
        return None
    return statement(
        "up to {bytes} waited in memory to be written, and {pool} makes writers wait from {room} on; "
        "profile the task on {pool}",
        bytes=Quantity(demand.dirty_bytes, Unit.BYTES),
        pool=target.pool,
        room=Quantity(target.dirty_room_bytes, Unit.BYTES),
    )


def _unmeasured(place: PlaceDemand, source: PoolStorage, target: PoolStorage) -> Statement | None:
    for storage in (source, target):
        if storage.mean(WRITE_RATE, place.name) is None:
            return statement(
                "{pool} has no write ceiling of the place {place}; measure cache-retrieve there "
                "with trials, and use the same name of the place in the profile",
                pool=storage.pool,
                place=place.name,
            )
        is_synced = place.syncs is None or place.syncs[1] > 0
        if is_synced and storage.mean(SYNC, place.name) is None:
            return statement(
                "the task syncs, and {pool} has no append-fsync; measure sync-write at {place}",
                pool=storage.pool,
                place=place.name,
            )
    return None


def _burst(demand: Demand, place: PlaceDemand, storage: PoolStorage) -> Statement | None:
    """Disks that are fast until their credit is used up, as many in a cloud are, have no one ceiling."""
    ratio = storage.slowed_down.get(place.name)
    writing_ns = place.written_bytes / storage.ceiling(place.name) * NS_PER_S
    if ratio is None or _is_small(writing_ns, demand):
        return None
    return statement(
        "retrieves of {pool} took {ratio} as long at the end of a run as at its start, so that how fast "
        "its disks write depends on what was written before; profile the task on {pool}",
        pool=storage.pool,
        ratio=Quantity(ratio, Unit.RATIO),
    )


def _another_disk(demand: Demand, place: PlaceDemand, source: PoolStorage) -> Statement | None:
    """The profile's disks write more than those of its pool can."""
    ceiling = source.ceiling(place.name)
    above = place.written_bytes > _ABOVE_CEILING * ceiling / NS_PER_S * demand.spans_ns
    if _is_small(demand.spans_ns[above], demand):
        return None
    return statement(
        "the profile's disks wrote up to {rate}, and those of {pool} write {ceiling}; check --pool "
        "of the profile, or measure {pool} again",
        rate=Quantity(
            float(np.max(place.written_bytes / demand.spans_ns)) * NS_PER_S,
            Unit.BYTES_PER_SECOND,
        ),
        pool=source.pool,
        ceiling=Quantity(ceiling, Unit.BYTES_PER_SECOND),
    )


def _reading(demand: Demand, place: PlaceDemand, target: PoolStorage) -> Statement | None:
    """Reads that cannot be neglected: the benchmark measures no ceiling of reading."""
    if _is_small(place.read_bytes / target.ceiling(place.name) * NS_PER_S, demand):
        return None
    return statement(
        "the task read {bytes} from the disks of {place}, and no ceiling of reading is measured; "
        "profile the task on {pool}",
        bytes=Quantity(place.read_bytes, Unit.BYTES),
        place=place.name,
        pool=target.pool,
    )


def _source_bound(
    demand: Demand, place: PlaceDemand, source: PoolStorage, target: PoolStorage
) -> Statement | None:
    """The profile shows at most how long the task takes on a faster disk, not how long it takes."""
    here, there = source.ceiling(place.name), target.ceiling(place.name)
    at_ceiling = place.written_bytes >= _AT_CEILING * here / NS_PER_S * demand.spans_ns
    bound_ns = demand.spans_ns[at_ceiling]
    if there <= _SAME_RATIO * here or _is_small(bound_ns, demand):
        return None
    return statement(
        "{share} of the task's time the disks of {source} were at their ceiling, and those of "
        "{target} are faster; profile the task on {target}",
        share=share(float(np.sum(bound_ns)) / demand.wall_ns),
        source=source.pool,
        target=target.pool,
    )


def _requests(demand: Demand, place: PlaceDemand, target: PoolStorage) -> Statement | None:
    """More requests than the disk is known to do. Disks in a cloud often have a limit that nothing shows.

    A limit that is visible counts requests before they are merged, so that the bytes are their bound.
    """
    limit = target.write_limits.get(place.name)
    measured = target.mean(WRITES, place.name)
    sync_ns = target.mean(SYNC, place.name)
    requests = place.writes
    if limit is not None:
        rate, requests = limit, place.written_bytes / _LEAST_REQUEST_BYTES
    elif measured is not None:
        rate = measured
    else:
        # Each synchronous write is at least one request.
        rate = max(_LEAST_REQUESTS_PER_S, NS_PER_S / sync_ns if sync_ns else 0.0)
    writing_ns = place.written_bytes / target.ceiling(place.name) * NS_PER_S
    spans_ns = np.maximum(demand.spans_ns, writing_ns)
    late_ns = np.maximum(0, requests / max(rate, 1.0) * NS_PER_S - spans_ns)
    if float(np.sum(late_ns)) <= _SMALL_SHARE * float(np.sum(spans_ns)):
        return None
    if limit is not None:
        return statement(
            "{pool} limits its disks to {rate}; profile the task on {pool}",
            pool=target.pool,
            rate=Quantity(rate, Unit.IOPS),
        )
    return statement(
        "the task writes with up to {wanted}, and the disks of {pool} are only known to do {rate}; "
        + ("profile the task on {pool}" if measured else "measure random-io there"),
        wanted=Quantity(float(np.max(requests / spans_ns)) * NS_PER_S, Unit.IOPS),
        pool=target.pool,
        rate=Quantity(rate, Unit.IOPS),
    )


def _metadata(
    demand: Demand, place: PlaceDemand, source: PoolStorage, target: PoolStorage
) -> Statement | None:
    """Time in the kernel that may depend on the file system."""
    here, there = (storage.mean(FILE, place.name) for storage in (source, target))
    if here is not None and there is not None:
        change = demand.kernel_share * abs(there / here - 1)
        if change <= _SMALL_SHARE:
            return None
        return statement(
            "the task spends {share} of its time in the kernel, and {pool} takes {ratio} as long "
            "for a file's metadata; profile the task on {pool}",
            share=share(demand.kernel_share),
            pool=target.pool,
            ratio=Quantity(there / here, Unit.RATIO),
        )
    if target.filesystems.get(place.name) == frozenset({place.filesystem}):
        return None
    if demand.kernel_share <= _KERNEL_SHARE:
        return None
    return statement(
        "the task spends {share} of its time in the kernel, and {place} of {pool} is another file "
        "system; measure metadata on both pools",
        share=share(demand.kernel_share),
        place=place.name,
        pool=target.pool,
    )
