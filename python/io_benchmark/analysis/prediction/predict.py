# SPDX-License-Identifier: MPL-2.0
"""Predict how long a profiled task takes on each pool.

The interval is that of a single task. Each part of its error is a variance of ln of the time.

There is no prediction where something that the model does not have decides the time of this task, or
where what is not known changes it much: a wrong one costs more.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from statistics import fmean
from types import MappingProxyType

import msgspec
import numpy as np
from msgspec.structs import replace

from io_benchmark.analysis.model import Worker
from io_benchmark.analysis.observed.machines import grouped, identify_machines
from io_benchmark.analysis.observed.runs import Run, mean_of_known
from io_benchmark.analysis.prediction.demand import Demand, Numbers, PlaceDemand
from io_benchmark.analysis.prediction.pool_change import PoolChange
from io_benchmark.analysis.prediction.pool_storage import (
    CPU_FIGURES,
    SLOWING,
    SYNC,
    USER_WORK,
    WRITE_RATE,
    PoolStorage,
)
from io_benchmark.analysis.prediction.prediction_model import (
    PREDICTION_LEVEL,
    PoolPrediction,
    TaskPrediction,
)
from io_benchmark.analysis.prediction.profiled_run import ProfiledRun
from io_benchmark.analysis.statements import Quantity, Statement, Unit, statement
from io_benchmark.analysis.validity.checks import check_runs
from io_benchmark.analysis.variances import MeanVariance
from io_benchmark.costs.worker_time import Price
from io_benchmark.results.parts import NS_PER_S
from io_benchmark.sources.run_results import RunProfile

# An interval that is wider tells no more.
_LARGEST_LOG = 300.0
# CPUs: a machine on which other tasks work.
_BUSY_CPUS = 0.3
# What may be neglected of the task's time.
_SMALL_SHARE = 0.1
# From this share of the machine's CPUs on, a task might use more of them.
_AT_CPUS = 0.9
# ln of the ratio between two times, both of which may be true: too far apart to predict one.
_WIDE_LOG = 1.0
# Retrieves that take this much longer at the end of a run show a disk that slows down.
_SLOWED_DOWN_RATIO = 1.25
# A disk that writes more than this many times a ceiling has another one.
_ABOVE_CEILING = 1.5
_UNKNOWNS = {
    "syncs": "how many of its flushes are syncs",
    "waiting": "whose waiting for I/O the profile shows",
    "idle": "what it waits for while its disks are at their ceiling",
    "merged": "whether {pool} counts requests before the kernel merges them",
    "requests": "how many requests the disks of {pool} do, which random-io measures",
    "room": "how much may wait in memory to be written",
    "files": "how much of its work in the kernel is with files",
    "faster": "how long it computes while the disks of the profile are at their ceiling",
    "others": "which other work needs the same CPUs",
    "counted": "how many devices count each byte that is written",
    "unwritten": "how much was not written yet when the profile ended",
    "unseen": "how much of its time before and after the profile is writing",
}


def predict(
    profiles: Iterable[RunProfile],
    workers: Sequence[Worker],
    prices: Mapping[str, Price] = MappingProxyType({}),
) -> list[TaskPrediction]:
    """Predict each task on each pool. Profiles of the same command or label are of one task."""
    valid = [_with_valid_entries(worker) for worker in identify_machines(workers)]
    by_pool = sorted(grouped(valid, attrgetter("pool")).items())
    storages = {pool: PoolStorage.of(pool, runs, prices) for pool, runs in by_pool}
    tasks: dict[tuple[str, str | None], dict[str | None, list[ProfiledRun]]] = {}
    # In one order, because the first profile is the one whose errors count.
    for profile in sorted(profiles, key=msgspec.json.encode):
        pool = _pool(profile.pool, valid)
        run = ProfiledRun.of(profile, storages.get(pool or ""))
        task = (run.name, None) if run.sha256 is None else ("", run.sha256)
        tasks.setdefault(task, {}).setdefault(pool, []).append(run)
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
    pools: Mapping[str | None, list[ProfiledRun]], storages: Mapping[str, PoolStorage]
) -> TaskPrediction:
    source = max(pools, key=lambda pool: _speed(storages.get(pool or ""), pools[pool]))
    used = pools[source]
    demands = [run.demand for run in used]
    usable = [demand for demand in demands if isinstance(demand, Demand)]
    likely = [demand.expected for demand in usable]
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
            measured_ns=tuple(run.wall_ns for run in pools.get(pool, ()) if run.is_complete),
        )
        for pool, storage in storages.items()
        if pool != source
    ]

    def total(figure: Callable[[PlaceDemand], float]) -> float | None:
        return mean_of_known(sum(map(figure, demand.places)) for demand in likely)

    return TaskPrediction(
        program=used[0].name,
        sha256=used[0].sha256,
        pool=source,
        measured_ns=tuple(run.wall_ns for run in used),
        cpus_used=mean_of_known(demand.cpus_used for demand in likely),
        written_bytes=total(lambda place: place.written_bytes.sum().item()),
        read_bytes=total(lambda place: place.read_bytes),
        syncs=total(lambda place: place.syncs[1] if place.syncs and place.is_alone else 0.0),
        pools=tuple(predictions),
        notes=tuple(_notes(used, likely)),
        price=profiled_pool.price if profiled_pool else None,
    )


def _notes(runs: Sequence[ProfiledRun], demands: Sequence[Demand]) -> Iterator[Statement]:
    """Yield what the profiles of one task do not show."""
    busy_cpus = max(run.other_cpus for run in runs)
    if busy_cpus > _BUSY_CPUS:
        yield statement(
            "Other processes used {cpus} CPUs meanwhile: the task may have waited for CPUs, and their "
            "I/O is counted as its own; profile it on an idle machine",
            cpus=Quantity(busy_cpus, Unit.NUMBER),
        )
    if runs[0].sha256 is None:
        yield statement(
            "A resource profile is of a whole machine and has no syncs, which the interval includes; "
            "its disks are taken to be those of the place {place}",
            place=runs[0].places[0],
        )
    unseen_ns = mean_of_known(demand.unseen_ns for demand in demands) or 0.0
    if unseen_ns > _SMALL_SHARE * runs[0].wall_ns:
        yield statement(
            "{unseen} of the task are before or after its profile, and writing for a quarter of that "
            "is assumed",
            unseen=Quantity(unseen_ns, Unit.NANOSECONDS),
        )


def _speed(storage: PoolStorage | None, runs: Sequence[ProfiledRun]) -> float:
    """Return a pool's write rate; the model holds from the fastest pool to slower ones."""
    places = {place for run in runs for place in run.places}
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
    reason = next(chain.from_iterable(map(_reasons_against, changes)), None)
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


def _reasons_against(change: PoolChange) -> Iterator[Statement]:
    """Yield why this task's time on a pool is not known; a check may rely on those before it."""
    likely = replace(change, demand=change.demand.expected)
    yield from _cpus(likely)
    for place in likely.demand.places:
        yield from _unmeasured(likely, place)
        yield from _other_disks(likely, place)
    for name, first, last in change.unknown_parts():
        if abs(last - first) > _WIDE_LOG:
            low, high = map(math.exp, sorted((first, last)))
            yield statement(
                f"the task would take {{low}} to {{high}}, depending on {_UNKNOWNS[name]}; "
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
            ratio=Quantity(cpus / demand.cpus, Unit.RATIO),
        )
    is_comparable = any(
        source.mean(figure) and target.mean(figure) for figure in (USER_WORK, *CPU_FIGURES)
    )
    if not is_comparable and demand.cpu_share > _SMALL_SHARE:
        yield statement(
            "nothing compares the CPUs of {source} and {target}; measure spawn on both",
            source=source.pool,
            target=target.pool,
        )


def _is_small(change: PoolChange, time_ns: Numbers | float) -> bool:
    """Return whether this much of the task's time may be neglected."""
    return float(np.sum(time_ns)) <= _SMALL_SHARE * change.demand.wall_ns


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
                ratio=Quantity(slowing, Unit.RATIO),
            )
        if storage is change.source and np.sum(writing_ns) > _ABOVE_CEILING * change.demand.wall_ns:
            yield statement(
                "the profile's disks wrote more than those of {pool} can; check --pool of the "
                "profile, or measure {pool} again",
                pool=storage.pool,
            )
