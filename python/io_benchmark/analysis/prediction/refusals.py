# SPDX-License-Identifier: MPL-2.0
"""Whether a task's time on a pool can be predicted; the first reason why not.

The model holds where disks are limited by bytes per second, and for the waiting of synchronous writes.
For everything else that may decide the time, there is no prediction: a wrong one costs more.
"""

from collections.abc import Iterator
from typing import NamedTuple

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
    return next(_Transfer(demand, source, target).reasons(), None)


class _Transfer(NamedTuple):
    """A task's profile on one pool, and the pool that it would move to."""

    demand: Demand
    source: PoolStorage
    target: PoolStorage

    def reasons(self) -> Iterator[Statement]:
        """Yield what each check says; a check may rely on those before it."""
        yield from self._cpus()
        yield from self._memory()
        for place in self.demand.places:
            yield from self._unmeasured(place)
            yield from self._burst(place, self.source)
            yield from self._burst(place, self.target)
            yield from self._another_disk(place)
            yield from self._reading(place)
            yield from self._source_bound(place)
            yield from self._requests(place)
            yield from self._metadata(place)

    def _is_small(self, time_ns: Numbers | float) -> bool:
        """Return whether so much of the task's time may be neglected."""
        return float(np.sum(time_ns)) <= _SMALL_SHARE * self.demand.wall_ns

    def _cpus(self) -> Iterator[Statement]:
        """CPUs whose speed or number is not comparable."""
        demand, source, target = self
        there = target.cpus if target.cpus is not None else demand.cpus
        differs = not 1 / _SAME_RATIO < there / demand.cpus < _SAME_RATIO if demand.cpus else True
        if differs and demand.cpus_used > min(1.0, there):
            yield statement(
                "the task used {used} CPUs on average, and {pool} has {there} instead of {here}; "
                "profile the task on {pool}",
                used=Quantity(demand.cpus_used, Unit.NUMBER),
                pool=target.pool,
                there=_number(there),
                here=_number(demand.cpus),
            )
        is_known = any(source.mean(cpu) and target.mean(cpu) for cpu in (OWN_CPU, SPAWN))
        if not is_known and demand.cpu_share > _SMALL_SHARE:
            yield statement(
                "nothing compares the CPUs of {source} and {target}; measure spawn on both",
                source=source.pool,
                target=target.pool,
            )

    def _memory(self) -> Iterator[Statement]:
        room_bytes, dirty_bytes = self.target.dirty_room_bytes, self.demand.dirty_bytes
        if room_bytes is not None and dirty_bytes > room_bytes:
            yield statement(
                "up to {bytes} waited in memory to be written, and {pool} makes writers wait from "
                "{room} on; profile the task on {pool}",
                bytes=Quantity(dirty_bytes, Unit.BYTES),
                pool=self.target.pool,
                room=Quantity(room_bytes, Unit.BYTES),
            )

    def _unmeasured(self, place: PlaceDemand) -> Iterator[Statement]:
        for storage in (self.source, self.target):
            if storage.mean(WRITE_RATE, place.name) is None:
                yield statement(
                    "{pool} has no write ceiling of the place {place}; measure cache-retrieve there "
                    "with trials, and use the same name of the place in the profile",
                    pool=storage.pool,
                    place=place.name,
                )
            is_synced = place.syncs is None or place.syncs[1] > 0
            if is_synced and storage.mean(SYNC, place.name) is None:
                yield statement(
                    "the task syncs, and {pool} has no append-fsync; measure sync-write at {place}",
                    pool=storage.pool,
                    place=place.name,
                )

    def _burst(self, place: PlaceDemand, storage: PoolStorage) -> Iterator[Statement]:
        """Disks that are fast until their credit is used up, as in many clouds, have no one ceiling."""
        ratio = storage.slowed_down.get(place.name)
        writing_ns = place.written_bytes / storage.ceiling(place.name) * NS_PER_S
        if ratio is not None and not self._is_small(writing_ns):
            yield statement(
                "retrieves of {pool} took {ratio} as long at the end of a run as at its start, so that "
                "how fast its disks write depends on what was written before; profile the task on {pool}",
                pool=storage.pool,
                ratio=Quantity(ratio, Unit.RATIO),
            )

    def _another_disk(self, place: PlaceDemand) -> Iterator[Statement]:
        """The profile's disks write more than those of its pool can."""
        spans_ns, ceiling = self.demand.spans_ns, self.source.ceiling(place.name)
        above = place.written_bytes > _ABOVE_CEILING * ceiling / NS_PER_S * spans_ns
        if not self._is_small(spans_ns[above]):
            fastest = float(np.max(place.written_bytes / spans_ns)) * NS_PER_S
            yield statement(
                "the profile's disks wrote up to {rate}, and those of {pool} write {ceiling}; check "
                "--pool of the profile, or measure {pool} again",
                rate=Quantity(fastest, Unit.BYTES_PER_SECOND),
                pool=self.source.pool,
                ceiling=Quantity(ceiling, Unit.BYTES_PER_SECOND),
            )

    def _reading(self, place: PlaceDemand) -> Iterator[Statement]:
        """Reads that cannot be neglected: the benchmark measures no ceiling of reading."""
        if not self._is_small(place.read_bytes / self.target.ceiling(place.name) * NS_PER_S):
            yield statement(
                "the task read {bytes} from the disks of {place}, and no ceiling of reading is "
                "measured; profile the task on {pool}",
                bytes=Quantity(place.read_bytes, Unit.BYTES),
                place=place.name,
                pool=self.target.pool,
            )

    def _source_bound(self, place: PlaceDemand) -> Iterator[Statement]:
        """The profile shows at most how long the task takes on a faster disk, not how long it takes."""
        demand, source, target = self
        here, there = source.ceiling(place.name), target.ceiling(place.name)
        at_ceiling = place.written_bytes >= _AT_CEILING * here / NS_PER_S * demand.spans_ns
        bound_ns = demand.spans_ns[at_ceiling]
        if there > _SAME_RATIO * here and not self._is_small(bound_ns):
            yield statement(
                "{share} of the task's time the disks of {source} were at their ceiling, and those of "
                "{target} are faster; profile the task on {target}",
                share=share(float(np.sum(bound_ns)) / demand.wall_ns),
                source=source.pool,
                target=target.pool,
            )

    def _requests(self, place: PlaceDemand) -> Iterator[Statement]:
        """More requests than the disk is known to do. Disks in a cloud often have a limit that nothing shows.

        A limit that is visible counts requests before they are merged, so that the bytes are their bound.
        """
        target, spans_ns = self.target, self.demand.spans_ns
        limit = target.write_limits.get(place.name)
        measured = target.mean(WRITES, place.name)
        sync_ns = target.mean(SYNC, place.name)
        # Each synchronous write is at least one request.
        least = max(_LEAST_REQUESTS_PER_S, NS_PER_S / sync_ns if sync_ns else 0.0)
        rate = limit if limit is not None else measured if measured is not None else least
        requests = place.writes if limit is None else place.written_bytes / _LEAST_REQUEST_BYTES
        writing_ns = place.written_bytes / target.ceiling(place.name) * NS_PER_S
        spans_ns = np.maximum(spans_ns, writing_ns)
        late_ns = np.maximum(0, requests / max(rate, 1.0) * NS_PER_S - spans_ns)
        if float(np.sum(late_ns)) <= _SMALL_SHARE * float(np.sum(spans_ns)):
            return
        if limit is not None:
            text = "{pool} limits its disks to {rate}; profile the task on {pool}"
        else:
            text = (
                "the task writes with up to {peak}, and the disks of {pool} are only known to do {rate}; "
                + ("profile the task on {pool}" if measured else "measure random-io there")
            )
        peak = float(np.max(requests / spans_ns)) * NS_PER_S
        yield statement(
            text,
            pool=target.pool,
            rate=Quantity(rate, Unit.IOPS),
            peak=Quantity(peak, Unit.IOPS),
        )

    def _metadata(self, place: PlaceDemand) -> Iterator[Statement]:
        """Time in the kernel that may depend on the file system."""
        kernel_share, pool = self.demand.kernel_share, self.target.pool
        here, there = (storage.mean(FILE, place.name) for storage in (self.source, self.target))
        if here is not None and there is not None:
            if kernel_share * abs(there / here - 1) > _SMALL_SHARE:
                yield statement(
                    "the task spends {share} of its time in the kernel, and {pool} takes {ratio} as "
                    "long for a file's metadata; profile the task on {pool}",
                    share=share(kernel_share),
                    pool=pool,
                    ratio=Quantity(there / here, Unit.RATIO),
                )
            return
        is_same = self.target.filesystems.get(place.name) == frozenset({place.filesystem})
        if not is_same and kernel_share > _KERNEL_SHARE:
            yield statement(
                "the task spends {share} of its time in the kernel, and {place} of {pool} is another "
                "file system; measure metadata on both pools",
                share=share(kernel_share),
                place=place.name,
                pool=pool,
            )


def _number(cpus: float) -> Quantity:
    """Return a number of CPUs; a quota may have decimals."""
    return Quantity(cpus, Unit.COUNT if cpus.is_integer() else Unit.NUMBER)
