# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What a rule looks at: two sides, their workers, and what each worker's file says."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean

import numpy as np

from io_benchmark.analysis.model import Entry, State, Subject, Worker
from io_benchmark.results.format import Host, Limits, StoragePlace

# Times nearer than this are no difference that a fact could explain.
NOTHING_TO_EXPLAIN_RATIO = 1.02
# The part of the difference that a cost must make up to be a cause of it.
EXPLAINS_SHARE = 0.2


@dataclass(frozen=True)
class View:
    """One worker as the rules see it; None is what the file does not tell."""

    worker: Worker
    entry: Entry | None
    place: StoragePlace | None

    @property
    def host(self) -> Host | None:
        return self.worker.result.host

    @property
    def limits(self) -> Limits | None:
        return self.worker.result.limits

    @property
    def instance_type(self) -> str | None:
        return self.worker.result.task.instance_type

    @cached_property
    def mean_ns(self) -> float | None:
        return float(self.entry.total_ns.mean()) if self.entry is not None else None

    @cached_property
    def lookup_mean_ns(self) -> float | None:
        return float(self.entry.lookup_ns.mean()) if self.entry is not None else None

    @cached_property
    def copied_bytes(self) -> int | None:
        if self.entry is None:
            return None
        sizes = np.array(self.entry.facts.file_sizes_bytes, dtype=np.float64)
        return int(sizes[self.entry.file_index].sum())

    @cached_property
    def moved_bytes(self) -> tuple[int, int] | None:
        """What the leaf devices read and wrote, from the first retrieve to the final sync's end."""
        devices = self.entry.facts.device_bytes if self.entry is not None else None
        if not devices:
            return None
        return sum(d.read for d in devices.values()), sum(d.written for d in devices.values())

    @cached_property
    def written_share(self) -> float | None:
        """Bytes that reached the disks for each byte copied."""
        if self.moved_bytes is None or not self.copied_bytes:
            return None
        return self.moved_bytes[1] / self.copied_bytes

    @cached_property
    def written_mib_per_s(self) -> float | None:
        if self.entry is None or self.moved_bytes is None or not self.entry.facts.run_ns:
            return None
        elapsed_ns = self.entry.facts.run_ns + (self.entry.facts.final_sync_ns or 0)
        return self.moved_bytes[1] / 2**20 / (elapsed_ns / 1e9)

    def growth(self, *columns: str) -> float | None:
        """How much counters of the timeline grew a second, together, during the retrieves."""
        window = self._window
        timeline = self.worker.result.timeline
        if window is None or timeline is None:
            return None
        first, last, seconds = window
        total = 0
        for name in columns:
            column = timeline.columns.get(name)
            if column is None or column[first] is None or column[last] is None:
                return None
            total += (column[last] or 0) - (column[first] or 0)
        return total / seconds

    @cached_property
    def _window(self) -> tuple[int, int, float] | None:
        """First and last sample within the retrieves, and the seconds between."""
        timeline = self.worker.result.timeline
        times = timeline.columns.get("time_ns") if timeline is not None else None
        if times is None or self.entry is None:
            return None
        begin_ns = int(self.entry.start_ns[0])
        end_ns = int(self.entry.start_ns[-1]) + int(self.entry.total_ns[-1])
        inside = [at for at, time in enumerate(times) if time and begin_ns <= time <= end_ns]
        if len(inside) < 2:
            return None
        first, last = inside[0], inside[-1]
        seconds = ((times[last] or 0) - (times[first] or 0)) / 1e9
        return (first, last, seconds) if seconds > 0 else None

    def per_retrieve_ms(self, *columns: str) -> float | None:
        """The growth of counters in ms, for one retrieve."""
        growth = self.growth(*columns)
        if growth is None or self.entry is None:
            return None
        lasted_ns = float(self.entry.start_ns[-1] - self.entry.start_ns[0])
        return growth * lasted_ns / 1e9 / max(1, len(self.entry.start_ns) - 1)

    @cached_property
    def io_wait_share(self) -> float | None:
        """The part of the time in which something waited for I/O (PSI).

        Not `full`: a neighbour that only computes would hide every wait of the copies from it.
        """
        growth = self.growth("psi_io_some_us")
        if growth is None:
            growth = self.growth("psi_io_full_us")
        return None if growth is None else growth / 1e6

    @cached_property
    def busiest_share(self) -> float | None:
        """The part of the time in which the busiest of the disks had something to do."""
        timeline = self.worker.result.timeline
        if self._window is None or timeline is None:
            return None
        first, last, seconds = self._window
        columns = [columns.get("busy_ms") or [] for columns in timeline.devices.values()]
        told = [
            (end - begin) / 1000 / seconds
            for column in columns
            if len(column) > last
            if (begin := column[first]) is not None and (end := column[last]) is not None
        ]
        return max(told, default=None)


@dataclass(frozen=True)
class Case:
    """One candidate against the baseline, for one subject."""

    subject: Subject
    ratio: float | None
    baseline: tuple[View, ...]
    candidate: tuple[View, ...]

    @property
    def differs(self) -> bool:
        """Is there a difference in time that something could explain?"""
        return self.ratio is not None and abs(math.log(self.ratio)) >= math.log(
            NOTHING_TO_EXPLAIN_RATIO
        )

    @property
    def candidate_is_slower(self) -> bool:
        return self.ratio is not None and self.ratio > 1

    @property
    def slower(self) -> tuple[View, ...]:
        return self.candidate if self.candidate_is_slower else self.baseline

    @property
    def faster(self) -> tuple[View, ...]:
        return self.baseline if self.candidate_is_slower else self.candidate

    @property
    def difference_ns(self) -> float | None:
        """How much longer the candidate's retrieve takes than the baseline's."""
        candidate = mean_of(self.candidate, lambda view: view.mean_ns)
        baseline = mean_of(self.baseline, lambda view: view.mean_ns)
        return None if candidate is None or baseline is None else candidate - baseline


@dataclass(frozen=True)
class Finding:
    """A rule's judgement; the registry adds the name and the hypothesis."""

    state: State
    baseline_evidence: str
    candidate_evidence: str
    explanation: str
    predicted_ratio: float | None = None
    workload: str | None = None


@dataclass(frozen=True)
class Rule:
    name: str
    hypothesis: str
    judge: Callable[[Case], Finding]


def make_case(
    subject: Subject,
    ratio: float | None,
    baseline: Sequence[Worker],
    candidate: Sequence[Worker],
) -> Case:
    usable = ratio if ratio is not None and math.isfinite(ratio) and ratio > 0 else None
    return Case(
        subject,
        usable,
        tuple(_view(worker, subject) for worker in baseline),
        tuple(_view(worker, subject) for worker in candidate),
    )


def _view(worker: Worker, subject: Subject) -> View:
    entries = (e for e in worker.entries if e.subject == subject and len(e.copy_ns))
    places = (p for p in worker.result.storage.places if p.name == subject.place)
    return View(worker, next(entries, None), next(places, None))


def mean_of(views: Sequence[View], value: Callable[[View], float | None]) -> float | None:
    """Over the workers that tell it; None where none does."""
    known = [found for found in map(value, views) if found is not None]
    return fmean(known) if known else None
