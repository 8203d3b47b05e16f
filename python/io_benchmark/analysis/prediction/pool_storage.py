# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What a pool's storage and CPUs can do, by its workers' results: one set of figures per machine."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from io_benchmark.analysis.model import Worker
from io_benchmark.analysis.observed.machine_identity import by_machine
from io_benchmark.analysis.trials.recorded_trials import trials_of

_NS_PER_S = 1e9
# The fullest queue: what a disk with a limit of its requests can do at most.
_DEEPEST = "write-depth-32"
_OPERATIONS_LIMIT = "write_operations_per_s"
_FULL = "full"


@dataclass(frozen=True)
class _Machine:
    """One worker's figures, by place; a place without a figure was not measured."""

    write_bytes_per_s: Mapping[str, float]
    # ln of the rates' standard error, of files written one after another
    write_error: Mapping[str, float]
    sync_ns: Mapping[str, float]
    writes_per_s: Mapping[str, float]
    file_ns: Mapping[str, float]  # to look up, create or remove a file
    spawn_ns: float | None


@dataclass(frozen=True)
class PoolStorage:
    """A pool: its machines, and what is known of all of them."""

    pool: str
    machines: tuple[_Machine, ...]
    filesystems: Mapping[str, frozenset[str | None]]  # by place
    operations_limited: frozenset[str]  # places whose disks have a limit of requests
    dirty_room_bytes: float | None  # that may wait in memory before writers do; the least worker's
    is_quick: bool  # a rehearsal's short measurement

    @classmethod
    def of(cls, pool: str, workers: Sequence[Worker]) -> "PoolStorage":
        """Return the figures of one pool's workers; several runs of a machine are averaged."""
        groups = by_machine(workers, lambda worker: worker.machine)
        types: dict[str, set[str | None]] = {}
        for worker in workers:
            for place in worker.result.storage.places:
                known = place.filesystem.type if place.filesystem else place.kind
                types.setdefault(place.name, set()).add(known)
        return cls(
            pool,
            tuple(map(_machine, groups)),
            {place: frozenset(of_place) for place, of_place in types.items()},
            frozenset(place for worker in workers for place in _limited_places(worker)),
            min((room for room in map(_dirty_room, workers) if room is not None), default=None),
            any(worker.result.config.profile != _FULL for worker in workers),
        )

    def mean(self, figure: Callable[[_Machine], float | None]) -> float | None:
        """Return the geometric mean of a figure over the machines that have it."""
        known = [value for value in map(figure, self.machines) if value]
        return math.exp(fmean(map(math.log, known))) if known else None

    def write_rate(self, place: str) -> float | None:
        return self.mean(lambda machine: machine.write_bytes_per_s.get(place))


def _limited_places(worker: Worker) -> Iterator[str]:
    limits = worker.result.limits.io if worker.result.limits else []
    limited = {limit.device for limit in limits if limit.kind == _OPERATIONS_LIMIT}
    for place in worker.result.storage.places:
        if any(device.number in limited for device in place.devices):
            yield place.name


def _dirty_room(worker: Worker) -> float | None:
    """Return where the kernel begins to slow writers down: half way between its two limits."""
    host, limits = worker.result.host, worker.result.limits
    if host is None or host.memory_available_bytes is None:
        return None
    groups = [limit.bytes for limit in limits.memory] if limits else []
    memory = min([host.memory_available_bytes, *groups])
    ends = (
        host.vm.get(f"{name}_bytes") or (host.vm.get(f"{name}_ratio") or usual) / 100 * memory
        for name, usual in (("dirty_background", 10), ("dirty", 20))
    )
    return sum(ends) / 2


def _machine(runs: Sequence[Worker]) -> _Machine:
    rates, errors = _ceilings(runs)
    return _Machine(
        write_bytes_per_s=rates,
        write_error=errors,
        sync_ns=_means(runs, "sync-write", {"append-fsync"}),
        writes_per_s={
            place: _NS_PER_S / mean_ns
            for place, mean_ns in _means(runs, "random-io", {_DEEPEST}).items()
        },
        file_ns=_means(runs, "metadata", {"stat", "create-rename-unlink"}),
        spawn_ns=next(iter(_means(runs, "spawn", {"posix-spawn"}).values()), None),
    )


def _ceilings(runs: Sequence[Worker]) -> tuple[dict[str, float], dict[str, float]]:
    """Return the rates at which the idle storage took files, and how far these agree."""
    files: dict[str, list[tuple[int, int]]] = {}
    for worker in runs:
        for entry in worker.entries:
            trials = trials_of(entry)
            for each in trials.ceilings if trials else ():
                pair = (each.written_bytes, each.duration_ns)
                files.setdefault(entry.subject.place, []).append(pair)
    rates, errors = {}, {}
    for place, pairs in files.items():
        rates[place] = sum(size for size, _ in pairs) / sum(time for _, time in pairs) * _NS_PER_S
        logs = [math.log(size / time) for size, time in pairs]
        spread = sum((log - fmean(logs)) ** 2 for log in logs) / max(1, len(logs) - 1)
        errors[place] = math.sqrt(spread / len(logs))
    return rates, errors


def _means(runs: Sequence[Worker], workload: str, variants: set[str]) -> dict[str, float]:
    """Return the mean time of an operation by place, over the variants with one process."""
    logs: dict[str, list[float]] = {}
    for worker in runs:
        for entry in worker.entries:
            subject = entry.subject
            is_wanted = subject.workload == workload and subject.variant in variants
            if is_wanted and subject.threads <= 1:
                logs.setdefault(subject.place, []).append(math.log(entry.mean_ns))
    return {place: math.exp(fmean(values)) for place, values in logs.items()}
