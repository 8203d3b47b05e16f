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
from io_benchmark.analysis.statements import Quantity, Statement, Unit, Value, share, statement
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
    return next(_reasons(demand, source, target), None)


def _reasons(demand: Demand, source: PoolStorage, target: PoolStorage) -> Iterator[Statement]:
    """Yield what each check says; a check may rely on those before it."""
    yield from _cpus(demand, source, target)
    room_bytes = target.dirty_room_bytes
    if room_bytes is not None and demand.dirty_bytes > room_bytes:
        yield statement(
            "up to {bytes} waited in memory to be written, and {pool} makes writers wait from "
            "{room} on; profile the task on {pool}",
            bytes=Quantity(demand.dirty_bytes, Unit.BYTES),
            room=Quantity(room_bytes, Unit.BYTES),
            pool=target.pool,
        )
    for place in demand.places:
        move = _Move(demand, source, target, place)
        yield from move.unmeasured()
        yield from move.bursts()
        yield from move.another_disk()
        yield from move.reading()
        yield from move.bound_at_source()
        yield from move.requests()
        yield from move.metadata()


def _cpus(demand: Demand, source: PoolStorage, target: PoolStorage) -> Iterator[Statement]:
    """Yield reasons why the speed or the number of the CPUs cannot be compared."""
    cpus = target.cpus if target.cpus is not None else demand.cpus
    differs = not 1 / _SAME_RATIO < cpus / demand.cpus < _SAME_RATIO if demand.cpus else True
    if differs and demand.cpus_used > min(1.0, cpus):
        yield statement(
            "the task used {used} CPUs on average, and {pool} has {there} instead of {here}; "
            "profile the task on {pool}",
            used=Quantity(demand.cpus_used, Unit.NUMBER),
            pool=target.pool,
            there=_cpu_count(cpus),
            here=_cpu_count(demand.cpus),
        )
    is_comparable = any(source.mean(cpu) and target.mean(cpu) for cpu in (OWN_CPU, SPAWN))
    if not is_comparable and demand.cpu_share > _SMALL_SHARE:
        yield statement(
            "nothing compares the CPUs of {source} and {target}; measure spawn on both",
            source=source.pool,
            target=target.pool,
        )


def _cpu_count(cpus: float) -> Quantity:
    """Return a number of CPUs; a quota may have decimals."""
    return Quantity(cpus, Unit.COUNT if cpus.is_integer() else Unit.NUMBER)


class _Move(NamedTuple):
    """A task's work at one place, and the pools from which and to which it would move."""

    demand: Demand
    source: PoolStorage
    target: PoolStorage
    place: PlaceDemand

    def _reason(self, template: str, **values: Value) -> Statement:
        names = {"pool": self.target.pool, "place": self.place.name}
        return statement(template, **(names | values))

    def _is_small(self, time_ns: Numbers | float) -> bool:
        """Return whether this much of the task's time may be neglected."""
        return float(np.sum(time_ns)) <= _SMALL_SHARE * self.demand.wall_ns

    def _writing_ns(self, storage: PoolStorage) -> Numbers:
        """Return how long the bytes of each window take at the pool's ceiling."""
        return self.place.written_bytes / storage.ceiling(self.place.name) * NS_PER_S

    def unmeasured(self) -> Iterator[Statement]:
        """Yield which figures that the model needs were not measured on one of the pools."""
        for storage in (self.source, self.target):
            if storage.mean(WRITE_RATE, self.place.name) is None:
                yield self._reason(
                    "{pool} has no write ceiling of the place {place}; measure cache-retrieve there "
                    "with trials, and use the same name of the place in the profile",
                    pool=storage.pool,
                )
            is_synced = self.place.syncs is None or self.place.syncs[1] > 0
            if is_synced and storage.mean(SYNC, self.place.name) is None:
                yield self._reason(
                    "the task syncs, and {pool} has no append-fsync; measure sync-write at {place}",
                    pool=storage.pool,
                )

    def bursts(self) -> Iterator[Statement]:
        """Yield disks without one ceiling: fast until a credit is used up, as in many clouds."""
        for storage in (self.source, self.target):
            ratio = storage.slowed_down.get(self.place.name)
            if ratio is not None and not self._is_small(self._writing_ns(storage)):
                yield self._reason(
                    "retrieves of {pool} took {ratio} as long at the end of a run as at its start, "
                    "so that how fast its disks write depends on what was written before; profile "
                    "the task on {pool}",
                    pool=storage.pool,
                    ratio=Quantity(ratio, Unit.RATIO),
                )

    def another_disk(self) -> Iterator[Statement]:
        """Yield whether the profile's disks write more than those of its pool can."""
        spans_ns, ceiling = self.demand.spans_ns, self.source.ceiling(self.place.name)
        above = self.place.written_bytes > _ABOVE_CEILING * ceiling / NS_PER_S * spans_ns
        if not self._is_small(spans_ns[above]):
            fastest = float(np.max(self.place.written_bytes / spans_ns)) * NS_PER_S
            yield self._reason(
                "the profile's disks wrote up to {rate}, and those of {pool} write {ceiling}; "
                "check --pool of the profile, or measure {pool} again",
                pool=self.source.pool,
                rate=Quantity(fastest, Unit.BYTES_PER_SECOND),
                ceiling=Quantity(ceiling, Unit.BYTES_PER_SECOND),
            )

    def reading(self) -> Iterator[Statement]:
        """Yield reads that cannot be neglected: the benchmark measures no ceiling of reading."""
        read_bytes = self.place.read_bytes
        if not self._is_small(read_bytes / self.target.ceiling(self.place.name) * NS_PER_S):
            yield self._reason(
                "the task read {bytes} from the disks of {place}, and no ceiling of reading is "
                "measured; profile the task on {pool}",
                bytes=Quantity(read_bytes, Unit.BYTES),
            )

    def bound_at_source(self) -> Iterator[Statement]:
        """Yield that the time on a faster disk is not known: the profile's disk limited the task."""
        demand, name = self.demand, self.place.name
        here, there = self.source.ceiling(name), self.target.ceiling(name)
        at_ceiling = self.place.written_bytes >= _AT_CEILING * here / NS_PER_S * demand.spans_ns
        bound_ns = demand.spans_ns[at_ceiling]
        if there > _SAME_RATIO * here and not self._is_small(bound_ns):
            yield self._reason(
                "{share} of the task's time the disks of {source} were at their ceiling, and those "
                "of {target} are faster; profile the task on {target}",
                share=share(float(np.sum(bound_ns)) / demand.wall_ns),
                source=self.source.pool,
                target=self.target.pool,
            )

    def requests(self) -> Iterator[Statement]:
        """Yield more requests than the disk is known to do.

        Disks in a cloud often have a limit that nothing shows. A limit that is visible counts requests
        before they are merged, so that the bytes are their bound.
        """
        target, written_bytes = self.target, self.place.written_bytes
        limit = target.write_limits.get(self.place.name)
        measured = target.mean(WRITES, self.place.name)
        if limit is not None:
            rate, requests = limit, written_bytes / _LEAST_REQUEST_BYTES
            template = "{pool} limits its disks to {rate}; profile the task on {pool}"
        else:
            # Each synchronous write is at least one request.
            sync_ns = target.mean(SYNC, self.place.name)
            least = max(_LEAST_REQUESTS_PER_S, NS_PER_S / sync_ns if sync_ns else 0.0)
            rate, requests = least if measured is None else measured, self.place.writes
            remedy = "profile the task on {pool}" if measured else "measure random-io there"
            template = (
                "the task writes with up to {peak}, and the disks of {pool} are only known to do "
                f"{{rate}}; {remedy}"
            )
        spans_ns = np.maximum(self.demand.spans_ns, self._writing_ns(target))
        late_ns = np.maximum(0, requests / max(rate, 1.0) * NS_PER_S - spans_ns)
        if float(np.sum(late_ns)) > _SMALL_SHARE * float(np.sum(spans_ns)):
            peak = float(np.max(requests / spans_ns)) * NS_PER_S
            yield self._reason(
                template, rate=Quantity(rate, Unit.IOPS), peak=Quantity(peak, Unit.IOPS)
            )

    def metadata(self) -> Iterator[Statement]:
        """Yield that much of the time is in the kernel, and may depend on the file system."""
        in_kernel, name = self.demand.kernel_share, self.place.name
        here, there = self.source.mean(FILE, name), self.target.mean(FILE, name)
        if here is None or there is None:
            is_same = self.target.filesystems.get(name) == frozenset({self.place.filesystem})
            if not is_same and in_kernel > _KERNEL_SHARE:
                yield self._reason(
                    "the task spends {share} of its time in the kernel, and {place} of {pool} is "
                    "another file system; measure metadata on both pools",
                    share=share(in_kernel),
                )
        elif in_kernel * abs(there / here - 1) > _SMALL_SHARE:
            yield self._reason(
                "the task spends {share} of its time in the kernel, and {pool} takes {ratio} as "
                "long for a file's metadata; profile the task on {pool}",
                share=share(in_kernel),
                ratio=Quantity(there / here, Unit.RATIO),
            )
