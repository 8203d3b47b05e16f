# SPDX-License-Identifier: MPL-2.0
"""The runs of named machines as columns of numbers, of which a million has room.

Two workers of one pool are one machine if they have the same name, `GROUP/ID`. Workers of two pools
are never the same machine.
"""

from array import array
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from io_benchmark.analysis.tasks.task_model import Ending, TaskSide
from io_benchmark.sources.run_results import TaskRun

Numbers = NDArray[np.float64]
Codes = NDArray[np.int64]
Flags = NDArray[np.bool_]
# What a machine's run may end in; other endings say nothing about the machine.
_ENDINGS: tuple[Ending, ...] = ("completed", "failed", "lost")
COMPLETED = 0


def sums_of(codes: Codes, values: Numbers, count: int) -> Numbers:
    """Return the sum of the values of each code, of which there are so many."""
    sums: Numbers = np.bincount(codes, values, count).astype(np.float64, copy=False)
    return sums


class PoolRuns(NamedTuple):
    """All runs of one pool: a value per run, and the names that the codes stand for."""

    pool: str
    machines: tuple[str, ...]
    labels: tuple[str, ...]
    machine: Codes
    label: Codes
    started_ms: Codes
    time_ms: Codes
    ending: Codes  # COMPLETED, or above: failed, lost

    def select(self, rows: Flags) -> "PoolRuns":
        """Return some of the runs; the names stay those of all."""
        return self._replace(
            machine=self.machine[rows],
            label=self.label[rows],
            started_ms=self.started_ms[rows],
            time_ms=self.time_ms[rows],
            ending=self.ending[rows],
        )


class _Columns(Struct):
    """The runs of one pool, as they come."""

    machines: dict[str, int] = field(default_factory=dict)  # numbers of names
    labels: dict[str, int] = field(default_factory=dict)
    machine: "array[int]" = field(default_factory=lambda: array("i"))
    label: "array[int]" = field(default_factory=lambda: array("i"))
    started_ms: "array[int]" = field(default_factory=lambda: array("q"))
    time_ms: "array[int]" = field(default_factory=lambda: array("q"))
    ending: "array[int]" = field(default_factory=lambda: array("b"))

    def runs(self, pool: str) -> PoolRuns:
        """Return the columns, with machines and labels in the order of their names."""
        machines, machine = _by_name(self.machines, self.machine)
        labels, label = _by_name(self.labels, self.label)
        return PoolRuns(
            pool=pool,
            machines=machines,
            labels=labels,
            machine=machine,
            label=label,
            started_ms=np.array(self.started_ms, dtype=np.int64),
            time_ms=np.array(self.time_ms, dtype=np.int64),
            ending=np.array(self.ending, dtype=np.int64),
        )


def _by_name(numbers: Mapping[str, int], column: "array[int]") -> tuple[tuple[str, ...], Codes]:
    names = list(numbers)
    order = sorted(range(len(names)), key=names.__getitem__)
    places = np.empty(len(names), dtype=np.int64)
    places[order] = np.arange(len(names))
    return tuple(names[number] for number in order), places[np.array(column, dtype=np.int64)]


class MachineRuns(Struct):
    """Runs of several pools, to which each run is added once."""

    pools: dict[str, _Columns] = field(default_factory=dict)
    costs: dict[tuple[str, str], tuple[float, float]] = field(default_factory=dict)
    seen: set[int] = field(default_factory=set)  # a hash of each run
    unusable: int = 0
    without_worker: int = 0

    def add(self, run: TaskRun) -> None:
        """Add a run that started on a worker whose name is known, and was not added before."""
        identity = hash(run.identity)
        ending = TaskSide.ending(run)
        if identity in self.seen or ending == "never_started":
            return
        self.seen.add(identity)
        if ending == "unusable":
            self.unusable += 1
        elif not run.worker:
            self.without_worker += 1
        elif ending in _ENDINGS:
            self._keep(run, _ENDINGS.index(ending))

    def _keep(self, run: TaskRun, ending: int) -> None:
        columns = self.pools.get(run.pool)
        if columns is None:
            columns = self.pools[run.pool] = _Columns()
        time_ms = run.resolved_ms - run.started_ms
        columns.machine.append(columns.machines.setdefault(run.worker, len(columns.machines)))
        columns.label.append(columns.labels.setdefault(run.label, len(columns.labels)))
        columns.started_ms.append(run.started_ms)
        columns.time_ms.append(time_ms)
        columns.ending.append(ending)
        if run.cost > 0:
            amount, spent_ms = self.costs.get((run.pool, run.currency), (0.0, 0.0))
            self.costs[run.pool, run.currency] = amount + run.cost, spent_ms + time_ms

    def pool_runs(self) -> Iterator[PoolRuns]:
        """Yield the runs of each pool, in the order of the pools' names."""
        for pool in sorted(self.pools):
            yield self.pools[pool].runs(pool)
