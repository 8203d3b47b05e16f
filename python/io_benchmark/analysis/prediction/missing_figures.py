# SPDX-License-Identifier: MPL-2.0
"""Which figures a prediction lacks, and the run that measures all of them."""

from collections.abc import Iterator

from io_benchmark.analysis.model.statements import Statement, joined, statement
from io_benchmark.analysis.prediction.demand import SMALL_SHARE, PlaceDemand
from io_benchmark.analysis.prediction.pool_change import PoolChange
from io_benchmark.analysis.prediction.pool_storage import CPU_FIGURES, PoolFigure, PoolStorage
from io_benchmark.command_lines import measure_capacities, submit_capacities

# The place that the worker's program measures unless it is told another one.
_USUAL_PLACE = "workspace"


def missing_figures(change: PoolChange) -> Statement | None:
    """Return all figures that either pool lacks for this task, and the command to measure them."""
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
        return None
    places = [place.name for place in change.demand.places if place.name != _USUAL_PLACE]
    name, per_pool = (pools[0], "") if len(pools) == 1 else ("NAME", " per pool")
    return statement(
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
    if not place.is_alone:
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
