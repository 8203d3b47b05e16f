# SPDX-License-Identifier: MPL-2.0
"""Predict how long a profiled task takes on each pool.

The interval is that of a single task. Each part of its error is a variance of ln of the time.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import chain
from operator import attrgetter
from statistics import fmean
from types import MappingProxyType

import msgspec
from msgspec.structs import replace

from io_benchmark.analysis.inference.variances import MeanVariance
from io_benchmark.analysis.model import Run, Worker
from io_benchmark.analysis.observed.machine_identity import by_side, identify_machines
from io_benchmark.analysis.observed.worker_view import mean_of_known
from io_benchmark.analysis.prediction.demand import Demand
from io_benchmark.analysis.prediction.pool_change import PoolChange
from io_benchmark.analysis.prediction.pool_storage import WRITE_RATE, PoolStorage
from io_benchmark.analysis.prediction.prediction_model import (
    PREDICTION_LEVEL,
    PoolPrediction,
    TaskPrediction,
)
from io_benchmark.analysis.prediction.refusals import reasons_against
from io_benchmark.analysis.statements import Quantity, Statement, Unit, statement
from io_benchmark.analysis.validity.checks import check_runs
from io_benchmark.costs.worker_time import Price
from io_benchmark.results.format import TaskProfile

# An interval that is wider tells no more.
_LARGEST_LOG = 300.0
# CPUs: a machine on which other tasks work.
_BUSY_CPUS = 0.3


def predict(
    profiles: Sequence[TaskProfile],
    workers: Sequence[Worker],
    prices: Mapping[str, Price] = MappingProxyType({}),
) -> list[TaskPrediction]:
    """Predict each task on each pool. Profiles of the same command are of one task."""
    valid = [_with_valid_entries(worker) for worker in identify_machines(workers)]
    by_pool = sorted(by_side(valid, attrgetter("pool")).items())
    storages = {pool: PoolStorage.of(pool, runs, prices) for pool, runs in by_pool}
    tasks: dict[str, dict[str | None, list[TaskProfile]]] = {}
    # In one order, because the first profile is the one whose errors count.
    for profile in sorted(profiles, key=msgspec.json.encode):
        pools = tasks.setdefault(profile.command.sha256, {})
        pools.setdefault(_pool(profile.task.pool, valid), []).append(profile)
    return [_predict_task(pools, storages) for pools in tasks.values()]


def _pool(name: str | None, workers: Sequence[Worker]) -> str | None:
    """Return the pool that a profile names: by its own name, or by its worker type."""
    pools = {worker.pool for worker in workers if worker.queue.rpartition("/")[2] == name}
    is_type = len(pools) == 1 and all(worker.pool != name for worker in workers)
    return pools.pop() if is_type else name


def _with_valid_entries(worker: Worker) -> Worker:
    """Leave out what a comparison would refuse, such as a workload that failed."""
    runs, _ = check_runs((Run(worker, entry) for entry in worker.entries), frozenset())
    return replace(worker, entries=tuple(run.entry for run in runs))


def _predict_task(
    pools: Mapping[str | None, list[TaskProfile]], storages: Mapping[str, PoolStorage]
) -> TaskPrediction:
    source = max(pools, key=lambda pool: _speed(storages.get(pool or ""), pools[pool]))
    used = pools[source]
    demands = [Demand.of(profile) for profile in used]
    usable = [demand for demand in demands if isinstance(demand, Demand)]
    unusable = next((demand for demand in demands if isinstance(demand, Statement)), None)
    profiled_pool = storages.get(source or "")
    if source is None:
        unusable = statement("the profile does not name its pool; name it by --pool NAME")
    elif profiled_pool is None:
        unusable = statement(
            "{pool}, where the task was profiled, has no results; add them to --on", pool=source
        )
    predictions = [
        replace(
            _predict_pool(usable, unusable, profiled_pool, storage),
            measured_ns=tuple(
                profile.wall_ns for profile in pools.get(pool, ()) if profile.ending.code == 0
            ),
        )
        for pool, storage in storages.items()
        if pool != source
    ]
    busy_cpus = max((each.other_cpu_ms or 0) * 1e6 / max(1, each.wall_ns) for each in used)
    return TaskPrediction(
        program=used[0].command.program,
        sha256=used[0].command.sha256,
        pool=source,
        measured_ns=tuple(profile.wall_ns for profile in used),
        cpus_used=mean_of_known(demand.cpus_used for demand in usable),
        written_bytes=mean_of_known(
            sum(place.written_bytes.sum().item() for place in demand.places) for demand in usable
        ),
        read_bytes=mean_of_known(
            sum(place.read_bytes for place in demand.places) for demand in usable
        ),
        syncs=mean_of_known(
            sum(place.syncs[1] for place in demand.places if place.syncs) for demand in usable
        ),
        pools=tuple(predictions),
        notes=()
        if busy_cpus <= _BUSY_CPUS
        else (
            statement(
                "Other processes used {cpus} CPUs meanwhile: the task may have waited for CPUs, and their "
                "I/O is counted as its own; profile it on an idle machine",
                cpus=Quantity(busy_cpus, Unit.NUMBER),
            ),
        ),
        price=profiled_pool.price if profiled_pool else None,
    )


def _speed(storage: PoolStorage | None, profiles: Sequence[TaskProfile]) -> float:
    """Return a pool's write rate; the model holds from the fastest pool to slower ones."""
    places = {place.name for profile in profiles for place in profile.storage.places}
    rates = [storage.mean(WRITE_RATE, place) if storage else None for place in places]
    return min((rate or 0.0 for rate in rates), default=0.0)


def _predict_pool(
    demands: Sequence[Demand],
    unusable: Statement | None,
    source: PoolStorage | None,
    target: PoolStorage,
) -> PoolPrediction:
    places = {place.name for demand in demands for place in demand.places}
    rates = filter(None, (target.mean(WRITE_RATE, place) for place in places))
    unknown = PoolPrediction(
        target.pool, target.machines, min(rates, default=None), price=target.price, reason=unusable
    )
    if unusable is not None or source is None:
        return unknown
    changes = [PoolChange.of(demand, source, target) for demand in demands]
    reason = next(chain.from_iterable(map(reasons_against, changes)), None)
    if reason is not None:
        return replace(unknown, reason=reason)
    times = [change.times() for change in changes]
    total = math.exp(fmean(math.log(time.total) for time in times))
    # How far a single task differs from the mean of the profiled ones.
    task = MeanVariance.of_single([math.log(demand.wall_ns) for demand in demands])
    task = MeanVariance(task.variance * (1 + 1 / len(demands)), task.degrees)
    error = MeanVariance.of_sum([*changes[0].errors(), task])
    reach = math.exp(min(error.half_width(PREDICTION_LEVEL), _LARGEST_LOG))
    return replace(
        unknown,
        time_ns=total,
        low_ns=total / reach,
        high_ns=total * reach,
        added_by_writes_ns=fmean(time.by_writes for time in times),
        added_by_syncs_ns=fmean(time.by_syncs for time in times),
        added_by_cpu_ns=fmean(time.by_cpu for time in times),
    )
