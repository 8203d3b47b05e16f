# SPDX-License-Identifier: MPL-2.0
"""Why there is no prediction.

Something that the model does not have decides the time of this task, or what is not known changes it much.
A wrong prediction costs more than none.
"""

import math
from collections.abc import Iterator

import numpy as np
from msgspec.structs import replace

from io_benchmark.analysis.prediction.demand import Numbers, PlaceDemand
from io_benchmark.analysis.prediction.pool_change import PoolChange
from io_benchmark.analysis.prediction.pool_storage import (
    CPU_FIGURES,
    SLOWING,
    SYNC,
    USER_WORK,
    WRITE_RATE,
)
from io_benchmark.analysis.statements import Quantity, Statement, Unit, ratio_of, statement
from io_benchmark.results.parts import NS_PER_S

# What may be neglected of the task's time.
SMALL_SHARE = 0.1
# From this share of the machine's CPUs on, a task might use more of them.
_AT_CPUS = 0.9
# ln of the ratio between two times, both of which may be true: too far apart to predict one.
_WIDE_LOG = 1.0
# Retrieves that take this much longer at the end of a run show a disk that slows down.
_SLOWED_DOWN_RATIO = 1.25
# A disk that writes more than this many times a ceiling has another one.
_ABOVE_CEILING = 1.5


def reasons_against(change: PoolChange) -> Iterator[Statement]:
    """Yield why this task's time on a pool is not known; a check may rely on those before it."""
    likely = replace(change, demand=change.demand.as_counted())
    yield from _cpus(likely)
    for place in likely.demand.places:
        yield from _unmeasured(likely, place)
        yield from _other_disks(likely, place)
    for unknown, first, last in change.unknown_parts():
        if abs(last - first) > _WIDE_LOG:
            low, high = map(math.exp, sorted((first, last)))
            yield statement(
                f"the task would take {{low}} to {{high}}, depending on {unknown}; "
                "profile the task on {pool}",
                low=Quantity(low, Unit.NANOSECONDS),
                high=Quantity(high, Unit.NANOSECONDS),
                pool=change.target.pool,
            )


def _cpus(change: PoolChange) -> Iterator[Statement]:
    """Yield reasons why the speed or the number of the CPUs cannot be compared."""
    demand, source, target = change.demand, change.source, change.target
    cpus = target.cpus if target.cpus is not None else demand.cpus
    decides = cpus != demand.cpus and demand.cpus_used > min(1.0, cpus)
    if demand.busy_ns is not None:
        # On fewer CPUs the windows show what is late. How many more the task would use, nothing shows.
        full_ns = demand.spans_ns[demand.busy_ns >= _AT_CPUS * demand.cpus * demand.spans_ns]
        decides = cpus > demand.cpus and not _is_small(change, full_ns)
    if decides:
        yield statement(
            "the task used {used} CPUs on average, and {pool} has {ratio} as many as the profiled "
            "machine; profile the task on {pool}",
            used=Quantity(demand.cpus_used, Unit.NUMBER),
            pool=target.pool,
            ratio=ratio_of(cpus / demand.cpus),
        )
    is_comparable = any(
        source.mean(figure) and target.mean(figure) for figure in (USER_WORK, *CPU_FIGURES)
    )
    if not is_comparable and demand.cpu_share > SMALL_SHARE:
        yield statement(
            "nothing compares the CPUs of {source} and {target}; measure spawn on both",
            source=source.pool,
            target=target.pool,
        )


def _is_small(change: PoolChange, time_ns: Numbers | float) -> bool:
    """Return whether this much of the task's time may be neglected."""
    return float(np.sum(time_ns)) <= SMALL_SHARE * change.demand.wall_ns


def _unmeasured(change: PoolChange, place: PlaceDemand) -> Iterator[Statement]:
    """Yield what the model needs and nothing measured."""
    for storage in (change.source, change.target):
        names = {"pool": storage.pool, "place": place.name}
        if storage.mean(WRITE_RATE, place.name) is None:
            yield statement(
                "{pool} has no write ceiling of the place {place}; measure cache-retrieve there "
                "with trials, and use the same name of the place in the profile",
                **names,
            )
        may_sync = place.syncs is None or place.syncs[1] > 0
        if not place.is_alone:
            may_sync = not _is_small(change, change.unexplained_waiting_ns(place))
        if may_sync and storage.mean(SYNC, place.name) is None:
            yield statement(
                f"the task {'syncs' if place.is_alone else 'may sync'}, and {{pool}} has no append-fsync; "
                "measure sync-write at {place}",
                **names,
            )
    waited = 1.0 if change.demand.waiting_share is None else change.demand.waiting_share
    reading_ns = place.read_bytes / change.target.ceiling(place.name) * NS_PER_S
    # What was read ahead while the task computed is not waited for.
    if not _is_small(change, min(reading_ns, float(np.sum(waited * change.demand.spans_ns)))):
        yield statement(
            "the task read {bytes} from the disks of {place}, and no ceiling of reading is "
            "measured; profile the task on {pool}",
            bytes=Quantity(place.read_bytes, Unit.BYTES),
            place=place.name,
            pool=change.target.pool,
        )


def _other_disks(change: PoolChange, place: PlaceDemand) -> Iterator[Statement]:
    """Yield that a ceiling does not hold: of a disk with a burst, or of another pool's disk."""
    for storage in (change.source, change.target):
        slowing = storage.mean(SLOWING, place.name) or 1.0
        writing_ns = place.written_bytes / storage.ceiling(place.name) * NS_PER_S
        if slowing > _SLOWED_DOWN_RATIO and not _is_small(change, writing_ns):
            yield statement(
                "retrieves of {pool} took {ratio} as long at the end of a run as at its start, "
                "so that how fast its disks write depends on what was written before; profile "
                "the task on {pool}",
                pool=storage.pool,
                ratio=ratio_of(slowing),
            )
        if storage is change.source and np.sum(writing_ns) > _ABOVE_CEILING * change.demand.wall_ns:
            yield statement(
                "the profile's disks wrote more than those of {pool} can; check --pool of the "
                "profile, or measure {pool} again",
                pool=storage.pool,
            )
