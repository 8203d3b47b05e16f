# SPDX-License-Identifier: MPL-2.0
"""How the disks of one place change a task's time on another pool.

The task waited for disks that take longer there for the same bytes, requests or syncs. Bytes that
are not written yet are carried to the next window. The task waits for them where it syncs, where
disks hold it back, and where memory has no room for more.
"""

import math
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from io_benchmark.analysis.prediction.demand import FLUSHES_PER_COMMIT, Demand, Numbers, PlaceDemand
from io_benchmark.analysis.prediction.pool_storage import PoolFigure, PoolStorage, Ratios
from io_benchmark.analysis.prediction.unknowns import EXPECTED, Unknowns
from io_benchmark.results.parts import NS_PER_S

# A disk that works for this share of a window is waited for. Chosen: a window may begin or end
# while the disk has nothing to do.
AT_CEILING = 0.8
# A task that syncs in a window or finds no room in memory waits for this share at least. Chosen.
_LEAST_WAITING = 0.2
# Memory that takes more than this share of what is written meanwhile has room. Chosen.
_STILL_TAKEN = 0.5
# What a file system that commits more often during a longer task adds to its requests. Chosen.
_MORE_REQUESTS = 0.25
# Linux lets a burst of 0.1 s pass a limit after a pause (throtl_slice in block/blk-throttle.c).
_BURST_NS = 0.1 * NS_PER_S
# A disk that does this many times as many requests as a limit has another one. Chosen.
_ABOVE_LIMIT = 1.25
# The least share of requests that is known: 0 cannot divide.
_LEAST_KNOWN_SHARE = 1e-9
# The kernel looks for files of a certain age as often as this (dirty_writeback_centisecs).
_SOON_NS = 5 * NS_PER_S
# Memory that has less than this share of its room unwritten demands no writing: the kernel writes
# from half of the limit on (dirty_background_ratio is half of dirty_ratio, as usual).
_FEW_UNWRITTEN = 0.5


class _DiskTimes(NamedTuple):
    """How long the disks work on each window's bytes and requests, in nanoseconds."""

    here: Numbers  # on the pool of the profile
    there: Numbers


class PlaceChange(Struct, frozen=True):
    """One place on the pool of a profile and on another one."""

    demand: Demand
    place: PlaceDemand
    source: PoolStorage
    target: PoolStorage
    ratios: Ratios  # of what the pools can do

    def _ratio(self, figure: PoolFigure) -> float:
        return self.ratios[figure, self.place.name].ratio

    def disk_times(self, unknowns: Unknowns) -> _DiskTimes:
        """Return how long the disks need for each window, here and there."""
        place = self.place
        here_per_s, there_per_s = self.source.writes_per_s(place.name), self._writes_per_s(unknowns)
        merged = self.merged(unknowns)
        requests = merged * place.writes + (1 - merged) * place.unmerged_writes
        bytes_s = place.written_bytes / self.source.ceiling(place.name)
        here_s, there_s = requests / here_per_s, requests / there_per_s
        more_s = _MORE_REQUESTS * unknowns.journal * np.maximum(0.0, there_s - here_s)
        there_s += np.where(place.is_synced, 0.0, more_s)
        there_s = np.maximum(there_s, bytes_s / self._ratio(PoolFigure.WRITE_RATE))
        here_s = np.maximum(here_s, bytes_s)
        # What the disks cannot do within a window they do in the next one, but count it at once.
        window_ends_s = _running_sum(self.demand.spans_ns / NS_PER_S)
        here_sum_s, there_sum_s = _running_sum(here_s), _running_sum(there_s)
        done_s = window_ends_s + np.minimum.accumulate(here_sum_s - window_ends_s)
        done_s[-1] = here_sum_s[-1]
        done_there_s = np.interp(done_s, here_sum_s, there_sum_s)
        return _DiskTimes(np.diff(done_s) * NS_PER_S, np.diff(done_there_s) * NS_PER_S)

    def _writes_per_s(self, unknowns: Unknowns) -> float:
        """Return how many requests per second the disks there write."""
        name = self.place.name
        there_per_s = self.target.writes_per_s(name)
        if math.isinf(there_per_s) and not self.target.is_resized:
            # Nothing measured them: from as many as single syncs do, to any number.
            known_share = max(_LEAST_KNOWN_SHARE, 1 - unknowns.requests)
            return self.target.least_writes_per_s(name) / known_share
        if self.ratios[PoolFigure.WRITES, name].error.variance:
            by_ratio = self.source.writes_per_s(name) * self._ratio(PoolFigure.WRITES)
            return min(there_per_s, by_ratio)
        return there_per_s

    def merged(self, unknowns: Unknowns) -> float:
        """Return 1 if a limit counts requests after the kernel merged them.

        A limit of a cgroup counts before. Of others the profile may tell: the disk did more before
        merging than the pool can do, or just as much and far less after.
        """
        place = self.place
        if not place.is_alone:
            return 1 - unknowns.merged  # a resource profile counts after merging
        spans_ns = self.demand.spans_ns
        limits = self.source.writes_per_s(place.name) * spans_ns / NS_PER_S
        above = place.unmerged_writes > _ABOVE_LIMIT * limits
        at_limit = ~above & (place.unmerged_writes > AT_CEILING * limits)
        at_limit_ns = np.sum(spans_ns[at_limit & (place.writes < limits / 2)])
        if self.target.mean(PoolFigure.WRITES_LIMIT, place.name) or at_limit_ns > NS_PER_S:
            return 0.0
        return 1.0 if np.sum(spans_ns[above]) > NS_PER_S else unknowns.merged

    def is_full(self, unknowns: Unknowns = EXPECTED) -> NDArray[np.bool_]:
        """Return in which windows the disks here are at their ceiling."""
        return self.disk_times(unknowns).here >= AT_CEILING * self.demand.spans_ns

    def _waiting_ns(self, unknowns: Unknowns) -> Numbers:
        """Return how long the task waited for the disks here."""
        demand, spans = self.demand, self.demand.spans_ns
        is_full = self.is_full(unknowns)
        shown = np.where(self.place.is_synced | is_full, 1.0, 0.0)
        if demand.waiting_share is None:
            if demand.shows_no_waiting and demand.busy_ns is not None:
                # At the ceiling it is likely to have waited as far as no CPU worked for it.
                busy = demand.command_busy_share * demand.busy_ns / spans
                shown *= unknowns.idle * np.maximum(0.0, 1 - busy)
            return spans * np.maximum(shown, 1 - unknowns.waiting)
        waiting: Numbers = demand.waiting_share * np.maximum(shown, unknowns.waiting)
        if demand.busy_ns is not None:
            # The kernel does not count waiting for a journal.
            idle = unknowns.idle * np.maximum(0.0, 1 - demand.busy_ns / spans)
            waiting = np.where(is_full, np.maximum(waiting, idle), waiting)
        return spans * waiting

    def unexplained_waiting_ns(self) -> Numbers:
        """Return how long something waited while the disks were not at their ceiling."""
        return np.where(self.is_full(), 0.0, self._waiting_ns(EXPECTED))

    def added_by_writes(self, times: _DiskTimes, unknowns: Unknowns) -> Numbers:
        """Return what writes add to each window, by what the task waited for disks here."""
        here, there = times
        waited = np.minimum(here, self._waiting_ns(unknowns))
        added = waited * (there / np.maximum(here, 1.0) - 1)
        # A sync waits for all that it does not find done.
        not_found_done = there - waited - self._burst_ns(here - waited, unknowns)
        added = np.where(self.place.is_synced, np.maximum(added, not_found_done), added)
        return np.where(added < 0, unknowns.faster, 1.0) * added

    def _burst_ns(self, saved_ns: Numbers, unknowns: Unknowns) -> Numbers:
        """Return for how long the disks there work on what syncs do not wait for.

        What a sync of the profile did not wait for passed as a burst, and one that is as long
        passes there.
        """
        spans = self.demand.spans_ns
        if unknowns.bursts <= 0:
            return np.maximum(saved_ns, spans)
        each_ns = _BURST_NS * (1 / unknowns.bursts - 1)
        syncs = np.maximum(1.0, self.place.flushes / FLUSHES_PER_COMMIT)
        return np.maximum(saved_ns, np.minimum(syncs * each_ns, spans))

    def added_by_syncs(self, unknowns: Unknowns) -> Numbers:
        """Return what the difference of single syncs adds; no more than the task waited."""
        place = self.place
        fewest, most = place.syncs or (0.0, 0.0)
        count = fewest + unknowns.syncs * (most - fewest)
        if not place.is_alone:
            weights = place.writes
        elif np.sum(place.flushes) > 0:
            weights = place.flushes
        else:
            weights = self.demand.spans_ns
        waited = weights * (count * (self.source.mean(PoolFigure.SYNC, place.name) or 0.0))
        waited /= max(float(np.sum(weights)), 1.0)
        if self.demand.waiting_share is not None:
            waited = np.minimum(waited, self.demand.waiting_share * self.demand.spans_ns)
        elif self.demand.shows_no_waiting:
            waited = np.minimum(waited, self._waiting_ns(unknowns))
        added: Numbers = waited * (self._ratio(PoolFigure.SYNC) - 1)
        return added

    def with_backlog(
        self, spans: Numbers, there: Numbers, held_back: NDArray[np.bool_], unknowns: Unknowns
    ) -> Numbers:
        """Return the windows with what the task waits for bytes that earlier windows left.

        `held_back` are the windows in which disks of any place hold the task back.
        """
        place, unwritten = self.place, self.demand.unwritten_bytes
        bytes_per_ns = float(np.sum(place.written_bytes)) / max(1.0, float(np.sum(there)))
        if not bytes_per_ns:
            return spans
        over_ns = (unwritten - self._room_bytes(held_back, unknowns)) / bytes_per_ns
        waits_for_all = place.is_synced | self.is_held_back(unknowns) | (unknowns.room <= 0)
        over_ns[waits_for_all] = 0.0
        waits = _backlog_waits(there - spans, over_ns)
        if self._is_written_at_once():
            waits_at_once = _backlog_waits(there - spans, np.zeros(len(spans)))
            waits = (1 - unknowns.renames) * waits + unknowns.renames * waits_at_once
        return spans + waits

    def _is_written_at_once(self) -> bool:
        """Return whether files were written although neither memory nor their age demanded it.

        ext4 does this with a file that replaces another one, when it is renamed or closed. The
        profile of a whole machine does not show it.
        """
        place, demand = self.place, self.demand
        if not place.is_alone:
            return False
        is_free = ~place.is_synced
        written_bytes = float(np.sum(place.written_bytes[is_free]))
        kept_byte_ns = float(np.sum((demand.unwritten_bytes * demand.spans_ns)[is_free]))
        room_bytes = self.source.dirty_room_bytes or math.inf
        has_room = demand.unwritten_bytes.max(initial=0.0) < _FEW_UNWRITTEN * room_bytes
        return has_room and kept_byte_ns < _SOON_NS * written_bytes

    def _room_bytes(self, held_back: NDArray[np.bool_], unknowns: Unknowns) -> float:
        """Return how much may be unwritten before the task waits.

        Memory takes at least what it took here, and at most what it held where disks held the task
        back, or what the kernel lets it have.
        """
        unwritten = self.demand.unwritten_bytes
        high: float = self.target.dirty_room_bytes or math.inf
        high = min(high, unwritten[held_back].max(initial=0.0).item() or high)
        low: float = min(high, unwritten.max().item())
        return low * (high / low) ** unknowns.room if 0 < low < high else high

    def is_held_back(self, unknowns: Unknowns) -> NDArray[np.bool_]:
        """Return in which windows disks at their ceiling hold the task back.

        Memory is full there, or the task waits for a journal or a renamed file: so it does on
        slower disks. Not where memory takes much of what is written meanwhile.
        """
        demand, place = self.demand, self.place
        waits = self._waiting_ns(unknowns) >= _LEAST_WAITING * demand.spans_ns
        taken_bytes = np.diff(demand.unwritten_bytes, prepend=0.0)
        has_room = taken_bytes > _STILL_TAKEN * place.written_bytes
        return waits & self.is_full(unknowns) & ~has_room & ~place.is_synced


def _backlog_waits(late_ns: Numbers, over_ns: Numbers) -> Numbers:
    """Return how long each window waits for late bytes, beyond what may be left unwritten."""
    waits, backlog_ns = [], 0.0
    for late, over in zip(late_ns.tolist(), over_ns.tolist(), strict=True):
        backlog_ns = max(0.0, backlog_ns + late)
        wait_ns = min(backlog_ns, max(0.0, over + backlog_ns))
        waits.append(wait_ns)
        backlog_ns -= wait_ns
    return np.array(waits, dtype=np.float64)


def _running_sum(values: Numbers) -> Numbers:
    """Return the sums up to each value, from 0 on."""
    return np.concatenate([[0.0], np.cumsum(values)])
