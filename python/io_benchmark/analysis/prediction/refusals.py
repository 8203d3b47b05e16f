# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Whether a task's time on a pool can be predicted; the first reason why not.

The model holds where disks are limited by bytes per second, and for the waiting of synchronous writes.
For everything else that may decide the time, there is no prediction: a wrong one costs more.
"""

import math

import numpy as np

from io_benchmark.analysis.prediction.demand import Demand, PlaceDemand
from io_benchmark.analysis.prediction.pool_storage import PoolStorage
from io_benchmark.analysis.statements import Quantity, Statement, Unit, share, statement

_NS_PER_S = 1e9
# Of the task's time: what may be neglected.
_SMALL_SHARE = 0.1
# Of a pool's ceiling: a disk that writes so much does nothing else.
_AT_CEILING = 0.8
# Nearer than this, two ceilings are the same.
_SAME_RATIO = 1.1
# In the lab, the only file system whose writers waited though there was memory.
_BTRFS = "btrfs"
# Of the time in the kernel: from here on, the file system may decide it.
_KERNEL_SHARE = 0.25


def reason_against(
    demand: Demand, source: PoolStorage | None, target: PoolStorage
) -> Statement | None:
    """Return the first reason why this task's time on a pool is not known; None: predict it."""
    if source is None:
        return statement("the profile's own pool has no results; add them to --on")
    for storage in (source, target):
        if storage.is_quick:
            return statement(
                "results of {pool} are of the quick profile, which is too short", pool=storage.pool
            )
    if target.dirty_room_bytes is not None and demand.dirty_bytes > target.dirty_room_bytes:
        return statement(
            "up to {bytes} waited in memory to be written, and {pool} lets writers wait from {room} on",
            bytes=Quantity(demand.dirty_bytes, Unit.BYTES),
            pool=target.pool,
            room=Quantity(target.dirty_room_bytes, Unit.BYTES),
        )
    for place in demand.places:
        reason = (
            _unmeasured(place, source, target)
            or _later_writes(demand, place, target)
            or _reading(demand, place, target)
            or _source_bound(demand, place, source, target)
            or _operations(demand, place, target)
            or _metadata(demand, place, source, target)
        )
        if reason is not None:
            return reason
    return None


def _unmeasured(place: PlaceDemand, source: PoolStorage, target: PoolStorage) -> Statement | None:
    for storage in (source, target):
        if storage.write_rate(place.name) is None:
            return statement(
                "{pool} has no write ceiling of the place {place}; measure cache-retrieve there "
                "with trials, and use the same name of the place in the profile",
                pool=storage.pool,
                place=place.name,
            )
    syncs = place.syncs
    if syncs is None or syncs[1] > 0:
        for storage in (source, target):
            if storage.mean(lambda machine: machine.sync_ns.get(place.name)) is None:
                return statement(
                    "the task syncs, and {pool} has no append-fsync of sync-write",
                    pool=storage.pool,
                )
    return None


def _later_writes(demand: Demand, place: PlaceDemand, target: PoolStorage) -> Statement | None:
    """btrfs makes writers wait for what it has not written yet; a slower disk has more of that."""
    types = {place.filesystem, *target.filesystems.get(place.name, ())}
    writing_ns = demand.dirty_bytes / (target.write_rate(place.name) or math.inf) * _NS_PER_S
    is_small = writing_ns <= _SMALL_SHARE * demand.wall_ns
    if _BTRFS not in types or is_small or demand.dirty_bytes <= np.sum(place.written_bytes):
        return None
    return statement(
        "{place} is btrfs, and most of what the task wrote was still in memory", place=place.name
    )


def _reading(demand: Demand, place: PlaceDemand, target: PoolStorage) -> Statement | None:
    """Reads that cannot be neglected: the benchmark measures no ceiling of reading."""
    ceiling = target.write_rate(place.name) or math.inf
    reading_ns = place.read_bytes / ceiling * _NS_PER_S
    if reading_ns <= _SMALL_SHARE * demand.wall_ns:
        return None
    return statement(
        "the task read {bytes} from the disks of {place}, and no ceiling of reading is measured",
        bytes=Quantity(place.read_bytes, Unit.BYTES),
        place=place.name,
    )


def _source_bound(
    demand: Demand, place: PlaceDemand, source: PoolStorage, target: PoolStorage
) -> Statement | None:
    """The profile shows at most how long the task takes on a faster disk, not how long it takes."""
    here, there = source.write_rate(place.name), target.write_rate(place.name)
    if here is None or there is None or there <= _SAME_RATIO * here:
        return None
    at_ceiling = place.written_bytes >= _AT_CEILING * here / _NS_PER_S * demand.spans_ns
    bound = float(np.sum(demand.spans_ns[at_ceiling])) / demand.wall_ns
    if bound <= _SMALL_SHARE:
        return None
    return statement(
        "{share} of the task's time the disks of {source} were at their ceiling, and those of "
        "{target} are faster: profile the task on {target}",
        share=share(bound),
        source=source.pool,
        target=target.pool,
    )


def _operations(demand: Demand, place: PlaceDemand, target: PoolStorage) -> Statement | None:
    """A disk with a limit of its requests. They are counted before some are merged."""
    if place.name in target.operations_limited:
        return statement("{pool} limits how many requests its disks take", pool=target.pool)
    rate = target.mean(lambda machine: machine.writes_per_s.get(place.name))
    if rate is None:
        return None
    late_ns = np.maximum(0, place.writes / rate * _NS_PER_S - demand.spans_ns)
    if float(np.sum(late_ns)) <= _SMALL_SHARE * demand.wall_ns:
        return None
    return statement(
        "the task makes up to {wanted} of write requests, and the disks of {pool} do {rate}",
        wanted=Quantity(float(np.max(place.writes / demand.spans_ns)) * _NS_PER_S, Unit.IOPS),
        pool=target.pool,
        rate=Quantity(rate, Unit.IOPS),
    )


def _metadata(
    demand: Demand, place: PlaceDemand, source: PoolStorage, target: PoolStorage
) -> Statement | None:
    """Time in the kernel that may depend on the file system."""
    here, there = (
        storage.mean(lambda machine: machine.file_ns.get(place.name))
        for storage in (source, target)
    )
    if here is not None and there is not None:
        change = demand.kernel_share * abs(there / here - 1)
        if change <= _SMALL_SHARE:
            return None
        return statement(
            "the task spends {share} of its time in the kernel, and {pool} takes {ratio} as long "
            "for a file's metadata",
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
