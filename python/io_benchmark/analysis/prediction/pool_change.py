# SPDX-License-Identifier: MPL-2.0
"""How another pool changes a task's time: what the task demands, and what the pools can do.

Each window of the profile changes by the CPUs, by CPUs that the other pool lacks, and by the time in which
the task waited for disks that there take longer for the same bytes, requests or syncs. Bytes that are not
written yet are carried to the next window. The task waits for them where it syncs, where disks hold it back, and
where memory has no room for more.
"""

import math
from collections.abc import Iterator, Mapping
from typing import get_type_hints

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from io_benchmark.analysis.prediction.backlog import backlog_waits, is_written_at_once
from io_benchmark.analysis.prediction.demand import (
    FLUSHES_OF_A_COMMIT,
    Demand,
    Numbers,
    PlaceDemand,
)
from io_benchmark.analysis.prediction.pool_storage import (
    FILE,
    KERNEL_CALLS,
    KERNEL_COPY,
    SYNC,
    USER_WORK,
    WRITE_RATE,
    WRITES,
    WRITES_LIMIT,
    PoolStorage,
)
from io_benchmark.analysis.prediction.unknowns import EXPECTED, WIDE_LOG, Unknowns
from io_benchmark.analysis.statistics.variances import MeanVariance
from io_benchmark.results.parts import NS_PER_S

# Standard deviation of ln(measured ÷ predicted) of real jobs in the storage lab, with their own variation.
MODEL_ERROR = 0.10
# That is known from some dozens of jobs.
_MODEL_DEGREES = 20.0
_OF_CPUS = (USER_WORK, KERNEL_COPY, KERNEL_CALLS)
_OF_PLACES = (WRITE_RATE, WRITES, SYNC, FILE)
# A disk that works for this share of a window is waited for.
_AT_CEILING = 0.8
# A task that syncs in a window, or finds no room in memory, waits for this share of it at least.
_LEAST_WAITING = 0.2
# Memory that takes more than this share of what is written meanwhile has room.
_STILL_TAKEN = 0.5
# What a file system that commits more often during a longer task adds at most, by all its requests.
_MORE_REQUESTS = 0.25
# Linux lets a burst of a tenth of a second pass a limit after a pause (throtl_slice in block/blk-throttle.c).
_BURST_NS = 0.1 * NS_PER_S
# A disk that does so many times as many requests as a limit has another one.
_ABOVE_LIMIT = 1.25


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
    # Of what the pools can do, with the error of ln; by figure and place.
    ratios: Mapping[tuple[str, str], tuple[float, MeanVariance]]

    @classmethod
    def of(cls, demand: Demand, source: PoolStorage, target: PoolStorage) -> "PoolChange":
        keys = [(figure, "") for figure in _OF_CPUS]
        keys += [(figure, p.name) for p in demand.places for figure in _OF_PLACES]
        return cls(demand, source, target, {key: target.ratio_to(source, *key) for key in keys})

    def ratio(self, figure: str, place: str = "") -> float:
        """Return how many times as much the other pool has of something."""
        return self.ratios[figure, place][0]

    @property
    def at_ceiling_share(self) -> float | None:
        """Return in which share of the profile the other pool's disks work at their ceiling; None: not known."""
        demand = self.demand.as_counted()
        if not all(self.target.mean(WRITE_RATE, place.name) for place in demand.places):
            return None
        there = [self._service_ns(place, EXPECTED)[1] for place in demand.places]
        is_full = np.max(there, axis=0) >= _AT_CEILING * demand.spans_ns
        return float(np.sum(demand.spans_ns[is_full]) / np.sum(demand.spans_ns))

    def times(self, unknowns: Unknowns = EXPECTED) -> _Times:
        if self.demand.counting is not None:
            known = self.demand.as_counted(unknowns.counted, unknowns.unwritten)
            return replace(self, demand=known).times(unknowns)
        demand, spans = self.demand, self.demand.spans_ns
        by_cpu = self._by_cpu(unknowns)
        elsewhere = np.maximum(0.0, spans + by_cpu)
        by_syncs = np.zeros(len(spans))
        for place in demand.places:
            # Writes and syncs of one place are the same waiting.
            syncs = self._by_syncs(place, unknowns)
            here, there = self._service_ns(place, unknowns)
            waited = np.minimum(here, self._waiting_ns(place, unknowns))
            writes = waited * (there / np.maximum(here, 1.0) - 1)
            beyond = there - waited - self._bursts_ns(place, here - waited, unknowns)
            writes = np.where(place.is_synced, np.maximum(writes, beyond), writes)
            writes = np.where(writes < 0, unknowns.faster, 1.0) * writes
            syncs = np.where(np.abs(syncs) > np.abs(writes), syncs, 0.0)
            by_syncs += syncs
            changed = np.maximum(0.0, elsewhere + np.where(syncs, syncs, writes))
            elsewhere = self._with_backlog(place, changed, there, unknowns)
        cpu, syncs_ns = float(np.sum(by_cpu)), float(np.sum(by_syncs))
        writes_ns = float(np.sum(elsewhere - spans)) - cpu - syncs_ns
        if demand.unseen_ns:
            slower = max(1 / self.ratio(WRITE_RATE, place.name) for place in demand.places)
            writes_ns += demand.unseen_ns * unknowns.unseen * (slower - 1)
        total = max(1.0, demand.wall_ns + writes_ns + syncs_ns + cpu)
        return _Times(total, writes_ns, syncs_ns, cpu)

    def _by_cpu(self, unknowns: Unknowns) -> Numbers:
        demand = self.demand
        kernel = min(demand.kernel_share, demand.cpu_share)
        files = max(self.ratio(FILE, place.name) for place in demand.places)
        calls = math.sqrt(self.ratio(KERNEL_COPY) * self.ratio(KERNEL_CALLS))
        slower = kernel * (calls ** (1 - unknowns.files) * files**unknowns.files - 1)
        slower += (demand.cpu_share - kernel) * (self.ratio(USER_WORK) - 1)
        by_cpu: Numbers = demand.spans_ns * slower
        cpus = self.target.cpus
        if cpus is not None and demand.busy_ns is not None and cpus < demand.cpus:
            busy_ns = max(1.0, float(np.sum(demand.busy_ns)))
            share = min(1.0, demand.cpus_used * demand.wall_ns / busy_ns)
            share += unknowns.others * (1 - share)
            by_cpu += np.maximum(0.0, demand.busy_ns * share / cpus - demand.spans_ns)
        return by_cpu

    def _service_ns(self, place: PlaceDemand, unknowns: Unknowns) -> tuple[Numbers, Numbers]:
        """Return how long the disks need for each window, here and there."""
        source, target, name = self.source, self.target, place.name
        merged = self._merged(place, unknowns)
        requests = merged * place.writes + (1 - merged) * place.unmerged_writes
        there_per_s = target.writes_per_s(name)
        if math.isinf(there_per_s):
            there_per_s = target.least_writes_per_s(name) / max(1e-9, 1 - unknowns.requests)
        elif self.ratios[WRITES, name][1].variance:
            there_per_s = min(there_per_s, source.writes_per_s(name) * self.ratio(WRITES, name))
        bytes_s = place.written_bytes / source.ceiling(name)
        here_s, there_s = requests / source.writes_per_s(name), requests / there_per_s
        more_s = _MORE_REQUESTS * unknowns.journal * np.maximum(0.0, there_s - here_s)
        there_s += np.where(place.is_synced, 0.0, more_s)
        there_s = np.maximum(there_s, bytes_s / self.ratio(WRITE_RATE, name))
        # What the disks here cannot do within a window they do in the next one: they count it all at once.
        ends_s, here_s, there_s = (
            np.concatenate([[0.0], np.cumsum(times_s)])
            for times_s in (self.demand.spans_ns / NS_PER_S, np.maximum(here_s, bytes_s), there_s)
        )
        done_s = ends_s + np.minimum.accumulate(here_s - ends_s)
        done_s[-1] = here_s[-1]
        return np.diff(done_s) * NS_PER_S, np.diff(np.interp(done_s, here_s, there_s)) * NS_PER_S

    def _bursts_ns(self, place: PlaceDemand, saved_ns: Numbers, unknowns: Unknowns) -> Numbers:
        """Return for how long the other pool's disks work on what syncs do not wait for.

        What a sync of the profile did not wait for passed as a burst, and one that is as long passes there.
        """
        spans = self.demand.spans_ns
        if unknowns.bursts <= 0:
            return np.maximum(saved_ns, spans)
        each_ns = _BURST_NS * (1 / unknowns.bursts - 1)
        syncs = np.maximum(1.0, place.flushes / FLUSHES_OF_A_COMMIT)
        return np.maximum(saved_ns, np.minimum(syncs * each_ns, spans))

    def _is_full(self, place: PlaceDemand, unknowns: Unknowns = EXPECTED) -> NDArray[np.bool_]:
        """Return in which windows the disks of a place are at their ceiling."""
        return self._service_ns(place, unknowns)[0] >= _AT_CEILING * self.demand.spans_ns

    def _merged(self, place: PlaceDemand, unknowns: Unknowns) -> float:
        """Return 1 if a limit counts requests after the kernel merged them.

        A limit of a cgroup counts before. Of others the profile may tell: the disk did more before
        merging than the pool can do, or just as much and far less after.
        """
        if not place.is_alone:
            return 1 - unknowns.merged  # a resource profile counts after merging
        spans_ns = self.demand.spans_ns
        limits = self.source.writes_per_s(place.name) * spans_ns / NS_PER_S
        above = place.unmerged_writes > _ABOVE_LIMIT * limits
        at_limit = ~above & (place.unmerged_writes > _AT_CEILING * limits)
        if (
            self.target.mean(WRITES_LIMIT, place.name)
            or np.sum(spans_ns[at_limit & (place.writes < limits / 2)]) > NS_PER_S
        ):
            return 0.0
        return 1.0 if np.sum(spans_ns[above]) > NS_PER_S else unknowns.merged

    def _waiting_ns(self, place: PlaceDemand, unknowns: Unknowns) -> Numbers:
        """Return how long the task waited for the disks of a place."""
        demand, spans = self.demand, self.demand.spans_ns
        is_full = self._is_full(place, unknowns)
        shown = np.where(place.is_synced | is_full, 1.0, 0.0)
        if demand.waiting_share is None:
            return spans * np.maximum(shown, 1 - unknowns.waiting)
        waiting: Numbers = demand.waiting_share * np.maximum(shown, unknowns.waiting)
        if demand.busy_ns is not None:
            # The kernel does not count waiting for a journal.
            idle = unknowns.idle * np.maximum(0.0, 1 - demand.busy_ns / spans)
            waiting = np.where(is_full, np.maximum(waiting, idle), waiting)
        return spans * waiting

    def unexplained_waiting_ns(self, place: PlaceDemand) -> Numbers:
        """Return how long something waited while the disks were not at their ceiling."""
        return np.where(self._is_full(place), 0.0, self._waiting_ns(place, EXPECTED))

    def _by_syncs(self, place: PlaceDemand, unknowns: Unknowns) -> Numbers:
        """Return what the difference of single syncs adds; no more than the task waited."""
        fewest, most = place.syncs or (0.0, 0.0)
        weights = place.flushes if np.sum(place.flushes) > 0 else self.demand.spans_ns
        weights = weights if place.is_alone else place.writes
        count = fewest + unknowns.syncs * (most - fewest)
        waited = weights * (count * (self.source.mean(SYNC, place.name) or 0.0))
        waited /= max(float(np.sum(weights)), 1.0)
        if self.demand.waiting_share is not None:
            waited = np.minimum(waited, self.demand.waiting_share * self.demand.spans_ns)
        by_syncs: Numbers = waited * (self.ratio(SYNC, place.name) - 1)
        return by_syncs

    def _with_backlog(
        self, place: PlaceDemand, spans: Numbers, there: Numbers, unknowns: Unknowns
    ) -> Numbers:
        """Return the windows with what the task waits for bytes that earlier windows left."""
        per_ns = float(np.sum(place.written_bytes)) / max(1.0, float(np.sum(there)))
        if not per_ns:
            return spans
        # Memory takes as much before the task waits as where disks hold the task back, at most.
        unwritten, high = self.demand.unwritten_bytes, self.target.dirty_room_bytes or math.inf
        held = np.any([self._is_held_back(p, EXPECTED) for p in self.demand.places], axis=0)
        high = min(high, unwritten[held].max(initial=0.0).item() or high)
        low = min(high, unwritten.max().item())
        room = low * (high / low) ** unknowns.room if 0 < low < high else high
        over_ns = (unwritten - room) / per_ns
        over_ns[place.is_synced | self._is_held_back(place, unknowns) | (unknowns.room <= 0)] = 0.0
        waits = backlog_waits(there - spans, over_ns)
        if is_written_at_once(self.demand, place, self.source.dirty_room_bytes or math.inf):
            for_all = backlog_waits(there - spans, np.zeros(len(spans)))
            waits = (1 - unknowns.renames) * waits + unknowns.renames * for_all
        return spans + waits

    def _is_held_back(self, place: PlaceDemand, unknowns: Unknowns) -> NDArray[np.bool_]:
        """Return in which windows disks at their ceiling hold the task back.

        Memory is full there, or the task waits for a journal or a renamed file: so it does on slower disks. Not where
        memory takes much of what is written meanwhile.
        """
        demand = self.demand
        waits = self._waiting_ns(place, unknowns) >= _LEAST_WAITING * demand.spans_ns
        taken_bytes = np.diff(demand.unwritten_bytes, prepend=0.0)
        has_room = taken_bytes > _STILL_TAKEN * place.written_bytes
        return waits & self._is_full(place, unknowns) & ~has_room & ~place.is_synced

    def unknown_parts(self) -> Iterator[tuple[str, float, float]]:
        """Return what each thing is that is not known, and ln of the time at both ends of it."""
        for name, hint in get_type_hints(Unknowns, include_extras=True).items():
            yield hint.__metadata__[0], *self._ends(name)

    def _ends(self, unknown: str) -> tuple[float, float]:
        """Return ln of the time at both ends of an unknown."""
        first, last = (self.times(replace(EXPECTED, **{unknown: end})) for end in (0.0, 1.0))
        return math.log(first.total), math.log(last.total)

    def is_decided_by(self, unknown: str) -> bool:
        """Return whether the times at both ends of an unknown are too far apart to predict one."""
        first, last = self._ends(unknown)
        return abs(last - first) > WIDE_LOG

    def errors(self) -> Iterator[MeanVariance]:
        """Return the independent errors of ln of the predicted time."""
        yield MeanVariance(MODEL_ERROR**2, _MODEL_DEGREES)
        expected = math.log(self.times().total)
        for key, (ratio, error) in self.ratios.items():
            lower = ratio * math.exp(-math.sqrt(error.variance))
            moved = replace(self, ratios={**self.ratios, key: (lower, error)})
            yield MeanVariance((math.log(moved.times().total) - expected) ** 2, error.degrees)
        for _, first, last in self.unknown_parts():
            yield MeanVariance(max((first - expected) ** 2, (last - expected) ** 2) / 4, math.inf)
        # CPUs were measured with other work than the task's.
        yield MeanVariance(
            (self.demand.cpu_share * math.log(self.ratio(USER_WORK)) / 2) ** 2, math.inf
        )
