# SPDX-License-Identifier: MPL-2.0
"""Why there is no prediction.

Something that the model does not have decides the time of this task, or what is not known changes
it much. A wrong prediction costs more than none.
"""

import math
from collections.abc import Iterator

import numpy as np
from msgspec.structs import replace

from io_benchmark.analysis.model.statements import (
    Quantity,
    Statement,
    Unit,
    joined,
    ratio_of,
    statement,
)
from io_benchmark.analysis.prediction.demand import SMALL_SHARE, PlaceDemand
from io_benchmark.analysis.prediction.pool_change import PoolChange
from io_benchmark.analysis.prediction.pool_storage import CPU_FIGURES, PoolFigure, PoolStorage
from io_benchmark.command_lines import measure_capacities, submit_capacities
from io_benchmark.results.parts import NS_PER_S

# Retrieves that take this much longer at the end of a run show a disk that slows down. Chosen.
_SLOWED_DOWN_RATIO = 1.25
# A disk that writes more than this many times a ceiling has another one. Chosen.
_ABOVE_CEILING = 1.5
# The place that the worker's program measures unless it is told another one.
_USUAL_PLACE = "workspace"


def reasons_against(change: PoolChange) -> Iterator[Statement]:
    """Yield why this task's time on a pool is not known; a check may rely on those before it."""
    likely = replace(change, demand=change.demand.as_counted())
    yield from _cpus(likely)
    yield from _missing_figures(likely)
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
    # The windows show what is late on fewer CPUs, and what more of them may save.
    decides = cpus != demand.cpus and demand.cpus_used > min(1.0, cpus)
    decides &= demand.busy_ns is None
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


def _missing_figures(change: PoolChange) -> Iterator[Statement]:
    """Yield all figures that either pool lacks for this task, and the command to measure them."""
    if change.target.is_resized:
        return  # nothing but its CPUs is compared
    pools, lacks = [], []
    for storage in (change.source, change.target):
        figures = ", no ".join(_lacking(change, storage))
        if figures:
            pools.append(storage.pool)
            template = "{pool} has no {figures}"
            if not storage.machines:
                template = "{pool}, where the task was profiled, has no results in --on"
            lacks.append(statement(template, pool=storage.pool, figures=figures))
    if not pools:
        return
    places = [place.name for place in change.demand.places if place.name != _USUAL_PLACE]
    name, per_pool = (pools[0], "") if len(pools) == 1 else ("NAME", " per pool")
    yield statement(
        "{lacks}; measure all that predictions use, in about a minute"
        f"{per_pool}: `{{measure}}`, or on Taskcluster: `{{submit}}`",
        lacks=joined(lacks, "; "),
        measure=measure_capacities(name, places),
        submit=submit_capacities(pools),
    )


def _lacking(change: PoolChange, storage: PoolStorage) -> Iterator[str]:
    """Yield the figures of a pool that would decide this task's time, and are not known."""
    for place in change.demand.places:
        if storage.mean(PoolFigure.WRITE_RATE, place.name) is None:
            yield f"write ceiling of the place {place.name}"
        if _may_sync(change, place) and storage.mean(PoolFigure.SYNC, place.name) is None:
            yield f"append-fsync at {place.name}"
        # Where they decide the time there, the profile shows it best by those of its own disks.
        if not _has_requests(storage, place) and _may_be_decided_by_requests(change, place):
            yield f"random-io at {place.name} (requests per second)"
    if storage.mean(PoolFigure.USER_WORK) is None and not _are_cpus_comparable(change):
        yield "fixed work or spawn that compares its CPUs"


def _may_sync(change: PoolChange, place: PlaceDemand) -> bool:
    """Return whether the task may have waited for syncs at this place."""
    if not place.is_alone and not change.demand.shows_no_waiting:
        return not change.demand.is_small(change.at_place(place).unexplained_waiting_ns())
    return place.syncs is None or place.most_syncs > 0


def _has_requests(storage: PoolStorage, place: PlaceDemand) -> bool:
    """Return whether the pool shows how many requests its disks do."""
    figures = (PoolFigure.WRITES, PoolFigure.WRITES_LIMIT)
    return any(storage.mean(figure, place.name) is not None for figure in figures)


def _may_be_decided_by_requests(change: PoolChange, place: PlaceDemand) -> bool:
    """Return whether the task's time may depend on requests that the other pool did not measure."""
    if _has_requests(change.target, place):
        return False
    if change.target.mean(PoolFigure.WRITE_RATE, place.name) is None:
        return bool(place.written_bytes.any())
    return change.is_decided_by_requests()


def _are_cpus_comparable(change: PoolChange) -> bool:
    """Return whether a figure of both pools compares their CPUs, or the task hardly uses them."""
    is_compared = any(
        change.source.mean(figure) and change.target.mean(figure)
        for figure in (PoolFigure.USER_WORK, *CPU_FIGURES)
    )
    return is_compared or change.demand.cpu_share <= SMALL_SHARE
