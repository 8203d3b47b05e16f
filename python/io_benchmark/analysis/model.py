# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What a comparison is made of: workers in, verdicts, causes and remedies out.

Everything here is plain, frozen data: `analysis` fills it, `report` shows it, neither knows the
other. A candidate is compared with a baseline; both are *sides*, usually pools, and with
`compare A --against B` one pool before and after.
"""

from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from io_benchmark.results import CacheRetrieve, Measurement, Result

Integers = NDArray[np.int64]


@dataclass(frozen=True, order=True)
class Subject:
    """What was measured: only like is laid beside like.

    Destination and fidelity are those of cache-retrieve; every other workload has a variant, and
    the number of threads that worked at once.
    """

    workload: str
    place: str
    destination: str = ""
    fidelity: str = ""
    variant: str = ""
    threads: int = 0  # or processes; 0: the workload has no such choice

    def __str__(self) -> str:
        parts = [f"{self.workload}, place {self.place}"]
        parts += [f"destination {self.destination}"] if self.destination else []
        parts += [f"fidelity {self.fidelity}"] if self.fidelity else []
        parts += [self.variant] if self.variant else []
        parts += [f"{self.threads} at once"] if self.threads else []
        return ", ".join(parts)


@dataclass(frozen=True)
class Retrieves:
    """What cache-retrieve tells of each sample beside its time."""

    facts: CacheRetrieve  # everything but the samples
    file_index: Integers
    lookup_ns: Integers
    copy_ns: Integers


@dataclass(frozen=True)
class Entry:
    """One worker's samples of one subject, in the order of time.

    A sample is one retrieve, or a batch of operations that were timed together.
    """

    subject: Subject
    facts: CacheRetrieve | Measurement  # everything but the samples
    start_ns: Integers
    total_ns: Integers  # a retrieve's time, or a batch's
    operations: Integers  # in each sample; a retrieve is one
    alike: Integers  # samples with the same number did the same work: the file's size
    planned: int  # samples that were to be taken
    retrieves: Retrieves | None = None  # of cache-retrieve alone
    measured: Measurement | None = None  # of every other workload

    @property
    def mean_ns(self) -> float:
        """For one operation: all the time over all the operations."""
        # Not as integers: a million of the longest times would not fit.
        time_ns, operations = (
            float(column.sum(dtype=np.float64)) for column in (self.total_ns, self.operations)
        )
        return time_ns / operations


@dataclass(frozen=True)
class Worker:
    """One machine that ran one task: the unit of replication."""

    side: str  # the name that it is grouped by
    pool: str
    task_id: str
    run_id: int | None
    worker_id: str  # "group/id", or "unknown" where only the bare file is there
    state: str  # the run's state, or "unknown"
    source: str  # where it was read from, for people
    result: Result  # its samples are in `entries` alone
    entries: tuple[Entry, ...]
    reason: str | None = None  # why the run ended so, by the queue


class Severity(StrEnum):
    REFUSED = "refused"  # no verdict is given
    ALLOWED = "allowed"  # would be refused, and was allowed by --allow
    WARNING = "warning"  # a verdict is given; the reader should know


@dataclass(frozen=True)
class Problem:
    """A validity rule that the results break."""

    rule: str
    severity: Severity
    subject: Subject | None  # None: everything from these sides
    sides: tuple[str, ...]
    message: str  # what differs, with both sides' values


@dataclass(frozen=True)
class Detail:
    """A figure that one workload alone has, for one side."""

    name: str  # "scaling"
    label: str  # "scaling from 1 thread"
    value: float
    unit: str  # "×", or nothing for a count
    higher_is_better: bool


@dataclass(frozen=True)
class Figures:
    """One side's times for one subject: each figure is the mean over its workers."""

    workers: int
    samples: int
    operations: int  # a retrieve is one; a batch has as many as were timed together
    mean_ns: float  # of one operation, as all the times here but the total
    p50_ns: float
    p95_ns: float
    p99_ns: float
    total_ns: float
    lookup_mean_ns: float | None  # of cache-retrieve alone, as the copies' mean
    copy_mean_ns: float | None
    # How well one worker's own mean is known (moving blocks), as a part of the mean; the largest.
    within_worker_ratio: float
    # Standard deviation of the workers' log means; None with a single worker.
    between_workers_ratio: float | None
    details: tuple[Detail, ...] = ()


@dataclass(frozen=True)
class Interval:
    low: float
    high: float
    level: float  # 0.95

    def excludes(self, value: float) -> bool:
        return value < self.low or value > self.high

    def within(self, low: float, high: float) -> bool:
        return low <= self.low and self.high <= high


class Verdict(StrEnum):
    SLOWER = "slower"
    FASTER = "faster"
    EQUIVALENT = "equivalent"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True)
class Advice:
    """For an inconclusive comparison: what would decide it."""

    leaning: Verdict  # the verdict that the data lean to
    workers_to_add: int | None  # a side; None: not decidable by repetition
    variation_ratio: float  # the between-worker variation that this assumes
    message: str


@dataclass(frozen=True)
class Comparison:
    """One candidate against the baseline, for one subject."""

    subject: Subject
    baseline: str
    candidate: str
    ratio: float  # mean time, candidate over baseline: above 1 is slower
    interval: Interval  # 95 %, adjusted for the number of candidates
    interval_90: Interval
    p_value: float  # adjusted
    verdict: Verdict
    method: str  # "workers" (Welch on log means), or how one worker a side was compared
    assumed_variation_ratio: float | None  # between workers; None where it was seen
    # How large it would have to be for the difference to be chance; None where it is none.
    variation_to_explain_ratio: float | None
    advice: Advice | None


@dataclass(frozen=True)
class NoiseFloor:
    """Ratios between what should be equal."""

    kind: str  # "within-worker" (interleaved halves) or "between-workers"
    low: float
    high: float


class Regime(StrEnum):
    """What held a run's copies up."""

    PAGE_CACHE = "absorbed by the page cache"
    WRITEBACK = "bound by writeback"
    DEVICE = "bound by a device"
    CAP = "bound by a cap"
    CPU = "bound by the CPU"
    READING = "bound by reading"
    UNKNOWN = "unknown"

    @property
    def median_is_steady(self) -> bool:
        """Else the mean is what hardly differs between identical runs."""
        return self in (Regime.PAGE_CACHE, Regime.CPU)


@dataclass(frozen=True)
class SideRegime:
    """One side's regime, and where the bytes went: the means of its workers."""

    regime: Regime
    why: str
    copied_bytes: float | None
    written_bytes: float | None  # what reached the disks, the final sync's included
    left_dirty_bytes: float | None  # what the last copy left to be written
    drain_ns: float | None  # how long writing that took


@dataclass(frozen=True)
class SubjectReport:
    subject: Subject
    figures: dict[str, Figures]  # by side, baseline first
    comparisons: tuple[Comparison, ...]  # one a candidate, in the order of `figures`
    noise: tuple[NoiseFloor, ...]
    regimes: dict[str, SideRegime] = field(default_factory=dict)  # by side; of copies alone

    @property
    def median_is_steady(self) -> bool:
        """On every side, so that medians may be laid beside each other."""
        return bool(self.regimes) and all(
            side.regime.median_is_steady for side in self.regimes.values()
        )


class State(StrEnum):
    SUPPORTED = "supported"
    RULED_OUT = "ruled out"
    NOT_OBSERVABLE = "not observable"


@dataclass(frozen=True)
class Cause:
    """One hypothesis, judged by observed facts of both sides."""

    name: str  # "device-count"
    hypothesis: str  # one sentence
    state: State
    baseline_evidence: str
    candidate_evidence: str
    explanation: str  # why it is judged so, or what would tell
    predicted_ratio: float | None = None
    share: float | None = None  # ln(measured) ÷ ln(predicted)
    workload: str | None = None  # for "not observable": the workload that would tell


@dataclass(frozen=True)
class Remedy:
    """What to try, tied to a supported cause."""

    cause: str
    action: str
    gain_ratio: float | None  # time now ÷ time then, measured or predicted
    measured: bool
    evidence: str


@dataclass(frozen=True)
class Diagnosis:
    """Why one candidate differs from the baseline, and what to try."""

    candidate: str
    causes: tuple[Cause, ...]
    remedies: tuple[Remedy, ...]
    # By which it was judged; None: by the first one that the candidate was compared on.
    subject: Subject | None = None


@dataclass(frozen=True)
class WorkerLine:
    """One worker as the report lists it."""

    side: str
    pool: str
    task_id: str
    run_id: int | None
    worker_id: str
    state: str
    completed: bool
    incomplete_reason: str | None
    instance_type: str | None
    zone: str | None
    source: str
    reason: str | None = None


@dataclass(frozen=True)
class Series:
    """One worker's raw times for one subject, for the pictures."""

    side: str
    worker: str
    subject: Subject
    file_size_bytes: Integers  # per retrieve; nothing where it has no size
    start_ns: Integers
    total_ns: Integers  # of one operation


@dataclass(frozen=True)
class Timeline:
    """What happened beside one worker's run, as rates: one value between two samples."""

    side: str
    worker: str
    time_s: tuple[float, ...]
    written_bytes_per_s: tuple[float, ...]
    dirty_bytes: tuple[float, ...]
    pressure_io_ratio: tuple[float, ...]


@dataclass(frozen=True)
class Report:
    """Everything that a report shows."""

    title: str
    baseline: str
    baseline_reason: str  # "--baseline", or why this one is the default
    margin_ratio: float  # 0.05
    subjects: tuple[SubjectReport, ...]
    diagnoses: tuple[Diagnosis, ...]
    problems: tuple[Problem, ...]
    workers: tuple[WorkerLine, ...]
    unreadable: tuple[str, ...]  # one line for each result that could not be read
    remarks: tuple[str, ...]  # further footnotes
    series: tuple[Series, ...]
    timelines: tuple[Timeline, ...]
