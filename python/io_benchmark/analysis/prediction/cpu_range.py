# SPDX-License-Identifier: MPL-2.0
"""The range of a task's time on more CPUs, and what profiles on another size say of it."""

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from io_benchmark.analysis.model.statements import Statement, statement
from io_benchmark.analysis.prediction.cpu_scaling import AT_CPUS
from io_benchmark.analysis.prediction.demand import Demand
from io_benchmark.analysis.prediction.pool_change import MODEL_ERROR, PoolChange
from io_benchmark.analysis.prediction.pool_storage import PoolStorage
from io_benchmark.analysis.prediction.unknowns import EXPECTED, WIDE_LOG

# A range whose longest time is this many times the shortest has no likely time. Chosen.
_OPEN_RATIO = 1.5
# Profiles on two sizes show how many threads there are where they make this difference. Chosen.
_SHOWN_RATIO = 1.1


class ThreadLevels(NamedTuple):
    """The values of the unknown `threads`: with the longest, the likely and the shortest time."""

    slow: float = 0.0
    likely: float = 0.5
    fast: float = 1.0
    is_measured: bool = False  # by profiles on another number of CPUs


class CpuRange(NamedTuple):
    """A task's time on a pool, in nanoseconds."""

    least: float
    likely: float
    most: float

    @classmethod
    def of(cls, changes: Sequence[PoolChange], levels: ThreadLevels) -> "CpuRange":
        """Return the mean time over profiles, with each number of threads."""
        times = [_mean_time(changes, level) for level in (levels.fast, levels.likely, levels.slow)]
        return cls(*times)

    def is_open(self, levels: ThreadLevels) -> bool:
        """Return whether no time in it is likely."""
        ratio = math.exp(WIDE_LOG) if levels.is_measured else _OPEN_RATIO
        return self.most > ratio * self.least


def _mean_time(changes: Iterable[PoolChange], threads: float) -> float:
    unknowns = replace(EXPECTED, threads=threads)
    return math.exp(fmean(math.log(change.times(unknowns).total) for change in changes))


def thread_levels(
    demands: Mapping[str | None, Sequence[Demand]], storages: Mapping[str | None, PoolStorage]
) -> ThreadLevels:
    """Return what profiles with the fewest and the most CPUs show of the number of threads."""
    profiled = [(demand, pool) for pool, of_pool in demands.items() for demand in of_pool]
    sizes = sorted({demand.cpus for demand, _ in profiled})
    if len(sizes) < 2:
        return ThreadLevels()
    fewest, most = sizes[0], sizes[-1]
    large = [(demand, pool) for demand, pool in profiled if demand.cpus == most]
    target = replace(storages[large[0][1]], cpus=most)
    changes = [
        PoolChange.of(demand, storages[pool], target)
        for demand, pool in profiled
        if demand.cpus == fewest
    ]
    times = CpuRange.of(changes, ThreadLevels())
    if times.most < _SHOWN_RATIO * times.least:
        return ThreadLevels()
    measured = math.exp(fmean(math.log(demand.wall_ns) for demand, _ in large))
    reach = math.exp(MODEL_ERROR)

    def level(time_ns: float) -> float:
        return float(np.interp(time_ns, times, (1.0, 0.5, 0.0)))

    return ThreadLevels(
        level(measured * reach), level(measured), level(measured / reach), is_measured=True
    )


def open_range(target: PoolStorage) -> Statement:
    """Return why there is no likely time, and what would show it."""
    unknown = "nothing shows how many threads it would run there; profile it "
    if target.is_resized:
        return statement(unknown + "with as many jobs as CPUs are asked for")
    return statement(
        unknown + "on {pool}, or here with as many jobs as {pool} has CPUs", pool=target.pool
    )


def busy_share(demand: Demand) -> float:
    """Return the share of the time in which the task kept all CPUs busy."""
    if demand.busy_ns is None:
        return 0.0
    full = demand.busy_ns >= AT_CPUS * demand.cpus * demand.spans_ns
    return float(np.sum(demand.spans_ns[full]) / np.sum(demand.spans_ns))
