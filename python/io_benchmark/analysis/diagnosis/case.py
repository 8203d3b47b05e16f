# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What a rule looks at: two sides, their workers, and what each worker's file says."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import fmean

import numpy as np

from io_benchmark.analysis.model import (
    Comparison,
    Entry,
    Figures,
    Retrieves,
    State,
    Subject,
    Worker,
)
from io_benchmark.analysis.observed import machine_identity
from io_benchmark.results import workloads
from io_benchmark.results.format import Host, Limits, StoragePlace

# Times nearer than this are no difference that a fact could explain.
NOTHING_TO_EXPLAIN_RATIO = 1.02
EVERY_WORKLOAD = frozenset(workloads.WORKLOADS)
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

    @property
    def retrieves(self) -> Retrieves | None:
        """Of cache-retrieve alone."""
        return self.entry.retrieves if self.entry is not None else None

    @cached_property
    def mean_ns(self) -> float | None:
        return self.entry.mean_ns if self.entry is not None else None

    @cached_property
    def lookup_mean_ns(self) -> float | None:
        return float(self.retrieves.lookup_ns.mean()) if self.retrieves is not None else None

    @cached_property
    def copied_bytes(self) -> int | None:
        if self.entry is None or self.retrieves is None:
            return None
        return int(self.entry.alike.sum(dtype=np.float64))  # each retrieve's size

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
        elapsed_ns = self.entry.facts.run_ns
        if self.retrieves is not None:
            elapsed_ns += self.retrieves.facts.final_sync_ns or 0
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

    def per_operation_ms(self, *columns: str) -> float | None:
        """The growth of counters in ms, for one retrieve or operation."""
        growth = self.growth(*columns)
        if growth is None or self.entry is None:
            return None
        lasted_ns = float(self.entry.start_ns[-1] - self.entry.start_ns[0])
        # From the first sample's start to the last one's: what the last did is not in it.
        done = float(self.entry.operations[:-1].sum(dtype=np.float64))
        return growth * lasted_ns / 1e9 / max(1.0, done)

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
class Beside:
    """Another measurement of the same pair, with both sides' figures."""

    comparison: Comparison
    baseline: Figures
    candidate: Figures

    @property
    def subject(self) -> Subject:
        return self.comparison.subject

    @property
    def difference_ns(self) -> float:
        return self.candidate.mean_ns - self.baseline.mean_ns


@dataclass(frozen=True)
class Case:
    """One candidate against the baseline, for one subject; `beside` is all they were compared on."""

    subject: Subject
    ratio: float | None
    baseline: tuple[View, ...]
    candidate: tuple[View, ...]
    beside: tuple[Beside, ...] = ()

    def measured(self, workload: str, variant: str | None = None) -> list[Beside]:
        """What another workload (or variant) shows of this pair, in the report's order.

        In this case's place, and in the others only where nothing was measured there.
        """
        found = [
            one
            for one in self.beside
            if one.subject.workload == workload
            and (variant is None or one.subject.variant == variant)
        ]
        return [one for one in found if one.subject.place == self.subject.place] or found

    def sibling(self, variant: str | None = None, threads: int | None = None) -> Beside | None:
        """The same measurement in another variant, or with another number of threads."""
        wanted = replace(
            self.subject,
            variant=self.subject.variant if variant is None else variant,
            threads=self.subject.threads if threads is None else threads,
        )
        return next((one for one in self.beside if one.subject == wanted), None)

    def in_order(self, one: Beside) -> tuple[Figures, Figures]:
        """Its figures, the slower side's of this case first."""
        sides = one.baseline, one.candidate
        return (sides[1], sides[0]) if self.candidate_is_slower else sides

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
        """How much longer the candidate's operation takes than the baseline's."""
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
    is_part: bool = False  # the ratio is a measured part of the difference, no prediction of it


@dataclass(frozen=True)
class Rule:
    """A hypothesis, and the workloads whose difference it may explain."""

    name: str
    hypothesis: str
    judge: Callable[[Case], Finding]
    explains: frozenset[str] = frozenset(("cache-retrieve",))


def make_case(
    subject: Subject,
    ratio: float | None,
    baseline: Sequence[Worker],
    candidate: Sequence[Worker],
    beside: Sequence[Beside] = (),
) -> Case:
    usable = ratio if ratio is not None and math.isfinite(ratio) and ratio > 0 else None
    return Case(
        subject,
        usable,
        tuple(view_of(worker, subject) for worker in baseline),
        tuple(view_of(worker, subject) for worker in candidate),
        tuple(beside),
    )


def view_of(worker: Worker, subject: Subject) -> View:
    entries = (e for e in worker.entries if e.subject == subject and len(e.total_ns))
    places = (p for p in worker.result.storage.places if p.name == subject.place)
    return View(worker, next(entries, None), next(places, None))


def by_worker(views: Sequence[View]) -> list[list[View]]:
    """The runs of each worker, which is the unit of all that is counted and averaged."""
    return list(machine_identity.grouped(views, lambda view: view.worker.machine).values())


def of_workers(views: Sequence[View], value: Callable[[View], float | None]) -> list[float]:
    """Of each worker that tells it, the mean of its runs."""
    means = (mean_of_known(map(value, runs)) for runs in by_worker(views))
    return [mean for mean in means if mean is not None]


def mean_of(views: Sequence[View], value: Callable[[View], float | None]) -> float | None:
    """Over the workers that tell it; None where none does."""
    return mean_of_known(of_workers(views, value))


def mean_of_known(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None
