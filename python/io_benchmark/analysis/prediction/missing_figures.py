# SPDX-License-Identifier: MPL-2.0
"""Which figures a prediction lacks, and the run that measures all of them."""

from collections.abc import Iterator

from io_benchmark.analysis.model.statements import Statement, joined, statement
from io_benchmark.analysis.prediction.demand import SMALL_SHARE, PlaceDemand
from io_benchmark.analysis.prediction.pool_change import PoolChange
from io_benchmark.analysis.prediction.pool_storage import (
    CPU_FIGURES,
    SYNC,
    USER_WORK,
    WRITE_RATE,
    WRITES,
    WRITES_LIMIT,
    PoolStorage,
)
from io_benchmark.command_lines import measure_capacities, submit_capacities

# The place that the worker's program measures unless it is told another one.
_USUAL_PLACE = "workspace"


def missing_figures(change: PoolChange) -> Statement | None:
    """Return all figures that both pools lack for this task, with the command that measures them.

    The demand is as it was counted.
    """
    lacking = [
        (storage, figures)
        for storage in (change.source, change.target)
        if (figures := list(_lacking(change, storage)))
    ]
    if not lacking:
        return None
    pools = [storage.pool for storage, _ in lacking]
    places = [place.name for place in change.demand.places if place.name != _USUAL_PLACE]
    per_pool = "" if len(pools) == 1 else " per pool"
    return statement(
        f"{{lacks}}; measure all that predictions use, in about a minute{per_pool}: `{{measure}}`, or "
        "on Taskcluster: `{submit}`",
        lacks=joined((_lacks(storage, figures) for storage, figures in lacking), "; "),
        measure=measure_capacities(pools[0] if len(pools) == 1 else "NAME", places),
        submit=submit_capacities(pools),
    )


def _lacks(storage: PoolStorage, figures: list[str]) -> Statement:
    if not storage.machines:
        return statement(
            "{pool}, where the task was profiled, has no results in --on", pool=storage.pool
        )
    return statement("{pool} has no {figures}", pool=storage.pool, figures=", no ".join(figures))


def _lacking(change: PoolChange, storage: PoolStorage) -> Iterator[str]:
    for place in change.demand.places:
        if storage.mean(WRITE_RATE, place.name) is None:
            yield f"write ceiling of the place {place.name}"
        if _may_sync(change, place) and storage.mean(SYNC, place.name) is None:
            yield f"append-fsync at {place.name}"
        # Where they decide the time there, the profile shows it best by those of its own disks.
        if not _has_requests(storage, place) and _may_be_decided_by_requests(change, place):
            yield f"random-io at {place.name} (requests per second)"
    if storage.mean(USER_WORK) is None and not _are_cpus_comparable(change):
        yield "fixed work or spawn that compares its CPUs"


def _may_sync(change: PoolChange, place: PlaceDemand) -> bool:
    if place.is_alone:
        return place.syncs is None or place.syncs[1] > 0
    return not change.demand.is_small(change.unexplained_waiting_ns(place))


def _has_requests(storage: PoolStorage, place: PlaceDemand) -> bool:
    return any(storage.mean(figure, place.name) is not None for figure in (WRITES, WRITES_LIMIT))


def _may_be_decided_by_requests(change: PoolChange, place: PlaceDemand) -> bool:
    """Return whether the task's time may depend on requests that the other pool did not measure."""
    if _has_requests(change.target, place):
        return False
    if change.target.mean(WRITE_RATE, place.name) is None:
        return bool(place.written_bytes.any())
    return change.is_decided_by("requests")


def _are_cpus_comparable(change: PoolChange) -> bool:
    is_compared = any(
        change.source.mean(figure) and change.target.mean(figure)
        for figure in (USER_WORK, *CPU_FIGURES)
    )
    return is_compared or change.demand.cpu_share <= SMALL_SHARE
