# SPDX-License-Identifier: MPL-2.0
"""The whole outcome of a comparison: `analysis` fills it, `report` shows it.

What is published as JSON is `Report` as it is here (`report/formats/json_documents.py`).
"""

from array import array
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from enum import StrEnum
from operator import floordiv

from msgspec import Struct

from io_benchmark.analysis.model.cause import Confirming, Diagnosis, Remedy
from io_benchmark.analysis.model.comparison import Comparison, Interval, Problem, Verdict
from io_benchmark.analysis.model.figures import Division
from io_benchmark.analysis.model.measurement import SubjectReport
from io_benchmark.analysis.model.run import UNKNOWN, Integers, Worker, WorkerLine
from io_benchmark.analysis.model.statements import Statement
from io_benchmark.analysis.model.subject import Subject
from io_benchmark.costs.worker_time import Cost, Price


class SingleWorker(Struct, frozen=True):
    """A worker that alone is slower or faster than all others of its side, on one measurement."""

    subject: Subject
    side: str
    machine: str  # as `Worker` has it
    tasks: tuple[str, ...]  # TASKID.RUN of each run on this machine
    instance_type: str | None
    others: int  # how many workers of its side it is compared with
    ratio: float  # its mean time over that of the other workers
    usual: Interval  # where this ratio is for one more worker like the others
    division: Division  # the parts of its difference from the others
    # The comparisons of its side without it, and without what else is named on this measurement:
    # no verdicts, because workers that are left out for their times decide them.
    without: tuple[Comparison, ...]
    diagnosis: Diagnosis | None  # None: it is explained on another measurement

    @property
    def verdict(self) -> Verdict:
        return Verdict.SLOWER if self.ratio > 1 else Verdict.FASTER


class MixedPool(Struct, frozen=True):
    """A side whose workers are machines of two kinds, by facts that its times follow."""

    subject: Subject
    side: str
    slower: tuple[str, ...]  # machines, as `Worker` has them, or tasks where these are not known
    faster: tuple[str, ...]
    facts_of_slower: tuple[str, ...]  # "1 disk"
    facts_of_faster: tuple[str, ...]  # the same facts, in the same order
    ratio: float  # the mean time of the slower machines over that of the others
    p_value: float  # for all the splits that were tried
    remedy: Remedy
    of_the_faster: tuple[Comparison, ...] = ()  # as the side's, without the slower machines


class AtPlace(Struct, frozen=True):
    """One side at one place, compared with itself at the first place."""

    side: str
    kind: str  # "volume, ext4"
    mean_ns: float | None  # None: `missing` has the reason
    missing: Statement | None
    # The mean here over the mean at the first place, paired within the worker; None at the first
    # place, and where `not_compared` has the reason.
    ratio: float | None = None
    means_ns: tuple[float, float] | None = None  # the means that are compared: here, first place
    interval: Interval | None = None  # 95 %
    method: str = ""  # as in a comparison; empty without a ratio
    workers: int = 0  # how many the ratio is based on
    # Otherwise one place came after the other, and a drift of the machine is in the ratio.
    in_turns: bool = True
    not_compared: Statement | None = None
    # How the work there differs from that at the first place.
    differences: tuple[Statement, ...] = ()


class PlaceRow(Struct, frozen=True):
    place: str
    sides: tuple[AtPlace, ...]
    comparisons: tuple[Comparison, ...]  # of the sides with each other at this place


class Places(Struct, frozen=True):
    """One measurement in every place of its tasks; each place is compared with the first."""

    subject: Subject  # in the first place
    rows: tuple[PlaceRow, ...]


class Standing(StrEnum):
    """Whether a side's verdicts have enough workers."""

    DECIDED = "decided"
    OPEN = "open"
    NOT_BY_REPETITION = "not by repetition"
    NO_VERDICT = "no verdict"


class Replication(Struct, frozen=True):
    """One side's workers; the comparison that needs most of them counts."""

    side: str
    runs: int  # whose results were read
    workers: int  # machines; a run whose machine is unknown counts as a separate one
    workers_compared: int  # those that every verdict is based on
    standing: Standing
    workers_needed: int | None  # in total, where it is open
    workers_to_add: int | None


class SampleSeries(Struct, frozen=True, kw_only=True):
    """What one run measured of one subject, for the pictures."""

    side: str
    worker: str
    subject: Subject
    total_ns: Integers  # of one operation
    task_id: str
    run_id: int | None
    started: str
    mean_ns: float  # of one operation
    is_used: bool  # no validity rule left it out

    @classmethod
    def of_worker(
        cls, worker: Worker, used: AbstractSet[tuple[int, Subject]]
    ) -> "Iterator[SampleSeries]":
        """Yield the raw times that are drawn; a batch as what one of its operations took.

        `used` has the id of each worker with what is compared of it.
        """
        name = worker.task_id if worker.worker_id == UNKNOWN else worker.worker_id
        for entry in worker.runs:
            total_ns = entry.total_ns
            if entry.retrieves is None:
                total_ns = array("q", map(floordiv, total_ns, entry.operations))
            if total_ns:
                yield cls(
                    side=worker.side,
                    worker=name,
                    subject=entry.subject,
                    total_ns=total_ns,
                    task_id=worker.task_id,
                    run_id=worker.run_id,
                    started=worker.started,
                    mean_ns=entry.mean_ns,
                    is_used=(id(worker), entry.subject) in used,
                )


class Report(Struct, frozen=True, tag_field="version", tag=4):
    """A comparison of pools, or of pools before and after a change."""

    title: str
    baseline: str
    baseline_reason: str  # "--baseline", or why this one is the default
    margin_ratio: float  # 0.05
    subjects: tuple[SubjectReport, ...]
    diagnoses: tuple[Diagnosis, ...]
    problems: tuple[Problem, ...]
    workers: tuple[WorkerLine, ...]
    unreadable: tuple[str, ...]  # one line for each result that could not be read
    remarks: tuple[Statement, ...]  # further footnotes
    places: tuple[Places, ...] = ()
    single_workers: tuple[SingleWorker, ...] = ()
    mixed_pools: tuple[MixedPool, ...] = ()
    confirming: Confirming = Confirming()
    # What the workers cost that would decide what is open; None: more workers decide nothing.
    decision_cost: Cost | None = None
    replication: tuple[Replication, ...] = ()
    # A rehearsal on one machine in one folder: no difference is one between pools.
    is_only_noise: bool = False


class SampledReport(Report, frozen=True, kw_only=True):
    """A comparison with what its page shows besides, which is not published as JSON."""

    series: tuple[SampleSeries, ...]
    prices: Mapping[str, Price] = {}  # of an hour of each side's workers, where it is known
    lost: Mapping[str, int] = {}  # by side: tasks that ended and left no result
    days: tuple[str, ...] = ()  # of the first and the last start of a run; one if they are the same
