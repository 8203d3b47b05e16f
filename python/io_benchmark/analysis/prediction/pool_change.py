# SPDX-License-Identifier: MPL-2.0
"""How another pool changes a task's time.

The profile is divided into windows of half a second. First, two things change the length of a window. The
part on a CPU is multiplied by the ratio of the pools' CPUs. Each synchronous write in the window adds the
difference of `append-fsync`. Then the window takes at least as long as its bytes need at the pool's ceiling.
So writes add nothing to waiting that is already in the window.
"""

import math
from collections.abc import Iterator, Mapping

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.arrays import Numbers
from io_benchmark.analysis.inference.levels import LEVEL
from io_benchmark.analysis.inference.variances import MeanVariance
from io_benchmark.analysis.prediction.demand import Demand
from io_benchmark.analysis.prediction.pool_storage import (
    OWN_CPU,
    SPAWN,
    SYNC,
    WRITE_RATE,
    PoolStorage,
)
from io_benchmark.results.workload import NS_PER_S

# Standard deviation of ln(measured ÷ predicted) of real jobs in the storage lab, with their own variation.
MODEL_ERROR = 0.10
# That is known from some dozens of jobs.
_MODEL_DEGREES = 20.0


class _Times(Struct, frozen=True):
    """A task's time elsewhere, and what is added to its own; all in nanoseconds."""

    total: float
    by_writes: float
    by_syncs: float
    by_cpu: float


class PoolChange(Struct, frozen=True):
    """What changes a task's time on another pool than that of its profile."""

    demand: Demand
    source: PoolStorage
    target: PoolStorage
    rates: Mapping[str, float]  # bytes per second, by place
    more_sync_ns: Mapping[str, float]  # per sync, by place
    cpu_ratio: float
    cpu_variance: MeanVariance  # of its ln

    @classmethod
    def of(cls, demand: Demand, source: PoolStorage, target: PoolStorage) -> "PoolChange":
        """Compare the means of two pools."""
        places = [place.name for place in demand.places]
        rates = {place: target.ceiling(place) for place in places}
        sync_ns = {place: (source.mean(SYNC, place), target.mean(SYNC, place)) for place in places}
        syncs = {place: there - here for place, (here, there) in sync_ns.items() if here and there}
        return cls(demand, source, target, rates, syncs, *_cpu_ratio(source, target))

    def times(self, sync_weight: float = 0.5) -> _Times:
        """Return the time of a task; `sync_weight`: 0 for the fewest syncs that it may have, 1 for the most."""
        demand, spans = self.demand, self.demand.spans_ns
        by_cpu = spans * demand.cpu_share * (self.cpu_ratio - 1)
        by_syncs = np.zeros(len(spans))
        for place in demand.places:
            fewest, most = place.syncs or (0.0, 0.0)
            count = fewest + sync_weight * (most - fewest)
            by_syncs += _spread(count, place.flushes, spans) * self.more_sync_ns.get(place.name, 0)
        # Faster syncs and CPUs can shorten a window to 0 at most.
        changed = np.maximum(0.0, spans + by_cpu + by_syncs)
        floors = [
            place.written_bytes / self.rates[place.name] * NS_PER_S for place in demand.places
        ]
        elsewhere = np.maximum.reduce([changed, *floors])
        writes = float(np.sum(elsewhere - changed))
        cpu = float(np.sum(by_cpu))
        syncs = float(np.sum(changed - spans)) - cpu
        return _Times(max(1.0, demand.wall_ns + writes + syncs + cpu), writes, syncs, cpu)

    def errors(self) -> Iterator[MeanVariance]:
        """Return the independent errors of ln of the predicted time."""
        yield MeanVariance(MODEL_ERROR**2, _MODEL_DEGREES)
        times, demand = self.times(), self.demand
        for place in demand.places:
            # The errors of the pool's figures: how the time changes with each figure.
            name, rate = place.name, self.target.variance(WRITE_RATE, place.name)
            lower = self.rates[name] * math.exp(-math.sqrt(rate.variance))
            yield self._error(replace(self, rates={**self.rates, name: lower}), rate.degrees)
            for storage in (self.source, self.target) if name in self.more_sync_ns else ():
                sync = storage.variance(SYNC, name)
                more_ns = (storage.mean(SYNC, name) or 0.0) * math.sqrt(sync.variance)
                more_sync_ns = {**self.more_sync_ns, name: more_ns + self.more_sync_ns[name]}
                yield self._error(replace(self, more_sync_ns=more_sync_ns), sync.degrees)
        fewest, most = (math.log(self.times(weight).total) for weight in (0.0, 1.0))
        yield _squared((most - fewest) / 2)
        # Writes may overlap less with the rest than assumed: at the least the task waits for each of them.
        waited_ns = max(
            float(np.sum(place.written_bytes))
            * (1 / self.rates[place.name] - 1 / self.source.ceiling(place.name))
            * NS_PER_S
            for place in demand.places
        )
        waiting = max(0.0, waited_ns - times.by_writes)
        yield _squared(math.log1p(waiting / times.total) / 2)
        # The CPUs were measured with other work than the task's.
        yield _squared(demand.cpu_share * math.log(self.cpu_ratio) / 2)
        cpu = self.cpu_variance
        yield MeanVariance(demand.cpu_share**2 * cpu.variance, cpu.degrees)

    def _error(self, changed: "PoolChange", degrees: float) -> MeanVariance:
        """Return the error that makes the pool another one."""
        return _squared(math.log(changed.times().total) - math.log(self.times().total), degrees)


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
    """Return how many syncs each window has: in proportion to flushes, or evenly without these counts."""
    weights = flushes if np.sum(flushes) > 0 else spans
    spread: Numbers = count * weights / max(float(np.sum(weights)), 1.0)
    return spread


def _squared(error: float, degrees: float = math.inf) -> MeanVariance:
    return MeanVariance(error**2, degrees)
