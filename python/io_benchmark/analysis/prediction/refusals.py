# SPDX-License-Identifier: MPL-2.0
"""Why there is no prediction.

Something that the model does not have decides the time of this task, or what is not known changes
it much. A wrong prediction costs more than none.
"""

import math
from collections.abc import Iterator

import numpy as np
from msgspec.structs import replace

from io_benchmark.analysis.model.statements import Quantity, Statement, Unit, ratio_of, statement
from io_benchmark.analysis.prediction.demand import PlaceDemand
from io_benchmark.analysis.prediction.missing_figures import missing_figures
from io_benchmark.analysis.prediction.pool_change import PoolChange
from io_benchmark.analysis.prediction.pool_storage import PoolFigure
from io_benchmark.results.parts import NS_PER_S

# From this share of the CPUs on, a task might use more. Chosen: other processes need some as well.
_AT_CPUS = 0.9
# Retrieves that take this much longer at the end of a run show a disk that slows down. Chosen.
_SLOWED_DOWN_RATIO = 1.25
# A disk that writes more than this many times a ceiling has another one. Chosen.
_ABOVE_CEILING = 1.5


def reasons_against(change: PoolChange) -> Iterator[Statement]:
    """Yield why this task's time on a pool is not known; a check may rely on those before it."""
    likely = replace(change, demand=change.demand.as_counted())
    yield from _cpus(likely)
    missing = missing_figures(likely)
    if missing is not None:
        yield missing
    for place in likely.demand.places:
        yield from _reading(likely, place)
        yield from _other_disks(likely, place)
    for effect in change.unknown_effects():
        if effect.is_wide:
            low, high = map(math.exp, sorted((effect.first_log, effect.last_log)))
            yield statement(
                f"the task would take {{low}} to {{high}}, depending on {effect.meaning}; "
                "profile the task on {pool}",
                low=Quantity(low, Unit.NANOSECONDS),
                high=Quantity(high, Unit.NANOSECONDS),
                pool=change.target.pool,
            )


def _cpus(change: PoolChange) -> Iterator[Statement]:
    """Yield that the number of the CPUs decides the time."""
    demand, target = change.demand, change.target
    cpus = target.cpus if target.cpus is not None else demand.cpus
    decides = cpus != demand.cpus and demand.cpus_used > min(1.0, cpus)
    if demand.busy_ns is not None:
        # On fewer CPUs the windows show what is late. Nothing shows how many more it would use.
        full_ns = demand.spans_ns[demand.busy_ns >= _AT_CPUS * demand.cpus * demand.spans_ns]
        decides = cpus > demand.cpus and not demand.is_small(full_ns)
    if decides:
        yield statement(
            "the task used {used} CPUs on average, and {pool} has {ratio} as many as the profiled "
            "machine; profile the task on {pool}",
            used=Quantity(demand.cpus_used, Unit.NUMBER),
            pool=target.pool,
            ratio=ratio_of(cpus / demand.cpus),
        )


def _reading(change: PoolChange, place: PlaceDemand) -> Iterator[Statement]:
    """Yield that reading takes a share of the time, and nothing shows how long there."""
    demand, spans_ns = change.demand, change.demand.spans_ns
    waited = 1.0 if demand.waiting_share is None else demand.waiting_share
    reading_ns = place.read_bytes / change.target.ceiling(place.name) * NS_PER_S
    # What was read ahead while the task computed is not waited for, where it is read by then.
    late_ns = float(np.sum(np.maximum(0.0, reading_ns - spans_ns)))
    waiting_ns = min(float(np.sum(reading_ns)), float(np.sum(waited * spans_ns)))
    if not demand.is_small(max(late_ns, waiting_ns)):
        yield statement(
            "the task read {bytes} from the disks of {place}, and no ceiling of reading is "
            "measured; profile the task on {pool}",
            bytes=Quantity(float(np.sum(place.read_bytes)), Unit.BYTES),
            place=place.name,
            pool=change.target.pool,
        )


def _other_disks(change: PoolChange, place: PlaceDemand) -> Iterator[Statement]:
    """Yield that a ceiling does not hold: of a disk with a burst, or of another pool's disk."""
    for storage in (change.source, change.target):
        slowing = storage.mean(PoolFigure.SLOWING, place.name) or 1.0
        writing_ns = place.written_bytes / storage.ceiling(place.name) * NS_PER_S
        if slowing > _SLOWED_DOWN_RATIO and not change.demand.is_small(writing_ns):
            yield statement(
                "retrieves of {pool} took {ratio} as long at the end of a run as at its start, "
                "so that how fast its disks write depends on what was written before; profile "
                "the task on {pool}",
                pool=storage.pool,
                ratio=ratio_of(slowing),
            )
        most_ns = _ABOVE_CEILING * change.demand.wall_ns
        if storage is change.source and np.sum(writing_ns) > most_ns:
            yield statement(
                "the profile's disks wrote more than those of {pool} can; check --pool of the "
                "profile, or measure {pool} again",
                pool=storage.pool,
            )
