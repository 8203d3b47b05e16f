# SPDX-License-Identifier: MPL-2.0
"""Predict how long a profiled task takes on each pool.

The interval is that of a single task. Each part of its error is a variance of ln of the time.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from statistics import fmean
from types import MappingProxyType

import msgspec
import numpy as np
from msgspec.structs import replace

from io_benchmark.analysis.model.groups import grouped
from io_benchmark.analysis.model.run import Worker
from io_benchmark.analysis.model.side import mean_of_known
from io_benchmark.analysis.model.statements import Statement, joined, statement
from io_benchmark.analysis.prediction.cpu_answer import assumption, larger_machines, more_cpus
from io_benchmark.analysis.prediction.cpu_range import (
    CpuRange,
    ThreadLevels,
    open_range,
    thread_levels,
)
from io_benchmark.analysis.prediction.demand import Demand, PlaceDemand
from io_benchmark.analysis.prediction.pool_change import PoolChange
from io_benchmark.analysis.prediction.pool_storage import PoolFigure, PoolStorage
from io_benchmark.analysis.prediction.prediction_model import (
    PREDICTION_LEVEL,
    PoolPrediction,
    TaskPrediction,
    WrittenOverTime,
)
from io_benchmark.analysis.prediction.profiled_run import ProfiledRun, notes_of
from io_benchmark.analysis.prediction.refusals import reasons_against
from io_benchmark.analysis.reading.machines import MachineMarks
from io_benchmark.analysis.statistics.variances import MeanVariance
from io_benchmark.analysis.validity.checks import check_runs
from io_benchmark.analysis.validity.systems import name_of
from io_benchmark.costs.worker_time import Price
from io_benchmark.results.parts import NS_PER_S
from io_benchmark.sources.run_results import RunProfile

# ln of the largest half of an interval, of which the exponential is still a number.
_LARGEST_LOG = 300.0
_STEPS = 120  # steps of what is written over time; chosen: a picture shows no more


def predict(
    profiles: Iterable[RunProfile],
    workers: Sequence[Worker],
    prices: Mapping[str, Price] = MappingProxyType({}),
    cpus: Sequence[int] = (),
) -> list[TaskPrediction]:
    """Predict each task on each pool; a label, else a command, tells which profiles are of one.

    `cpus` are numbers of CPUs that the profiled machine might have.
    """
    valid = []
    for worker in MachineMarks.identify(workers):
        # Without what a comparison would refuse, such as a workload that failed.
        runs, _ = check_runs(worker.runs, frozenset())
        valid.append(replace(worker, runs=tuple(runs)))
    by_pool = sorted(grouped(valid, attrgetter("pool")).items())
    storages = {pool: PoolStorage.of(pool, of_pool, prices) for pool, of_pool in by_pool}
    tasks: dict[tuple[str, ...], dict[str | None, list[ProfiledRun]]] = {}
    # In one order, because the first profile is the one whose errors count.
    for profile in sorted(profiles, key=msgspec.json.encode):
        pool = _pool(profile.pool, valid)
        run = ProfiledRun.of(profile, storages.get(pool or ""))
        tasks.setdefault(run.task, {}).setdefault(pool, []).append(run)
    return [_predict_task(pools, storages, prices, cpus) for pools in tasks.values()]


def _pool(name: str | None, workers: Sequence[Worker]) -> str | None:
    """Return the pool that a profile names: by its own name, or by its worker type."""
    pools = {worker.pool for worker in workers if worker.queue.rpartition("/")[2] == name}
    is_type = len(pools) == 1 and all(worker.pool != name for worker in workers)
    return pools.pop() if is_type else name


def _predict_task(
    pools: Mapping[str | None, list[ProfiledRun]],
    storages: Mapping[str, PoolStorage],
    prices: Mapping[str, Price],
    cpus: Sequence[int],
) -> TaskPrediction:
    """Predict one task by its profiles on the fastest pool; `pools` has all of its profiles."""
    profiled = {
        pool: _profiled_pool(pool or "", storages, prices, runs[0].system)
        for pool, runs in pools.items()
    }
    source = max(pools, key=lambda pool: _speed(profiled[pool], pools[pool]))
    used, profiled_pool = pools[source], profiled[source]
    demands = {
        pool: [run.demand for run in runs if isinstance(run.demand, Demand)]
        for pool, runs in pools.items()
    }
    # Profiles with fewer of the pool's CPUs only show how many threads there are.
    here = max((demand.cpus for demand in demands[source]), default=0.0)
    usable = [demand for demand in demands[source] if demand.cpus == here]
    likely = [demand.as_counted() for demand in usable]
    unusable = next((run.demand for run in used if isinstance(run.demand, Statement)), None)
    levels = thread_levels(demands, profiled)
    targets = [storage for pool, storage in storages.items() if pool != source]
    targets += [profiled_pool.with_cpus(number, here) for number in cpus if here]
    predicted = [
        _predict_pool(usable, unusable, profiled_pool, target, levels) for target in targets
    ]
    larger = larger_machines(usable, profiled_pool, zip(targets, predicted, strict=True), levels)

    def total(figure: Callable[[PlaceDemand], float]) -> float | None:
        """Return the sum over all places, on average over the profiles."""
        return mean_of_known(sum(map(figure, demand.places)) for demand in likely)

    return TaskPrediction(
        program=used[0].name,
        sha256=used[0].sha256,
        pool=source,
        measured_ns=tuple(run.wall_ns for run in used),
        cpus_used=mean_of_known(demand.cpus_used for demand in likely),
        written_bytes=total(lambda place: place.written_bytes.sum().item()),
        read_bytes=total(lambda place: place.read_bytes.sum().item()),
        syncs=total(lambda place: place.most_syncs if place.is_alone else 0.0),
        pools=tuple(
            replace(prediction, measured_ns=_complete_times(pools.get(prediction.pool, ())))
            for prediction in predicted
        ),
        notes=(
            *notes_of(pools, source, likely),
            *(assumption(demand, profiled_pool) for demand in likely[:1] if cpus),
        ),
        price=profiled_pool.price,
        at_ceiling_share=mean_of_known(
            PoolChange.of(demand, profiled_pool, profiled_pool).at_ceiling_share
            for demand in usable
        ),
        written=_written_over_time(likely[0], storages) if likely else None,
        label=used[0].label,
        more_cpus=more_cpus(usable, larger, profiled_pool.price, is_asked=bool(cpus)),
    )


def _problem(
    source: PoolStorage, unusable: Statement | None, target: PoolStorage
) -> Statement | None:
    """Return why the profiles cannot be used for a pool; other machines need the profile's pool."""
    if not source.pool and not target.is_resized:
        return statement("the profile does not name its pool; name it by --pool NAME")
    if len(source.systems) > 1:
        return statement(
            "the profile and the results of {pool} are of different systems; check --pool",
            pool=source.pool,
        )
    if len(source.systems | target.systems) > 1:
        return statement(
            "the task was profiled on {here}, and {pool} is on {there}: the work is not the same; "
            "profile the task on {pool}",
            here=joined(map(name_of, source.systems)),
            pool=target.pool,
            there=joined(map(name_of, sorted(target.systems))),
        )
    return unusable


def _profiled_pool(
    pool: str, storages: Mapping[str, PoolStorage], prices: Mapping[str, Price], system: str
) -> PoolStorage:
    """Return the pool of a profile, which also shows its system."""
    storage = storages.get(pool) or PoolStorage.of(pool, (), prices)
    return replace(storage, systems=storage.systems | {system})


def _complete_times(runs: Iterable[ProfiledRun]) -> tuple[int, ...]:
    return tuple(run.wall_ns for run in runs if run.is_complete)


def _written_over_time(demand: Demand, storages: Mapping[str, PoolStorage]) -> WrittenOverTime:
    """Return what the task wrote to the place that got most, in steps of equal length."""
    place = max(demand.places, key=lambda place: float(np.sum(place.written_bytes)))
    spans_ns = demand.spans_ns
    times_ns = np.concatenate([[0.0], np.cumsum(spans_ns)])
    written = np.concatenate([[0.0], np.cumsum(place.written_bytes)])
    ends_ns = np.linspace(0.0, times_ns[-1], min(_STEPS, len(spans_ns)) + 1)
    rates = np.diff(np.interp(ends_ns, times_ns, written)) / ends_ns[1] * NS_PER_S
    # A window counts where its middle is; a step without any has no peak.
    steps = ((times_ns[1:] - spans_ns / 2) / ends_ns[1]).astype(int)
    peaks = rates.copy()
    np.maximum.at(peaks, steps, place.written_bytes / spans_ns * NS_PER_S)
    ceilings = {pool: storage.ceiling(place.name) for pool, storage in storages.items()}
    return WrittenOverTime(
        place=place.name,
        step_ns=ends_ns[1].item(),
        window_ns=times_ns[-1].item() / len(spans_ns),
        bytes_per_s=tuple(rates.tolist()),
        peaks_bytes_per_s=tuple(peaks.tolist()),
        ceilings_bytes_per_s={pool: rate for pool, rate in ceilings.items() if math.isfinite(rate)},
    )


def _speed(storage: PoolStorage, runs: Sequence[ProfiledRun]) -> float:
    """Return a pool's write rate; the model holds from the fastest pool to slower ones."""
    places = {place for run in runs for place in run.places}
    rates = [storage.mean(PoolFigure.WRITE_RATE, place) or 0.0 for place in places]
    return min(rates, default=0.0)


def _predict_pool(
    demands: Sequence[Demand],
    unusable: Statement | None,
    source: PoolStorage,
    target: PoolStorage,
    levels: ThreadLevels,
) -> PoolPrediction:
    """Predict one task on one pool, by its demands on the pool `source`; or say why not."""
    places = {place.name for demand in demands for place in demand.places}
    rates = [target.mean(PoolFigure.WRITE_RATE, place) for place in places]
    unknown = PoolPrediction(
        pool=target.pool,
        workers=target.machines,
        write_bytes_per_s=min((rate for rate in rates if rate), default=None),
        price=target.price,
        reason=_problem(source, unusable, target),
        cpus=target.cpus,
    )
    if unknown.reason is not None:
        return unknown
    changes = [PoolChange.of(demand, source, target) for demand in demands]
    for change in changes:
        for reason in reasons_against(change):
            return replace(unknown, reason=reason)
    times = [change.times() for change in changes]
    by_cpus = CpuRange.of(changes, levels)
    # How far a single task differs from the mean of the profiled ones.
    task = MeanVariance.of_single([math.log(demand.wall_ns) for demand in demands])
    task = MeanVariance(task.variance * (1 + 1 / len(demands)), task.degrees)
    error = MeanVariance.of_sum([*changes[0].errors(), task])
    reach = math.exp(min(error.half_width(PREDICTION_LEVEL), _LARGEST_LOG))
    low_ns, high_ns = by_cpus.least / reach, by_cpus.most * reach
    if by_cpus.most > by_cpus.least:
        unknown = replace(unknown, at_least_ns=low_ns, at_most_ns=high_ns)
    if by_cpus.is_open(levels):
        return replace(unknown, reason=open_range(target))
    return replace(
        unknown,
        time_ns=by_cpus.likely,
        low_ns=low_ns,
        high_ns=high_ns,
        added_by_writes_ns=fmean(time.by_writes for time in times),
        added_by_syncs_ns=fmean(time.by_syncs for time in times),
        added_by_cpu_ns=fmean(time.by_cpu for time in times),
        at_ceiling_share=mean_of_known(change.at_ceiling_share for change in changes),
    )
