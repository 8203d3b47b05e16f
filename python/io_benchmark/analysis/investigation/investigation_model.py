# SPDX-License-Identifier: MPL-2.0
"""The data of an investigation: what each of its steps found, and the conclusion."""

from enum import StrEnum
from typing import Generic, TypeVar

from msgspec import UNSET, Struct, UnsetType

from io_benchmark.analysis.model.cause import Cause, Remedy, Resource, Target
from io_benchmark.analysis.model.comparison import Comparison, Interval
from io_benchmark.analysis.model.pool_machine import NetworkDisk
from io_benchmark.analysis.model.statements import (
    Range,
    Statement,
    Unit,
    Value,
    count,
    ratio_of,
    statement,
)
from io_benchmark.analysis.prediction.prediction_model import TaskPrediction
from io_benchmark.analysis.tasks.difference_model import PhasesOfPair
from io_benchmark.analysis.tasks.task_model import TaskComparison

Fact = TypeVar("Fact", int, str)


class Slowness(Struct, frozen=True, kw_only=True):
    """How long the task's label takes on its pool, compared with the pool where it takes least."""

    label: str
    pool: str
    queue: str  # PROVISIONER/WORKERTYPE
    completed: int
    mean_s: float
    since: str = ""  # the day from which on it takes another time on its pool: 2026-03-01
    growth: float = 1.0  # its time since this day, divided by that before
    is_of_firefox: bool = False  # whose `mach try` runs it on another pool
    grew_everywhere: bool = False  # on all other pools as well, of which there is at least one
    comparison: TaskComparison | None = None  # None: no other pool ran the label
    reference_queue: str = ""
    profiles: tuple[str, ...] = ()  # addresses of runs on both pools
    # The share of the time of both pools' labels that is in labels that are slower on the task's
    # pool; and how many labels are slower, and how many there are.
    gaining_share: float | None = None
    gaining_labels: tuple[int, int] = (0, 0)
    phases: PhasesOfPair | UnsetType = UNSET  # where logs were read, because set-up may be slower

    def say(self, template: str, **values: Value | Statement) -> Statement:
        """Return a statement with these values and the usual ones, such as the pools' names."""
        named: dict[str, Value | Statement] = {
            "label": self.label,
            "pool": self.pool,
            "runs": count(self.completed),
            "growth": ratio_of(self.growth),
            "date": self.since,
        }
        if self.comparison is not None:
            interval = self.comparison.interval
            named["reference"] = self.comparison.baseline
            named["ratio"] = ratio_of(self.comparison.ratio)
            named["interval"] = Range(interval.low_ratio, interval.high_ratio, Unit.RATIO)
            named["own"] = count(self.comparison.workers.candidate)
            named["theirs"] = count(self.comparison.workers.baseline)
        named.update(values)
        return statement(template, **named)


class BothPools(Struct, Generic[Fact], frozen=True, array_like=True, forbid_unknown_fields=True):
    """A fact of the task's pool, and the same of the reference."""

    pool: Fact
    reference: Fact


class Machines(Struct, frozen=True):
    """Where the benchmark's results of both pools are, and what it calls the pools."""

    addresses: tuple[str, ...]
    pool: str
    reference: str
    origin: str  # "the index, 2026-11-20"


class Reason(Struct, frozen=True):
    """A cause that holds, and what to try first."""

    cause: Cause
    remedy: Remedy | None


class Explanation(Struct, frozen=True):
    """How the benchmark compares the pools, and why they differ."""

    comparison: Comparison | None  # None: there is none, `open_questions` has why
    workers: BothPools[int] = BothPools(0, 0)
    reasons: tuple[Reason, ...] = ()
    machine_types: BothPools[str] = BothPools("", "")
    slower_machine_type: str = ""  # of a mixed pool, where all its slower machines have it
    open_questions: tuple[Statement, ...] = ()


class Forecast(Struct, frozen=True):
    """How much longer the task takes on its pool than on the reference, by its profiles."""

    task: TaskPrediction | None  # None: no profile was made on one of the two
    ratio: float | None = None  # None: not predicted, `reason` says why
    interval: Interval | None = None
    added_s: dict[Resource, float] = {}  # on the task's pool
    reason: Statement | None = None


class EvidenceSource(Struct, frozen=True):
    """Where evidence is."""

    has: str  # what is there
    address: str  # as commands take it
    page: str = ""  # for a browser
    is_new: bool = False  # created by this investigation


class Findings(Struct, frozen=True):
    """What the steps found so far; None: the step was not done."""

    slowness: Slowness | None = None
    machines: Machines | None = None
    explanation: Explanation | None = None
    forecast: Forecast | None = None


class Outcome(StrEnum):
    """What an investigation leads to."""

    CHANGE = "change"
    NOTHING = "nothing to change"
    NOT_IO = "not I/O"
    OPEN = "not decided"


class Fix(Struct, frozen=True):
    """A change that is a remedy of a cause."""

    target: Target
    remedy: Remedy
    # What changes in a pool's definition: a new type or a new disk replaces the present one, or
    # local SSDs are added; with none of these, this type goes.
    machine_type: str = ""
    new_machine_type: str = ""
    local_ssds_to_add: int = 0
    network_disk: NetworkDisk | None = None  # as the definition has it
    new_network_disk: NetworkDisk | None = None


class Conclusion(Struct, frozen=True):
    """The answer; sentences have their numbers."""

    outcome: Outcome
    answer: Statement
    certainty: Statement
    fix: Fix | None = None
    next_steps: tuple[Statement, ...] = ()  # what decides it


class Investigation(Struct, frozen=True, tag_field="version", tag=3):
    """An investigation's report."""

    task: str  # its address
    findings: Findings
    conclusion: Conclusion
    patch: str = ""  # of a file of pools' definitions
    fragment: str = ""  # what to write there, where there is no patch
    note: str = ""  # why there is none, or what else the patch changes
    unreadable: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    sources: tuple[EvidenceSource, ...] = ()
