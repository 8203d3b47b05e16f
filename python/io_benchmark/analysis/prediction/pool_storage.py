# SPDX-License-Identifier: MPL-2.0
"""What a pool's storage and CPUs can do, by its workers' results. Each machine counts once."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from enum import Enum
from itertools import chain, product
from operator import attrgetter, truediv
from statistics import fmean, median
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.model.groups import by_machine
from io_benchmark.analysis.model.run import Run, Worker
from io_benchmark.analysis.model.time_parts import ON_CPU, in_lookups
from io_benchmark.analysis.reading.capacity import fixed_work_per_cpu_time
from io_benchmark.analysis.reading.machines import dirty_room
from io_benchmark.analysis.statistics.levels import SINGLE_WORKER_VARIATION
from io_benchmark.analysis.statistics.noise import RelativeTimes, relative_times
from io_benchmark.analysis.statistics.variances import MeanVariance
from io_benchmark.costs.worker_time import Price
from io_benchmark.number_text import number_of
from io_benchmark.results.machine import LINUX, Device, StoragePlace
from io_benchmark.results.parts import NS_PER_S


class PoolFigure(Enum):
    """What a prediction uses of the results of a pool. Figures of CPUs have no place."""

    WRITE_RATE = "bytes per second of a file that idle disks wrote"
    SYNC = "the usual append-fsync"
    SYNCS = "append-fsync per second, with those that the disk delays"
    WRITES = "write requests per second"
    WRITES_LIMIT = "write requests per second that a limit allows"
    FILE = "looking up, creating or removing a file"
    SLOWING = "retrieves at the end of a run over those at its start, in all runs"
    # CPUs: the CPU time of fixed work, and what else compares them.
    USER_WORK = "CPU time of fixed work without the kernel"
    KERNEL_COPY = "CPU time of fixed copies in the kernel"
    KERNEL_CALLS = "CPU time of fixed system calls"
    OWN_CPU = "CPU time of a lookup"
    SPAWN = "starting a process"


# What compares CPUs without fixed work, the better one first: spawn includes waiting for a CPU.
CPU_FIGURES = (PoolFigure.OWN_CPU, PoolFigure.SPAWN)
# Fixed work by its names in the result.
_FIXED_WORK = {
    "user": PoolFigure.USER_WORK,
    "kernel-copy": PoolFigure.KERNEL_COPY,
    "kernel-calls": PoolFigure.KERNEL_CALLS,
}
_OPERATIONS = {
    ("sync-write", "append-fsync"): PoolFigure.SYNC,
    ("random-io", "write-depth-32"): PoolFigure.WRITES,  # the fullest queue
    ("metadata", "stat"): PoolFigure.FILE,
    ("metadata", "create-rename-unlink"): PoolFigure.FILE,
    ("spawn", "posix-spawn"): PoolFigure.SPAWN,
    ("spawn", "create-process"): PoolFigure.SPAWN,
}
# How far ln of a figure of one worker differs from the next time. Chosen: what a disk or a file
# system did before changes these two. All other figures differ as workers do.
_ONCE = {PoolFigure.SYNC: 0.3, PoolFigure.FILE: 0.3}
# The same of file systems that nothing compares. Chosen: more than of those that are compared.
_NOT_MEASURED = 0.5
# A disk that turns, the slowest there is, does a hundred random requests per second.
_LEAST_REQUESTS_PER_S = 100.0
_REQUEST_BYTES = 4096  # of `random-io`
# From this share of the write ceiling on, bytes are the limit. Chosen.
_AT_WRITE_RATE = 0.8

# A figure and the name of its place; no name: of the CPUs.
FigureKey = tuple[PoolFigure, str]
_Logs = dict[FigureKey, list[float]]  # ln of what one machine measured


class FigureRatio(NamedTuple):
    """How many times as much one pool has of a figure as another one."""

    ratio: float
    error: MeanVariance  # of ln of the ratio


Ratios = Mapping[FigureKey, FigureRatio]


class PoolStorage(Struct, frozen=True):
    """A pool: what each of its machines measured, and what is known of all of them."""

    pool: str
    machines: int
    figures: Mapping[FigureKey, Sequence[float]]  # ln, of each machine
    cpus: float | None  # of the worker with the fewest
    # How many bytes may wait in memory before writers are slowed down; the least of all workers.
    dirty_room_bytes: float | None
    price: Price | None  # None where workers have different prices
    # How many devices on top of each other count each byte of a place, at least and at most.
    counting: Mapping[str, tuple[float, float]] = {}
    is_resized: bool = False  # the profiled machine with another number of CPUs
    systems: frozenset[str] = frozenset()  # of its machines

    @classmethod
    def of(cls, pool: str, workers: Sequence[Worker], prices: Mapping[str, Price]) -> "PoolStorage":
        """Collect what the workers of a pool measured."""
        machines = by_machine(filter(attrgetter("runs"), workers), attrgetter("machine"))
        measured: _Logs = defaultdict(list)
        for key, logs in chain.from_iterable(_measured(runs).items() for runs in machines):
            # The files of a ceiling show how far it is known where there is a single machine.
            figure, _ = key
            if figure is PoolFigure.WRITE_RATE and len(machines) == 1:
                measured[key] += logs
            else:
                measured[key].append(fmean(logs))
        measured |= _slowing(workers)
        worker_prices = {
            Price.find(prices, pool, worker.queue, worker.result.task.instance_type or "")
            for worker in workers
        } or {Price.find(prices, pool, "")}
        hosts = [(worker.result.host, worker.result.limits) for worker in workers]
        return cls(
            pool,
            len(machines),
            measured,
            min((host.usable_cpus(limit) for host, limit in hosts if host), default=None),
            min((room for room in map(dirty_room, workers) if room is not None), default=None),
            worker_prices.pop() if len(worker_prices) == 1 else None,
            _counting(workers),
            systems=frozenset(run.system for worker in workers for run in worker.runs),
        )

    def with_cpus(self, cpus: int, here: float) -> "PoolStorage":
        """Return the same machine with so many CPUs, at the same price per CPU."""
        named = number_of(cpus, "CPU")
        price = self.price
        if price is not None:
            price = replace(price, per_hour=price.per_hour * cpus / here)
        return replace(
            self,
            pool=f"{self.pool} with {named}" if self.pool else named,
            machines=0,
            cpus=float(cpus),
            price=price,
            is_resized=True,
        )

    def mean(self, figure: PoolFigure, place: str = "") -> float | None:
        """Return the geometric mean over the machines that measured it; None: not measured."""
        logs = self.figures.get((figure, place))
        return math.exp(fmean(logs)) if logs else None

    def ceiling(self, place: str) -> float:
        """Return how many bytes per second the disks write; infinite where it was not measured."""
        return self.mean(PoolFigure.WRITE_RATE, place) or math.inf

    def writes_per_s(self, place: str) -> float:
        """Return how many requests per second the disks write; infinite where nothing shows it.

        Where bytes were the limit of what was measured, requests may have none.
        """
        measured = self.mean(PoolFigure.WRITES, place) or math.inf
        if measured * _REQUEST_BYTES > _AT_WRITE_RATE * self.ceiling(place):
            measured = math.inf
        return min(measured, self.mean(PoolFigure.WRITES_LIMIT, place) or math.inf)

    def least_writes_per_s(self, place: str) -> float:
        """Return how many requests per second the disks write at least."""
        # Each synchronous write is at least one request. Not by the usual time: a disk that limits
        # requests lets some pass at once, and delays the next ones.
        by_syncs = self.mean(PoolFigure.SYNCS, place) or 0.0
        return max(_LEAST_REQUESTS_PER_S, self.mean(PoolFigure.WRITES, place) or 0.0, by_syncs)

    def ratio_to(self, source: "PoolStorage", figure: PoolFigure, place: str = "") -> FigureRatio:
        """Return how many times as much this pool has; 1 where the figure is not known of both.

        A ratio that is small for its error is mostly error: it is taken nearer to 1 (James-Stein).
        """
        if self.is_resized:
            return FigureRatio(1.0, MeanVariance(0.0, math.inf))
        # Whatever both pools have measured of their CPUs compares them.
        for each in [figure] if place else [figure, *CPU_FIGURES]:
            here, there = source.mean(each, place), self.mean(each, place)
            if here and there:
                variances = [_variance(pool, each, place) for pool in (source, self)]
                error, log = MeanVariance.of_sum(variances), math.log(there / here)
                kept = max(0.0, 1 - error.variance / log**2) if log else 0.0
                return FigureRatio(math.exp(kept * log), error)
        variance = _NOT_MEASURED**2 if figure is PoolFigure.FILE else 0.0
        return FigureRatio(1.0, MeanVariance(variance, math.inf))


def _counting(workers: Sequence[Worker]) -> dict[str, tuple[float, float]]:
    """Return how many devices count each byte of a place: each volume, and the disk below it.

    psutil sums all devices but partitions (since 5.4.7).
    """
    levels: dict[str, list[float]] = defaultdict(list)
    for worker in workers:
        for place in worker.result.storage.places:
            if place.devices:
                levels[place.name].append(float(max(1, _counting_devices(place))))
            if any(device.kind == "spaces" for device in place.devices):
                levels[place.name].append(2.0)  # Windows does not say which disks are below
    return {place: (min(counts), max(counts)) for place, counts in levels.items()}


def _counting_devices(place: StoragePlace) -> int:
    """Return how many devices but partitions are on the way down from a place to its first disk."""
    devices = {device.name: device for device in place.devices}
    passed: set[str] = set()
    number = 0
    device: Device | None = devices[place.devices[0].name]
    while device is not None and device.name not in passed:
        passed.add(device.name)
        if device.kind != "partition":
            number += 1
        below = [name for name in device.below if name in devices]
        device = devices[below[0]] if below else None
    return number


def _variance(pool: PoolStorage, figure: PoolFigure, place: str) -> MeanVariance:
    """Return the variance of ln of a pool's mean."""
    logs, once = pool.figures[figure, place], _ONCE.get(figure, SINGLE_WORKER_VARIATION)
    single = MeanVariance.of_single(logs, once if pool.machines == 1 else once / 2)
    return MeanVariance(single.variance / len(logs), single.degrees)


def _slowing(workers: Sequence[Worker]) -> _Logs:
    """Return how much longer retrieves took after a step that all runs of a place share."""
    runs: dict[str, list[RelativeTimes]] = defaultdict(list)
    for run in (run for worker in workers for run in worker.runs):
        if run.retrieves is not None and run.subject.destination == "overwrite":
            runs[run.subject.place].append(relative_times(run))
    slowing: _Logs = {}
    for place, times in runs.items():
        step = RelativeTimes.step_of(times)
        if step is not None:
            slowing[PoolFigure.SLOWING, place] = [math.log(step.ratio)]
    return slowing


def _measured(runs: Sequence[Worker]) -> _Logs:
    """Return what the runs of one machine measured with one process."""
    logs: _Logs = defaultdict(list)
    for worker in runs:
        for run in worker.runs:
            _add_operations(logs, run)
            _add_ceilings(logs, run)
            cpu_ns = sum(run.parts_ns.get(part, 0.0) for part in in_lookups(*ON_CPU))
            if cpu_ns:
                logs[PoolFigure.OWN_CPU, ""].append(math.log(cpu_ns))
        _add_fixed_work(logs, worker)
        _add_limits(logs, worker)
    return logs


def _add_operations(logs: _Logs, run: Run) -> None:
    """Add the time of an operation; of write requests, how many there are per second."""
    subject = run.subject
    figure = _OPERATIONS.get((subject.workload, subject.variant))
    if figure is None or subject.threads > 1:
        return
    place = "" if figure is PoolFigure.SPAWN else subject.place
    value = run.mean_ns
    if figure is PoolFigure.SYNC:
        # Bytes and requests are limits of their own: here the usual time counts, without stalls.
        value = median(map(truediv, run.total_ns, run.operations))
        logs[PoolFigure.SYNCS, place].append(math.log(NS_PER_S / run.mean_ns))
    elif figure is PoolFigure.WRITES:
        value = NS_PER_S / run.mean_ns
    logs[figure, place].append(math.log(value))


def _add_ceilings(logs: _Logs, run: Run) -> None:
    """Add how fast idle disks wrote each file of a trial."""
    if run.trials is None:
        return
    for file in run.trials.ceilings:
        rate = file.written_bytes / file.duration_ns * NS_PER_S
        logs[PoolFigure.WRITE_RATE, run.subject.place].append(math.log(rate))


def _add_fixed_work(logs: _Logs, worker: Worker) -> None:
    """Add the CPU time of each burst of fixed work; of all where each has few ticks."""
    host = worker.result.host
    if host is None or host.fixed_work is None:
        return
    if host.system != LINUX:
        for name, in_ticks in _FIXED_WORK.items():
            per_s = fixed_work_per_cpu_time(worker.runs[0], name) if worker.runs else None
            if per_s:
                logs[in_ticks, ""].append(math.log(NS_PER_S / per_s))
        return
    for burst in host.fixed_work:
        figure = _FIXED_WORK.get(burst.work)
        cpu_ns = burst.user_ns + burst.kernel_ns
        if figure is not None and cpu_ns:
            logs[figure, ""].append(math.log(cpu_ns / burst.operations))


def _add_limits(logs: _Logs, worker: Worker) -> None:
    """Add the requests per second that a cgroup allows at each place."""
    limits = worker.result.limits.io if worker.result.limits else ()
    for limit, storage in product(limits, worker.result.storage.places):
        is_limited = limit.device in {device.number for device in storage.devices}
        if is_limited and limit.kind == "write_operations_per_s":
            logs[PoolFigure.WRITES_LIMIT, storage.name].append(math.log(max(1, limit.value)))
