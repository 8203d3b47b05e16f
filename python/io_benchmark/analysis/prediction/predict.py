# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Predict how long a profiled task takes on each pool.

For each half second of the profile, the time on another pool is the larger of two: what it took, and
what was written then divided by the pool's ceiling. Before that, the window is changed by the
synchronous writes in it times the difference of `append-fsync`, and the part of it on a CPU by the
ratio of the pools' CPUs. A window's writes are a floor and add nothing to waiting that is already in it.

The interval holds a single task. Each part of its error is a variance of ln of the time: see `_errors`.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

import numpy as np

from io_benchmark.analysis.inference.levels import LEVEL
from io_benchmark.analysis.inference.variances import MeanVariance
from io_benchmark.analysis.model import Numbers, Worker
from io_benchmark.analysis.observed.machine_identity import identify_machines
from io_benchmark.analysis.prediction.demand import Demand
from io_benchmark.analysis.prediction.pool_storage import (
    OWN_CPU,
    SPAWN,
    SYNC,
    WRITE_RATE,
    PoolStorage,
    variation,
)
from io_benchmark.analysis.prediction.prediction_model import PoolPrediction, TaskPrediction
from io_benchmark.analysis.prediction.refusals import reason_against
from io_benchmark.analysis.statements import Quantity, Statement, Unit, statement
from io_benchmark.results.task_profile import TaskProfile

# Of the time of a single task.
PREDICTION_LEVEL = 0.90
# Standard deviation of ln(measured ÷ predicted) of real jobs in the storage lab, with their own variation.
MODEL_ERROR = 0.10
# That is known from some dozens of jobs.
_MODEL_DEGREES = 20.0
# CPUs: a machine on which other tasks work.
_BUSY_CPUS = 0.3
_NS_PER_S = 1e9


@dataclass(frozen=True)
class _Times:
    """A task's time elsewhere, and what is added to its own; all in nanoseconds."""

    total: float
    by_writes: float
    by_syncs: float
    by_cpu: float


@dataclass(frozen=True)
class _Change:
    """What another pool changes, relative to the pool of the profile."""

    rates: Mapping[str, float]  # bytes per second, by place
    own_rates: Mapping[str, float]  # the same of the profile's pool
    more_sync_ns: Mapping[str, float]  # per sync, by place
    cpu_ratio: float

    @classmethod
    def of(cls, demand: Demand, source: PoolStorage, target: PoolStorage) -> "_Change":
        """Compare the means of two pools."""
        places = [place.name for place in demand.places]
        own_rates, rates = (
            {place: storage.mean(WRITE_RATE, place) or math.inf for place in places}
            for storage in (source, target)
        )
        syncs = {
            place: (target.mean(SYNC, place) or 0.0) - (source.mean(SYNC, place) or 0.0)
            for place in places
            if source.mean(SYNC, place) and target.mean(SYNC, place)
        }
        return cls(rates, own_rates, syncs, _cpu_ratio(source, target)[0])

    def times(self, demand: Demand, sync_weight: float = 0.5) -> _Times:
        """Return the time of a task; `sync_weight`: 0 for the fewest syncs that it may have, 1 for the most."""
        spans = demand.spans_ns
        by_cpu = spans * demand.cpu_share * (self.cpu_ratio - 1)
        by_syncs = np.zeros(len(spans))
        for place in demand.places:
            fewest, most = place.syncs or (0.0, 0.0)
            count = fewest + sync_weight * (most - fewest)
            by_syncs += _spread(count, place.flushes, spans) * self.more_sync_ns.get(place.name, 0)
        # What syncs and the CPU take away is at most the window.
        changed = np.maximum(0.0, spans + by_cpu + by_syncs)
        floors = [
            place.written_bytes / self.rates[place.name] * _NS_PER_S for place in demand.places
        ]
        elsewhere = np.maximum.reduce([changed, *floors])
        writes = float(np.sum(elsewhere - changed))
        cpu = float(np.sum(by_cpu))
        syncs = float(np.sum(changed - spans)) - cpu
        return _Times(max(1.0, demand.wall_ns + writes + syncs + cpu), writes, syncs, cpu)

    def waited_ns(self, demand: Demand) -> float:
        """Return what writes add if the task waits for each of them, however busy it is meanwhile."""
        return max(
            float(np.sum(place.written_bytes))
            * (1 / self.rates[place.name] - 1 / self.own_rates[place.name])
            * _NS_PER_S
            for place in demand.places
        )


def _cpu_ratio(source: PoolStorage, target: PoolStorage) -> tuple[float, MeanVariance]:
    """Return how much longer the same work takes on the CPUs there, and the variance of its ln.

    The ratio is 1 unless it differs from that with 95 %. The CPU time of lookups is preferred to spawn,
    because it does not include waiting for a CPU.
    """
    for figure in (OWN_CPU, SPAWN):
        here, there = source.mean(figure), target.mean(figure)
        if here and there:
            error = MeanVariance.of_sum([source.variance(figure), target.variance(figure)])
            log = math.log(there / here)
            return (there / here if abs(log) > error.half_width(LEVEL) else 1.0), error
    return 1.0, MeanVariance(0.0, math.inf)


def _spread(count: float, flushes: Numbers, spans: Numbers) -> Numbers:
    """Return how many syncs each window has: as flushes are, or evenly where these are not counted."""
    weights = flushes if np.sum(flushes) > 0 else spans
    spread: Numbers = count * weights / max(float(np.sum(weights)), 1.0)
    return spread


def predict(profiles: Sequence[TaskProfile], workers: Sequence[Worker]) -> list[TaskPrediction]:
    """Predict each task on each pool. Profiles of the same command are of one task."""
    by_pool: dict[str, list[Worker]] = {}
    for worker in identify_machines(workers):
        by_pool.setdefault(worker.pool, []).append(worker)
    storages = {pool: PoolStorage.of(pool, runs) for pool, runs in sorted(by_pool.items())}
    tasks: dict[str, list[TaskProfile]] = {}
    for profile in profiles:
        tasks.setdefault(profile.command.sha256, []).append(profile)
    return [_predict_task(task, storages) for task in tasks.values()]


def _predict_task(
    profiles: Sequence[TaskProfile], storages: Mapping[str, PoolStorage]
) -> TaskPrediction:
    pools: dict[str | None, list[TaskProfile]] = {}
    for profile in profiles:
        pools.setdefault(profile.task.pool, []).append(profile)
    source = max(pools, key=lambda pool: _speed(storages.get(pool or ""), pools[pool]))
    used = pools[source]
    demands = [Demand.of(profile) for profile in used]
    usable = [demand for demand in demands if isinstance(demand, Demand)]
    unusable = next((demand for demand in demands if isinstance(demand, Statement)), None)
    if source is None:
        unusable = statement("the profile does not name its pool; profile again with --pool NAME")
    predictions = []
    for pool, storage in storages.items():
        if pool != source:
            known = replace(
                _predict_pool(usable, unusable, storages.get(source or ""), storage),
                measured_ns=tuple(profile.wall_ns for profile in pools.get(pool, ())),
            )
            predictions.append(known)
    places = [place for demand in usable for place in demand.places]
    count = max(1, len(usable))
    return TaskPrediction(
        program=used[0].command.program,
        sha256=used[0].command.sha256,
        pool=source,
        measured_ns=tuple(profile.wall_ns for profile in used),
        cpus_used=fmean(demand.cpus_used for demand in usable) if usable else None,
        written_bytes=sum(float(np.sum(place.written_bytes)) for place in places) / count,
        read_bytes=sum(place.read_bytes for place in places) / count,
        syncs=sum(place.syncs[1] for place in places if place.syncs) / count,
        pools=tuple(predictions),
        notes=tuple(_notes(used)),
    )


def _speed(storage: PoolStorage | None, profiles: Sequence[TaskProfile]) -> float:
    """Return by which the fastest pool is chosen: the model holds from there to slower ones."""
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
    rates = [target.mean(WRITE_RATE, place) for place in places]
    known = [rate for rate in rates if rate is not None]
    empty = PoolPrediction(target.pool, target.machines, min(known, default=None))
    reasons = [reason_against(demand, source, target) for demand in demands]
    reason = unusable or next(filter(None, reasons), None)
    if reason is not None or source is None:
        return replace(empty, reason=reason)
    changes = [_Change.of(demand, source, target) for demand in demands]
    times = [change.times(demand) for change, demand in zip(changes, demands, strict=True)]
    total = math.exp(fmean(math.log(each.total) for each in times))
    error = MeanVariance.of_sum([*_errors(demands[0], changes[0], source, target), _task(demands)])
    reach = math.exp(error.half_width(PREDICTION_LEVEL))
    return replace(
        empty,
        time_ns=total,
        low_ns=total / reach,
        high_ns=total * reach,
        added_by_writes_ns=fmean(each.by_writes for each in times),
        added_by_syncs_ns=fmean(each.by_syncs for each in times),
        added_by_cpu_ns=fmean(each.by_cpu for each in times),
    )


def _task(demands: Sequence[Demand]) -> MeanVariance:
    """Return how far a single task differs from the mean of the profiled ones."""
    one = variation([math.log(demand.wall_ns) for demand in demands])
    return MeanVariance(one.variance * (1 + 1 / len(demands)), one.degrees)


def _errors(
    demand: Demand, change: _Change, source: PoolStorage, target: PoolStorage
) -> Iterator[MeanVariance]:
    """Return the independent errors of ln of the predicted time."""
    yield MeanVariance(MODEL_ERROR**2, _MODEL_DEGREES)
    times = change.times(demand)
    at_mean = math.log(times.total)
    for place in demand.places:
        # How well the pool's figures are known, by what the time would be with others.
        rate = target.variance(WRITE_RATE, place.name)
        lower = change.rates[place.name] * math.exp(-math.sqrt(rate.variance))
        slower = replace(change, rates={**change.rates, place.name: lower})
        yield _squared(math.log(slower.times(demand).total) - at_mean, rate.degrees)
        if place.name in change.more_sync_ns:
            for storage in (source, target):
                sync = storage.variance(SYNC, place.name)
                more = (storage.mean(SYNC, place.name) or 0.0) * math.sqrt(sync.variance)
                more += change.more_sync_ns[place.name]
                longer = replace(change, more_sync_ns={**change.more_sync_ns, place.name: more})
                yield _squared(math.log(longer.times(demand).total) - at_mean, sync.degrees)
    ends = [math.log(change.times(demand, weight).total) for weight in (0.0, 1.0)]
    yield _squared((ends[1] - ends[0]) / 2)
    # Writes may overlap less with the rest than in a window: at the least, not at all.
    waiting = max(0.0, change.waited_ns(demand) - times.by_writes)
    yield _squared(math.log1p(waiting / times.total) / 2)
    # The work that measured the CPUs stands for that of the task.
    yield _squared(demand.cpu_share * math.log(change.cpu_ratio) / 2)
    cpu = _cpu_ratio(source, target)[1]
    yield MeanVariance(demand.cpu_share**2 * cpu.variance, cpu.degrees)


def _squared(error: float, degrees: float = math.inf) -> MeanVariance:
    return MeanVariance(error**2, degrees)


def _notes(profiles: Sequence[TaskProfile]) -> Iterator[Statement]:
    """Return what limits all predictions of a task."""
    others = [
        profile.other_cpu_ms * 1e6 / profile.wall_ns
        for profile in profiles
        if profile.other_cpu_ms is not None and profile.wall_ns
    ]
    if others and max(others) > _BUSY_CPUS:
        yield statement(
            "other processes used {cpus} CPUs meanwhile: their I/O is counted as the task's",
            cpus=Quantity(max(others), Unit.NUMBER),
        )
