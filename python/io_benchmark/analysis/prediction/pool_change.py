# SPDX-License-Identifier: MPL-2.0
"""How another pool changes a task's time: what the task demands, and what the pools can do.

Each window of the profile changes by the CPUs, by CPUs that the other pool lacks, and by the time
in which the task waited for disks.
"""

import math
from collections.abc import Iterator

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.prediction.cpu_scaling import saved_shares
from io_benchmark.analysis.prediction.demand import Demand, Numbers, PlaceDemand
from io_benchmark.analysis.prediction.place_change import AT_CEILING, PlaceChange
from io_benchmark.analysis.prediction.pool_storage import PoolFigure, PoolStorage, Ratios
from io_benchmark.analysis.prediction.unknowns import EXPECTED, MEANINGS, WIDE_LOG, Unknowns
from io_benchmark.analysis.statistics.variances import MeanVariance

# Standard deviation of ln(measured ÷ predicted) of real jobs in the lab, with their own variation.
MODEL_ERROR = 0.10
# That is known from some dozens of jobs.
_MODEL_DEGREES = 20.0
_CPU_RATIOS = (PoolFigure.USER_WORK, PoolFigure.KERNEL_COPY, PoolFigure.KERNEL_CALLS)
_PLACE_RATIOS = (PoolFigure.WRITE_RATE, PoolFigure.WRITES, PoolFigure.SYNC, PoolFigure.FILE)


class _Times(Struct, frozen=True):
    """A task's time elsewhere, and what is added to its own; all in nanoseconds."""

    total: float
    by_writes: float
    by_syncs: float
    by_cpu: float


class UnknownEffect(Struct, frozen=True):
    """How far one unknown changes the predicted time."""

    meaning: str  # what is not known
    first_log: float  # ln of the time where it is 0
    last_log: float  # and where it is 1

    @property
    def is_wide(self) -> bool:
        """Return whether the times at both ends are too far apart to predict one."""
        return abs(self.last_log - self.first_log) > WIDE_LOG


class PoolChange(Struct, frozen=True):
    """What changes a task's time on another pool than that of its profile."""

    demand: Demand
    source: PoolStorage
    target: PoolStorage
    ratios: Ratios  # of what the pools can do

    @classmethod
    def of(cls, demand: Demand, source: PoolStorage, target: PoolStorage) -> "PoolChange":
        """Compare what the pools can do, as far as the task demands it."""
        keys = [(figure, "") for figure in _CPU_RATIOS]
        keys += [(figure, place.name) for place in demand.places for figure in _PLACE_RATIOS]
        ratios = {(figure, place): target.ratio_to(source, figure, place) for figure, place in keys}
        return cls(demand, source, target, ratios)

    def ratio(self, figure: PoolFigure, place: str = "") -> float:
        """Return how many times as much the other pool has of something."""
        return self.ratios[figure, place].ratio

    def at_place(self, place: PlaceDemand) -> PlaceChange:
        """Return what changes for the disks of one place."""
        return PlaceChange(self.demand, place, self.source, self.target, self.ratios)

    @property
    def at_ceiling_share(self) -> float | None:
        """Return the share of the profile with the other pool's disks at a ceiling, if known."""
        likely = replace(self, demand=self.demand.as_counted())
        demand = likely.demand
        if not all(self.target.mean(PoolFigure.WRITE_RATE, place.name) for place in demand.places):
            return None
        there = [likely.at_place(place).disk_times(EXPECTED).there for place in demand.places]
        is_full = np.max(there, axis=0) >= AT_CEILING * demand.spans_ns
        return float(np.sum(demand.spans_ns[is_full]) / np.sum(demand.spans_ns))

    def times(self, unknowns: Unknowns = EXPECTED) -> _Times:
        """Return the task's time on the other pool, and what changed it."""
        if self.demand.counting is not None:
            counted = self.demand.as_counted(unknowns.counted, unknowns.unwritten)
            return replace(self, demand=counted).times(unknowns)
        demand, spans = self.demand, self.demand.spans_ns
        places = [self.at_place(place) for place in demand.places]
        held_back = np.any([place.is_held_back(EXPECTED) for place in places], axis=0)
        by_cpu = self._added_by_cpu(unknowns)
        elsewhere = np.maximum(0.0, spans + by_cpu)
        by_syncs = np.zeros(len(spans))
        for place in places:
            disk_times = place.disk_times(unknowns)
            writes = place.added_by_writes(disk_times, unknowns)
            syncs = place.added_by_syncs(unknowns)
            # Writes and syncs of one place are the same waiting: the larger one counts.
            are_syncs_larger = np.abs(syncs) > np.abs(writes)
            by_syncs += np.where(are_syncs_larger, syncs, 0.0)
            changed = np.maximum(0.0, elsewhere + np.where(are_syncs_larger, syncs, writes))
            elsewhere = place.with_backlog(changed, disk_times.there, held_back, unknowns)
        cpu_ns, syncs_ns = float(np.sum(by_cpu)), float(np.sum(by_syncs))
        writes_ns = float(np.sum(elsewhere - spans)) - cpu_ns - syncs_ns
        if demand.unseen_ns:
            rate = min(self.ratio(PoolFigure.WRITE_RATE, place.name) for place in demand.places)
            writes_ns += demand.unseen_ns * unknowns.unseen * (1 / rate - 1)
        total = max(1.0, demand.wall_ns + writes_ns + syncs_ns + cpu_ns)
        return _Times(total, writes_ns, syncs_ns, cpu_ns)

    def _added_by_cpu(self, unknowns: Unknowns) -> Numbers:
        """Return what CPUs add to each window: their speed, and those more or fewer."""
        demand = self.demand
        kernel = min(demand.kernel_share, demand.cpu_share)
        files = max(self.ratio(PoolFigure.FILE, place.name) for place in demand.places)
        calls = math.sqrt(self.ratio(PoolFigure.KERNEL_COPY) * self.ratio(PoolFigure.KERNEL_CALLS))
        slower = kernel * (calls ** (1 - unknowns.files) * files**unknowns.files - 1)
        slower += (demand.cpu_share - kernel) * (self.ratio(PoolFigure.USER_WORK) - 1)
        spans = demand.spans_ns
        cpus = demand.cpus if self.target.cpus is None else self.target.cpus
        saved = saved_shares(demand, cpus)
        saved_ns = (
            np.zeros(len(spans)) if saved is None else spans * saved.between(unknowns.threads)
        )
        by_cpu: Numbers = (spans - saved_ns) * slower - saved_ns
        if demand.busy_ns is not None and cpus < demand.cpus:
            share = demand.command_busy_share
            share += unknowns.others * (1 - share)
            by_cpu += np.maximum(0.0, demand.busy_ns * share / cpus - spans)
        return by_cpu

    def unknown_effects(self) -> Iterator[UnknownEffect]:
        """Yield how far each unknown changes the time."""
        yield from map(self._effect_of, MEANINGS)

    def _effect_of(self, unknown: str) -> UnknownEffect:
        """Return the times at both ends of an unknown, all others being as expected."""
        ends = [replace(EXPECTED, **{unknown: value}) for value in (0.0, 1.0)]
        first_log, last_log = (math.log(self.times(unknowns).total) for unknowns in ends)
        meaning = MEANINGS[unknown]
        if unknown == "waiting" and self.demand.shows_no_waiting:
            meaning = "how long it waits for its disks, which the profile does not show"
        return UnknownEffect(meaning, first_log, last_log)

    def is_decided_by_requests(self) -> bool:
        """Return whether the time depends on how many requests the other pool's disks do."""
        return self._effect_of("requests").is_wide

    def errors(self) -> Iterator[MeanVariance]:
        """Yield the independent errors of ln of the predicted time."""
        yield MeanVariance(MODEL_ERROR**2, _MODEL_DEGREES)
        expected = math.log(self.times().total)
        for key, known in self.ratios.items():
            lower = known.ratio * math.exp(-math.sqrt(known.error.variance))
            moved = {**self.ratios, key: known._replace(ratio=lower)}
            moved_log = math.log(replace(self, ratios=moved).times().total)
            yield MeanVariance((moved_log - expected) ** 2, known.error.degrees)
        for effect in self.unknown_effects():
            largest = max((effect.first_log - expected) ** 2, (effect.last_log - expected) ** 2)
            # An end is two standard deviations from what is expected.
            yield MeanVariance(largest / 4, math.inf)
        # CPUs were measured with other work than the task's.
        cpu_log = self.demand.cpu_share * math.log(self.ratio(PoolFigure.USER_WORK))
        yield MeanVariance((cpu_log / 2) ** 2, math.inf)
