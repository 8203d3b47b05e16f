# SPDX-License-Identifier: MPL-2.0
"""What a pool's storage and CPUs can do, by its workers' results. Each machine counts once."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain, product
from operator import attrgetter, truediv
from statistics import fmean, median

from msgspec import Struct

from io_benchmark.analysis.model.groups import by_machine
from io_benchmark.analysis.model.run import Worker
from io_benchmark.analysis.model.time_parts import ON_CPU, in_lookups
from io_benchmark.analysis.reading.machines import dirty_room
from io_benchmark.analysis.statistics.levels import SINGLE_WORKER_VARIATION
from io_benchmark.analysis.statistics.noise import RelativeTimes
from io_benchmark.analysis.statistics.variances import MeanVariance
from io_benchmark.costs.worker_time import Price
from io_benchmark.results.parts import NS_PER_S

# Figures. Those of CPUs have no place.
WRITE_RATE = "bytes per second of a file that idle disks wrote"
SYNC = "the usual append-fsync"
SYNCS = "append-fsync per second, with those that the disk delays"
WRITES = "write requests per second"
WRITES_LIMIT = "write requests per second that a limit allows"
FILE = "looking up, creating or removing a file"
SLOWING = "retrieves at the end of a run over those at its start, in all runs"
OWN_CPU = "CPU time of a lookup"
SPAWN = "posix-spawn"
# CPU time of fixed work, by the names in the result.
USER_WORK, KERNEL_COPY, KERNEL_CALLS = "user", "kernel-copy", "kernel-calls"
# What else compares CPUs: lookups before spawn, which includes waiting for a CPU.
CPU_FIGURES = (OWN_CPU, SPAWN)
# How far ln of a figure of one worker differs from the next time; of all others as workers do.
_ONCE = {SYNC: 0.3, FILE: 0.3}
# The same of file systems that nothing compares.
_NOT_MEASURED = 0.5
_OPERATIONS = {
    ("sync-write", "append-fsync"): SYNC,
    ("random-io", "write-depth-32"): WRITES,  # the fullest queue
    ("metadata", "stat"): FILE,
    ("metadata", "create-rename-unlink"): FILE,
    ("spawn", "posix-spawn"): SPAWN,
}

_LEAST_REQUESTS_PER_S = 100.0  # of any disk, also one that turns
_REQUEST_BYTES = 4096  # of `random-io`
# From this share of the write ceiling on, bytes are the limit.
_OF_CEILING = 0.8

# ln of what one machine measured, by figure and place.
_Logs = dict[tuple[str, str], list[float]]


class PoolStorage(Struct, frozen=True):
    """A pool: what each of its machines measured, and what is known of all of them."""

    pool: str
    machines: int
    figures: Mapping[tuple[str, str], Sequence[float]]  # ln, of each machine
    cpus: float | None  # of the worker with the fewest
    # How many bytes may wait in memory before the kernel slows writers down; the least of all workers.
    dirty_room_bytes: float | None
    price: Price | None  # None where workers have different prices
    # How many devices on top of each other count each byte of a place, at least and at most.
    counting: Mapping[str, tuple[float, float]] = {}

    @classmethod
    def of(cls, pool: str, workers: Sequence[Worker], prices: Mapping[str, Price]) -> "PoolStorage":
        machines = by_machine(filter(attrgetter("entries"), workers), attrgetter("machine"))
        measured: _Logs = defaultdict(list)
        for key, logs in chain.from_iterable(_measured(runs).items() for runs in machines):
            # Of a single machine, the files of a ceiling show how far it is known.
            is_single = key[0] == WRITE_RATE and len(machines) == 1
            measured[key] += logs if is_single else [fmean(logs)]
        measured |= _slowing(workers)
        worker_prices = {
            Price.find(prices, pool, worker.queue, worker.result.task.instance_type or "")
            for worker in workers
        }
        hosts = [(worker.result.host, worker.result.limits) for worker in workers]
        return cls(
            pool,
            len(machines),
            measured,
            min((host.usable_cpus(limit) for host, limit in hosts if host), default=None),
            min((room for room in map(dirty_room, workers) if room is not None), default=None),
            worker_prices.pop() if len(worker_prices) == 1 else None,
            _counting(workers),
        )

    def mean(self, figure: str, place: str = "") -> float | None:
        """Return the geometric mean over the machines that measured it; None: not measured."""
        logs = self.figures.get((figure, place))
        return math.exp(fmean(logs)) if logs else None

    def ceiling(self, place: str) -> float:
        """Return how many bytes per second the disks write; infinite where it was not measured."""
        return self.mean(WRITE_RATE, place) or math.inf

    def writes_per_s(self, place: str) -> float:
        """Return how many requests per second the disks write; infinite where nothing shows it.

        Where bytes were the limit of what was measured, requests may have none.
        """
        measured = self.mean(WRITES, place) or math.inf
        if measured * _REQUEST_BYTES > _OF_CEILING * self.ceiling(place):
            measured = math.inf
        return min(measured, self.mean(WRITES_LIMIT, place) or math.inf)

    def least_writes_per_s(self, place: str) -> float:
        # Each synchronous write is at least one request. Not by the usual time: a disk that limits
        # requests lets some pass at once, and delays the next ones.
        by_syncs = self.mean(SYNCS, place) or 0.0
        return max(_LEAST_REQUESTS_PER_S, self.mean(WRITES, place) or 0.0, by_syncs)

    def ratio_to(
        self, source: "PoolStorage", figure: str, place: str = ""
    ) -> tuple[float, MeanVariance]:
        """Return how many times as much this pool has; 1 where the figure is not known of both.

        A ratio that is small for its error is mostly error. It is taken nearer to 1 (James and Stein).
        The second value is the error of ln.
        """
        for name in (figure, *(() if place else CPU_FIGURES)):
            here, there = source.mean(name, place), self.mean(name, place)
            if here and there:
                variances = [_variance(pool, name, place) for pool in (source, self)]
                error, log = MeanVariance.of_sum(variances), math.log(there / here)
                kept = max(0.0, 1 - error.variance / log**2) if log else 0.0
                return math.exp(kept * log), error
        return 1.0, MeanVariance(_NOT_MEASURED**2 if figure == FILE else 0.0, math.inf)


def _counting(workers: Sequence[Worker]) -> dict[str, tuple[float, float]]:
    """Return how many devices count each byte of a place: each volume, and the disk below it.

    psutil sums all devices but partitions (since 5.4.7).
    """
    levels: dict[str, list[float]] = defaultdict(list)
    for place in (place for worker in workers for place in worker.result.storage.places):
        devices = {device.name: device for device in place.devices}
        level = list(devices.values())[:1]
        names: dict[str, bool] = {}
        while level and level[0].name not in names:
            names[level[0].name] = level[0].kind != "partition"
            level = [devices[name] for name in level[0].below if name in devices]
        if names:
            levels[place.name].append(max(1.0, float(sum(names.values()))))
    return {place: (min(counts), max(counts)) for place, counts in levels.items()}


def _variance(pool: PoolStorage, figure: str, place: str) -> MeanVariance:
    """Return the variance of ln of a pool's mean."""
    logs, once = pool.figures[figure, place], _ONCE.get(figure, SINGLE_WORKER_VARIATION)
    single = MeanVariance.of_single(logs, once if pool.machines == 1 else once / 2)
    return MeanVariance(single.variance / len(logs), single.degrees)


def _slowing(workers: Sequence[Worker]) -> _Logs:
    """Return how many times as long retrieves took from the step on that all runs share, if they do."""
    runs: dict[str, list[RelativeTimes]] = defaultdict(list)
    for entry in (entry for worker in workers for entry in worker.entries):
        if entry.retrieves is not None and entry.subject.destination == "overwrite":
            runs[entry.subject.place].append(entry.relative_times)
    steps = {place: RelativeTimes.step_of(times) for place, times in runs.items()}
    return {(SLOWING, place): [math.log(step.ratio)] for place, step in steps.items() if step}


def _measured(runs: Sequence[Worker]) -> _Logs:
    """Return what the runs of one machine measured with one process."""
    logs: _Logs = defaultdict(list)
    for entry in (entry for worker in runs for entry in worker.entries):
        subject = entry.subject
        figure = _OPERATIONS.get((subject.workload, subject.variant))
        if figure is not None and subject.threads <= 1:
            # Bytes and requests are limits of their own: of a sync the usual time counts, without stalls.
            usual_ns = map(truediv, entry.total_ns, entry.operations)
            each_ns = median(usual_ns) if figure == SYNC else entry.mean_ns
            value = math.log(NS_PER_S / each_ns if figure == WRITES else each_ns)
            logs[figure, "" if figure == SPAWN else subject.place].append(value)
            if figure == SYNC:
                logs[SYNCS, subject.place].append(math.log(NS_PER_S / entry.mean_ns))
        cpu_ns = sum(entry.parts_ns.get(part, 0.0) for part in in_lookups(*ON_CPU))
        if cpu_ns:
            logs[OWN_CPU, ""].append(math.log(cpu_ns))
        for file in entry.trials.ceilings if entry.trials else ():
            logs[WRITE_RATE, subject.place].append(
                math.log(file.written_bytes / file.duration_ns * NS_PER_S)
            )
    for worker in runs:
        for burst in (worker.result.host.fixed_work if worker.result.host else None) or ():
            cpu_ns = burst.user_ns + burst.kernel_ns
            if cpu_ns:
                logs[burst.work, ""].append(math.log(cpu_ns / burst.operations))
        limits = worker.result.limits.io if worker.result.limits else ()
        for limit, storage in product(limits, worker.result.storage.places):
            is_limited = limit.device in {device.number for device in storage.devices}
            if is_limited and limit.kind == "write_operations_per_s":
                logs[WRITES_LIMIT, storage.name].append(math.log(max(1, limit.value)))
    return logs
