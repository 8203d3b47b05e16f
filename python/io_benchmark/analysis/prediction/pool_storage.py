# SPDX-License-Identifier: MPL-2.0
"""What a pool's storage and CPUs can do, by its workers' results. Each machine counts once."""

import math
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from statistics import fmean

from msgspec import Struct

from io_benchmark.analysis.inference.levels import DEFAULT_WORKER_VARIATION, SINGLE_WORKER_VARIATION
from io_benchmark.analysis.inference.variances import FEWEST_FOR_VARIATION, MeanVariance
from io_benchmark.analysis.model import Worker
from io_benchmark.analysis.observed.machine_identity import by_machine
from io_benchmark.analysis.observed.worker_view import dirty_room
from io_benchmark.analysis.parts.time_parts import ON_CPU, in_lookups
from io_benchmark.costs.worker_time import Price
from io_benchmark.results.workload import NS_PER_S

# Figures. Those of CPUs have no place.
WRITE_RATE = "bytes per second of a file that idle disks wrote"
_FILE_RATE = "bytes per nanosecond of each of these files"
SYNC = "append-fsync"
WRITES = "write requests per second"
FILE = "looking up, creating or removing a file"
OWN_CPU = "CPU time of a lookup"
SPAWN = "posix-spawn"
_OPERATIONS = {
    ("sync-write", "append-fsync"): SYNC,
    ("random-io", "write-depth-32"): WRITES,  # the fullest queue
    ("metadata", "stat"): FILE,
    ("metadata", "create-rename-unlink"): FILE,
    ("spawn", "posix-spawn"): SPAWN,
}
# Retrieves slow down if they take this much longer at the end of a run, beyond four times their error.
_SLOWED_DOWN_RATIO, _CLEARLY, _FEWEST_TO_SLOW_DOWN = 1.25, 4.0, 60
_OPERATIONS_LIMIT = "write_operations_per_s"

# ln of what one machine measured, by figure and place.
_Logs = dict[tuple[str, str], list[float]]


class PoolStorage(Struct, frozen=True):
    """A pool: what each of its machines measured, and what is known of all of them."""

    pool: str
    machines: int
    figures: Mapping[tuple[str, str], Sequence[float]]  # ln of each machine's mean
    # By place, how far the files of a write rate differ on one machine.
    files: Mapping[str, MeanVariance]
    filesystems: Mapping[str, frozenset[str | None]]  # by place
    write_limits: Mapping[str, float]  # by place: requests per second that a disk is limited to
    cpus: float | None  # of the worker with the fewest
    # How many bytes may wait in memory before the kernel slows writers down; the least of all workers.
    dirty_room_bytes: float | None
    # By place, how much longer retrieves took at the end of a run than at its start, where they did.
    slowed_down: Mapping[str, float]
    price: Price | None  # None where workers have different prices

    @classmethod
    def of(cls, pool: str, workers: Sequence[Worker], prices: Mapping[str, Price]) -> "PoolStorage":
        """Return the figures of one pool's workers."""
        machines = by_machine(
            (worker for worker in workers if worker.entries), lambda worker: worker.machine
        )
        measured: dict[tuple[str, str], list[list[float]]] = {}
        for runs in machines:
            for key, logs in _measured(runs).items():
                measured.setdefault(key, []).append(logs)
        filesystems: dict[str, frozenset[str | None]] = {}
        for storage in (place for worker in workers for place in worker.result.storage.places):
            kind = storage.filesystem.type if storage.filesystem else storage.kind
            filesystems[storage.name] = filesystems.get(storage.name, frozenset()) | {kind}
        worker_prices = {
            Price.find(prices, pool, worker.queue, worker.result.task.instance_type or "")
            for worker in workers
        }
        hosts = [(worker.result.host, worker.result.limits) for worker in workers]
        limits = [limit for worker in workers for limit in _write_limits(worker)]
        return cls(
            pool,
            len(machines),
            {key: list(map(fmean, logs)) for key, logs in measured.items()},
            {
                place: MeanVariance(pooled.variance / fmean(map(len, logs)), pooled.degrees)
                for (figure, place), logs in measured.items()
                if figure == _FILE_RATE and (pooled := MeanVariance.pooled(logs))
            },
            filesystems,
            dict(sorted(limits, key=itemgetter(1), reverse=True)),  # the lowest of each place
            min((host.usable_cpus(limit) for host, limit in hosts if host), default=None),
            min((room for room in map(dirty_room, workers) if room is not None), default=None),
            _slowed_down(workers),
            worker_prices.pop() if len(worker_prices) == 1 else None,
        )

    def mean(self, figure: str, place: str = "") -> float | None:
        """Return the geometric mean over the machines that measured it; None: not measured."""
        logs = self.figures.get((figure, place))
        return math.exp(fmean(logs)) if logs else None

    def ceiling(self, place: str) -> float:
        """Return how many bytes per second the disks write; infinite where it was not measured."""
        return self.mean(WRITE_RATE, place) or math.inf

    def variance(self, figure: str, place: str = "") -> MeanVariance:
        """Return the variance of ln of the mean."""
        logs = self.figures[figure, place]
        # Other work on a single worker changes its CPU time by more than workers usually differ.
        is_single_cpu = figure in (OWN_CPU, SPAWN) and len(logs) == 1
        single = MeanVariance.of_single(
            logs, SINGLE_WORKER_VARIATION if is_single_cpu else DEFAULT_WORKER_VARIATION
        )
        parts = [single]
        if figure == WRITE_RATE and place in self.files and len(logs) < FEWEST_FOR_VARIATION:
            parts.append(self.files[place])
        means = [MeanVariance(part.variance / len(logs), part.degrees) for part in parts]
        return MeanVariance.of_sum(means) if len(means) > 1 else means[0]


def _slowed_down(workers: Sequence[Worker]) -> dict[str, float]:
    slowed_down: dict[str, float] = {}
    for entry in (entry for worker in workers for entry in worker.entries):
        place, is_short = entry.subject.place, len(entry.total_ns) < _FEWEST_TO_SLOW_DOWN
        if is_short or entry.retrieves is None or entry.subject.destination != "overwrite":
            continue
        times = entry.relative_times
        ratio = times.last_third_over_first
        if ratio > max(_SLOWED_DOWN_RATIO, 1 + _CLEARLY * times.error_of_mean):
            slowed_down[place] = max(ratio, slowed_down.get(place, 1.0))
    return slowed_down


def _measured(runs: Sequence[Worker]) -> _Logs:
    """Return what the runs of one machine measured with one process."""
    logs: _Logs = {}
    files: dict[str, list[tuple[int, int]]] = {}
    for entry in (entry for worker in runs for entry in worker.entries):
        subject = entry.subject
        figure = _OPERATIONS.get((subject.workload, subject.variant))
        if figure is not None and subject.threads <= 1:
            value = math.log(NS_PER_S / entry.mean_ns if figure == WRITES else entry.mean_ns)
            logs.setdefault((figure, "" if figure == SPAWN else subject.place), []).append(value)
        cpu_ns = sum(entry.parts_ns.get(part, 0.0) for part in in_lookups(*ON_CPU))
        if cpu_ns:
            logs.setdefault((OWN_CPU, ""), []).append(math.log(cpu_ns))
        for file in entry.trials.ceilings if entry.trials else ():
            files.setdefault(subject.place, []).append((file.written_bytes, file.duration_ns))
    for place, sizes in files.items():
        size, time_ns = map(sum, zip(*sizes, strict=True))
        logs[WRITE_RATE, place] = [math.log(size / time_ns * NS_PER_S)]
        logs[_FILE_RATE, place] = [math.log(size / time) for size, time in sizes]
    return logs


def _write_limits(worker: Worker) -> Iterator[tuple[str, float]]:
    limits = worker.result.limits.io if worker.result.limits else []
    for limit in limits:
        for place in worker.result.storage.places:
            numbers = {device.number for device in place.devices}
            if limit.kind == _OPERATIONS_LIMIT and limit.device in numbers:
                yield place.name, float(limit.value)
