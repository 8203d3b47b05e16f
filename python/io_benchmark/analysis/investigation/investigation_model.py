# SPDX-License-Identifier: MPL-2.0
"""The data of an investigation: its steps, what each of them found, and the conclusion.

A finding is what the journal keeps of a step, so that a later call need not do it again. A journal may
have been written by anybody: every field has a type and a limit.
"""

from enum import StrEnum
from typing import Annotated

from msgspec import Meta, Struct

from io_benchmark.analysis.model import Verdict
from io_benchmark.analysis.statements import Statement

JOURNAL_VERSION = 1
_Name = Annotated[str, Meta(max_length=300)]
_Text = Annotated[str, Meta(max_length=2000)]
_Texts = Annotated[tuple[_Text, ...], Meta(max_length=50)]
_Ratio = Annotated[float, Meta(gt=0, le=1e9)]
_Seconds = Annotated[float, Meta(ge=-1e9, le=1e9)]
_Count = Annotated[int, Meta(ge=0, le=10**9)]
_Counts = tuple[_Count, _Count]  # of the task's pool, and of the reference


class Step(Struct, frozen=True):
    """A step; `name` is its field in `Findings`."""

    name: str
    title: str
    cost: str


# Each needs those before it.
STEPS = (
    Step("slowness", "What is slow", "reads the queue; no worker time"),
    Step(
        "machines",
        "What the machines do",
        "no worker time where results are there, else at most {budget:g} worker hours (--budget)",
    ),
    Step(
        "explanation", "Why", "no worker time, or a task that confirms the cause, within --budget"
    ),
    Step(
        "forecast",
        "What the task asks of them",
        "no worker time, or a task per pool that measures everything, within --budget",
    ),
)


class _Finding(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The base of what the steps found."""


class Change(_Finding, frozen=True):
    """A day from which on the label takes another time on the task's pool."""

    date: Annotated[str, Meta(pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]
    ratio: _Ratio  # after over before
    is_everywhere: bool  # on all other pools as well, of which there is at least one


class Slowness(_Finding, frozen=True):
    """How long the task's label takes on its pool, compared with the pool where it takes least.

    `verdict` and `ratio` are those of the task's pool; without a reference no other pool ran the label.
    """

    label: _Name
    pool: _Name
    queue: _Name  # PROVISIONER/WORKERTYPE
    completed: _Count
    mean_s: _Seconds
    reference: _Name | None = None
    reference_queue: _Name = ""
    reference_mean_s: _Seconds = 0.0
    verdict: Verdict | None = None
    ratio: _Ratio = 1.0
    low_ratio: _Ratio = 1.0
    high_ratio: _Ratio = 1.0
    workers: _Counts = (0, 0)
    workers_to_add: _Count | None = None
    # What the pool takes longer than the reference, of the parts that both sides know.
    parts_s: dict[_Name, _Seconds] = {}
    change: Change | None = None
    cost_per_1000: tuple[_Seconds, _Seconds] | None = None
    currency: _Name = ""
    # Of the time of all labels of both pools, and of these labels: what is slower on the task's pool.
    gaining_share: Annotated[float, Meta(ge=0, le=1)] | None = None
    gaining_labels: _Counts = (0, 0)
    profiles: _Texts = ()  # addresses of runs on both pools


class Machines(_Finding, frozen=True):
    """Where the benchmark's results of both pools are, and what it calls the pools."""

    addresses: _Texts
    pool: _Name
    reference: _Name
    origin: _Text  # "the index, 2026-11-20"


class Reason(_Finding, frozen=True):
    """A cause that the results support or confirm, and what to try."""

    cause: _Name
    state: _Name
    hypothesis: _Text
    evidence: _Text  # of the pool, against the reference
    action: _Text = ""  # nothing where no remedy is known
    gain_ratio: _Ratio | None = None
    is_measured: bool = False


class Explanation(_Finding, frozen=True):
    """How the benchmark compares the pools, and why they differ."""

    verdict: Verdict | None  # None: the results could not be compared, `open_questions` has why
    ratio: _Ratio = 1.0
    low_ratio: _Ratio = 1.0
    high_ratio: _Ratio = 1.0
    workers: _Counts = (0, 0)
    workers_to_add: _Count | None = None
    reasons: Annotated[tuple[Reason, ...], Meta(max_length=50)] = ()
    machine_types: tuple[_Name, _Name] = ("", "")  # of the pool, and of the reference
    slower_machine_type: _Name = ""  # of a mixed pool, where all its slower machines have it
    open_questions: _Texts = ()


class Resource(StrEnum):
    """What a task waits for, or a cause limits."""

    DISKS = "disks"
    CPU = "CPUs"


class Forecast(_Finding, frozen=True):
    """How much longer the task takes on its pool than on the reference, by its profiles."""

    profiles: _Count
    profiled_on: _Name = ""
    ratio: _Ratio | None = None  # None: not predicted, `reason` says why
    low_ratio: _Ratio = 1.0
    high_ratio: _Ratio = 1.0
    added_s: dict[Resource, _Seconds] = {}  # on the task's pool
    demand: _Text = ""
    reason: _Text = ""


class Findings(_Finding, frozen=True):
    """What the steps found so far; None: the step was not done."""

    slowness: Slowness | None = None
    machines: Machines | None = None
    explanation: Explanation | None = None
    forecast: Forecast | None = None

    @property
    def next_step(self) -> Step:
        """Return the first step that was not done."""
        return next(step for step in STEPS if getattr(self, step.name) is None)


class Journal(_Finding, frozen=True):
    """The file of an investigation that was begun."""

    version: Annotated[int, Meta(ge=JOURNAL_VERSION, le=JOURNAL_VERSION)]
    task: _Text  # its address in a browser
    findings: Findings
    # The groups that were created for it, by their kind, from before their first task was.
    groups: dict[_Name, Annotated[str, Meta(pattern="^[A-Za-z0-9_-]{22}$")]] = {}


class Outcome(StrEnum):
    CHANGE = "change"
    NOTHING = "nothing to change"
    NOT_IO = "not I/O"
    OPEN = "not decided"


class Target(StrEnum):
    """What a change changes."""

    POOL = "the pool's definition"
    IMAGE = "the workers' image or its start script"
    TASK = "the task's own commands"


class Remedy(Struct, frozen=True):
    """A change, and what it rests on."""

    target: Target
    reason: Reason
    # Of a pool's definition: a new type for this one, or disks; with neither, this one goes.
    machine_type: str = ""
    new_machine_type: str = ""
    local_ssds_to_add: int = 0


class Conclusion(Struct, frozen=True):
    """The answer; sentences have their numbers."""

    outcome: Outcome
    answer: Statement
    certainty: Statement
    remedy: Remedy | None = None
    next_steps: tuple[Statement, ...] = ()  # what decides it


class Investigation(Struct, frozen=True, tag_field="version", tag=1):
    """An investigation's report."""

    task: str  # its address
    findings: Findings
    conclusion: Conclusion
    patch: str = ""  # of a file of pools' definitions
    fragment: str = ""  # what to write there, where there is no patch
    note: str = ""  # why there is none, or what else the patch changes
    unreadable: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
