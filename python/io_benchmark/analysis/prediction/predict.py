# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Predict how long a profiled task takes on each pool.

For each half second of the profile, the time on another pool is the larger of two: what it took, and
what was written then divided by the pool's ceiling. Before that, the window is changed by the
synchronous writes in it times the difference of `append-fsync`, and the part of it on a CPU by the
ratio of `spawn`. A window's writes are a floor and add nothing to waiting that is already in it.

The interval holds a single task. Its error has three parts, which are independent: the model's own,
measured on real jobs; how far tasks of one pool differ; and how well the pool's ceiling is known.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, variance

import numpy as np

from io_benchmark.analysis.inference.distributions import quantile
from io_benchmark.analysis.inference.levels import DEFAULT_WORKER_VARIATION
from io_benchmark.analysis.model import Numbers, Worker
from io_benchmark.analysis.observed.machine_identity import identify_machines
from io_benchmark.analysis.prediction.demand import Demand
from io_benchmark.analysis.prediction.pool_storage import PoolStorage
from io_benchmark.analysis.prediction.prediction_model import PoolPrediction, TaskPrediction
from io_benchmark.analysis.prediction.refusals import reason_against
from io_benchmark.analysis.statements import Quantity, Statement, Unit, statement
from io_benchmark.results.task_profile import TaskProfile

# Standard deviation of ln(measured ÷ predicted) of real jobs in the storage lab.
MODEL_ERROR = 0.10
# A single task is outside the interval in a tenth of all cases.
_TAIL = 0.05
_ASSUMED_DEGREES = 20.0
# Fewer profiles do not show how far tasks differ.
_LEAST_PROFILES = 3
_LEAST_WORKERS = 3
# Nearer to 1, a ratio of spawn is not a difference.
_SAME_CPU_RATIO = 1.05
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
class _Target:
    """What one pool changes, relative to the pool of the profile."""

    rates: Mapping[str, float]  # bytes per second, by place
    sync_ns: Mapping[str, float]  # more per sync, by place
    cpu_ratio: float  # 1: not shown to differ
    seen_cpu_ratio: float  # of the workers that there are

    @classmethod
    def of(cls, demand: Demand, source: PoolStorage, target: PoolStorage) -> "_Target":
        """Compare the means of two pools."""
        rates = {place.name: target.write_rate(place.name) or math.inf for place in demand.places}
        syncs = {}
        for place in demand.places:
            here, there = (
                storage.mean(lambda machine, name=place.name: machine.sync_ns.get(name))  # type: ignore[misc]
                for storage in (source, target)
            )
            syncs[place.name] = there - here if here and there else 0.0
        spawns = [storage.mean(lambda machine: machine.spawn_ns) for storage in (source, target)]
        seen = spawns[1] / spawns[0] if spawns[0] and spawns[1] else 1.0
        return cls(rates, syncs, seen if _cpus_differ(source, target) else 1.0, seen)

    def times(self, demand: Demand, sync_weight: float = 0.5) -> _Times:
        """Return the time of a task; `sync_weight`: 0 for the fewest syncs that it may have, 1 for the most."""
        spans = demand.spans_ns
        by_cpu = spans * demand.cpu_share * (self.cpu_ratio - 1)
        by_syncs = np.zeros(len(spans))
        for place in demand.places:
            fewest, most = place.syncs or (0.0, 0.0)
            count = fewest + sync_weight * (most - fewest)
            by_syncs += _spread(count, place.flushes, spans) * self.sync_ns[place.name]
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


def _cpus_differ(source: PoolStorage, target: PoolStorage) -> bool:
    """Return whether every worker of one pool starts processes faster than all of the other pool's.

    Of few workers one may be slow by chance, and the whole task would be scaled by it.
    """
    times = [
        [machine.spawn_ns for machine in storage.machines if machine.spawn_ns is not None]
        for storage in (source, target)
    ]
    if min(map(len, times)) < _LEAST_WORKERS:
        return False
    here, there = times
    return min(there) > _SAME_CPU_RATIO * max(here) or min(here) > _SAME_CPU_RATIO * max(there)


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
        cpu_share=fmean(demand.cpu_share for demand in usable) if usable else None,
        written_bytes=sum(float(np.sum(place.written_bytes)) for place in places) / count,
        read_bytes=sum(place.read_bytes for place in places) / count,
        syncs=sum(place.syncs[1] for place in places if place.syncs) / count,
        pools=tuple(predictions),
        notes=tuple(_notes(used)),
    )


def _speed(storage: PoolStorage | None, profiles: Sequence[TaskProfile]) -> float:
    """Return by which the fastest pool is chosen: the model holds from there to slower ones."""
    places = {place.name for profile in profiles for place in profile.storage.places}
    rates = [storage.write_rate(place) if storage else None for place in places]
    return min((rate or 0.0 for rate in rates), default=0.0)


def _predict_pool(
    demands: Sequence[Demand],
    unusable: Statement | None,
    source: PoolStorage | None,
    target: PoolStorage,
) -> PoolPrediction:
    places = {place.name for demand in demands for place in demand.places}
    rates = [rate for rate in map(target.write_rate, places) if rate is not None]
    empty = PoolPrediction(target.pool, len(target.machines), min(rates, default=None))
    reasons = [reason_against(demand, source, target) for demand in demands]
    reason = unusable or next(filter(None, reasons), None)
    if reason is not None or source is None:
        return replace(empty, reason=reason)
    changes = [_Target.of(demand, source, target) for demand in demands]
    times = [change.times(demand) for change, demand in zip(changes, demands, strict=True)]
    total = math.exp(fmean(math.log(each.total) for each in times))
    reach = _reach(demands, changes, target)
    return replace(
        empty,
        time_ns=total,
        low_ns=total / reach,
        high_ns=total * reach,
        added_by_writes_ns=fmean(each.by_writes for each in times),
        added_by_syncs_ns=fmean(each.by_syncs for each in times),
        added_by_cpu_ns=fmean(each.by_cpu for each in times),
        notes=tuple(_pool_notes(demands, target)),
    )


def _reach(demands: Sequence[Demand], changes: Sequence[_Target], target: PoolStorage) -> float:
    """Return the factor between the prediction and the ends of its interval."""
    logs = [math.log(demand.wall_ns) for demand in demands]
    degrees = _ASSUMED_DEGREES
    between = DEFAULT_WORKER_VARIATION**2
    if len(logs) >= _LEAST_PROFILES:
        between, degrees = variance(logs), len(logs) - 1.0
    total = MODEL_ERROR**2 + between * (1 + 1 / len(logs))
    demand, change = demands[0], changes[0]
    at_mean = math.log(change.times(demand).total)
    for place in demand.places:
        error = _rate_error(target, place.name)
        rates = {**change.rates, place.name: change.rates[place.name] * math.exp(-error)}
        total += (math.log(replace(change, rates=rates).times(demand).total) - at_mean) ** 2
    syncs = [math.log(change.times(demand, weight).total) for weight in (0.0, 1.0)]
    total += ((syncs[1] - syncs[0]) / 2) ** 2
    # The ratio of one workload stands for that of all the task's work.
    total += (demand.cpu_share * math.log(change.seen_cpu_ratio) / 2) ** 2
    return math.exp(quantile(_TAIL, degrees) * math.sqrt(total))


def _rate_error(target: PoolStorage, place: str) -> float:
    """Return the standard error of ln of a pool's ceiling."""
    rates = [machine.write_bytes_per_s.get(place) for machine in target.machines]
    logs = [math.log(rate) for rate in rates if rate]
    within = max(machine.write_error.get(place, 0.0) for machine in target.machines)
    between = DEFAULT_WORKER_VARIATION**2
    if len(logs) >= _LEAST_PROFILES:
        between = variance(logs)
    return math.sqrt(between + within**2 / len(logs))


def _notes(profiles: Sequence[TaskProfile]) -> list[Statement]:
    """Return what limits all predictions of a task."""
    notes = []
    others = [
        profile.other_cpu_ms * 1e6 / profile.wall_ns
        for profile in profiles
        if profile.other_cpu_ms is not None and profile.wall_ns
    ]
    if others and max(others) > _BUSY_CPUS:
        notes.append(
            statement(
                "other processes used {cpus} CPUs meanwhile: their I/O is counted as the task's",
                cpus=Quantity(max(others), Unit.NUMBER),
            )
        )
    return notes


def _pool_notes(demands: Sequence[Demand], target: PoolStorage) -> list[Statement]:
    notes = []
    places = {place.name for demand in demands for place in demand.places}
    if not any(machine.writes_per_s.keys() & places for machine in target.machines):
        notes.append(
            statement(
                "a limit of the disks' requests would not be seen: {pool} has no random-io",
                pool=target.pool,
            )
        )
    return notes
