# SPDX-License-Identifier: MPL-2.0
"""The data of a diagnosis: evidence, trials, causes, remedies, and what takes a cause away."""

from enum import Enum, StrEnum, auto

from msgspec import Struct

from io_benchmark.analysis.model.pool_machine import NetworkDisk
from io_benchmark.analysis.model.statements import Statement
from io_benchmark.analysis.model.subject import Subject
from io_benchmark.analysis.model.time_parts import Kind, Phase
from io_benchmark.results.workloads.cache_retrieve import TrialKind

# Why a worker did not run its trials, in its own words.
OWN_REASON = "{reason}."


class Seen(Struct, frozen=True):
    """A value of an observation, and on how many workers it was seen."""

    value: Statement
    count: int


class Observation(Struct, frozen=True):
    """One kind of fact about a side's workers, the most frequent value first.

    A single worker's runs are counted instead where they differ.
    """

    name: str  # "write-rate"
    seen: tuple[Seen, ...]
    total: int  # how many workers, or runs, the side has; 0 for a figure of the whole side
    counts_runs: bool = False

    @classmethod
    def of_side(cls, name: str, figure: Statement) -> "Observation":
        return cls(name, (Seen(figure, 0),), 0)


class Evidence(Struct, frozen=True):
    """What one side's workers showed about a cause."""

    observations: tuple[Observation, ...] = ()
    summary: Statement | None = None  # leads a report's sentence: "1 disk"

    @classmethod
    def led_by(cls, *observations: Observation) -> "Evidence":
        return cls(observations, observations[0].seen[0].value)


class LeftoverPart(Struct, frozen=True):
    """What the supported causes leave over in one part of the time."""

    phase: Phase
    kind: Kind
    difference_ns: float


class Leftover(Struct, frozen=True):
    """What the supported causes do not explain of a difference, and the parts that it lies in."""

    difference_ns: float
    share: float
    parts: tuple[LeftoverPart, ...]  # the largest first


class TrialState(StrEnum):
    CONFIRMED = "confirmed"  # of memory: storage is involved
    REFUTED = "refuted"
    UNDECIDED = "undecided"
    NOT_RUN = "not run"


class TrialOutcome(Struct, frozen=True):
    """One kind of trial, for a pair of sides.

    The share is the part of the gap between the sides that goes with what was changed. It is null
    for memory, which only shows whether storage is involved.
    """

    kind: TrialKind
    state: TrialState
    meaning: Statement  # or why it was not run
    share: float | None = None
    low_share: float | None = None  # 95 %, over repetitions
    high_share: float | None = None
    repetitions: int = 0
    gain_ratio: float | None = None  # how many times as fast the change makes the slower side


class State(StrEnum):
    CONFIRMED = "confirmed"  # supported, and by a trial
    SUPPORTED = "supported"
    NOT_SEPARABLE = "not separable"  # from another cause of the same part of the time
    REFUTED = "refuted"  # by a trial, whatever fact differs
    RULED_OUT = "ruled out"
    NOT_JUDGED = "not judged"  # no difference was shown that needs an explanation
    NOT_OBSERVABLE = "not observable"

    @property
    def holds(self) -> bool:
        return self in (State.CONFIRMED, State.SUPPORTED)


class Cause(Struct, frozen=True):
    """One hypothesis, judged by observed facts of both sides."""

    name: str  # "device-count"
    hypothesis: str  # one sentence
    state: State
    baseline_evidence: Evidence
    candidate_evidence: Evidence
    explanation: tuple[Statement, ...]  # why it is judged so, or which fact is missing
    predicted_ratio: float | None = None
    share: float | None = None  # of the difference: ln(explained) ÷ ln(measured)
    share_at_most: float | None = None  # what the parts of the time that it acts through allow
    is_shared: bool = False  # by both sides: its remedies may help, though it differs in nothing
    workload: str | None = None  # for "not observable": the workload that would show it
    tried_by: TrialKind | None = None  # the trial that confirms or refutes it


class Resource(StrEnum):
    """What a task waits for, or a cause limits."""

    DISKS = "disks"
    CPU = "CPUs"


class Target(StrEnum):
    """What a change changes."""

    POOL = "the pool's definition"
    IMAGE = "the workers' image or its start script"
    TASK = "the task's own commands"


class NewMachineType(Enum):
    """Which machine type a change of a pool's definition gives it."""

    NONE = auto()  # it changes something else
    AS_REFERENCE = auto()  # that of the faster pool
    MORE_DISKS = auto()  # the next larger one, or the same one with one more local SSD
    LARGER_DISK = auto()  # the same one, with a larger or faster disk of the network


class Change(Struct, frozen=True):
    """What takes a cause away where a task waits for what the cause limits."""

    limits: Resource
    target: Target
    machine_type: NewMachineType = NewMachineType.NONE


class NoChange(Struct, frozen=True):
    """Why no change is proposed because of a cause."""

    reason: str


class DiskChange(Struct, frozen=True):
    """Another disk of the network in the place of one that a pool's definition has."""

    disk: NetworkDisk
    new_disk: NetworkDisk


class Remedy(Struct, frozen=True, omit_defaults=True):
    """What to try, tied to a supported cause."""

    cause: str
    action: Statement
    gain_ratio: float | None  # time now ÷ time then, measured or predicted
    measured: bool
    evidence: tuple[Statement, ...]
    disk_change: DiskChange | None = None  # that the action names


class Diagnosis(Struct, frozen=True):
    """Why one candidate differs from the baseline, and what to try."""

    candidate: str
    causes: tuple[Cause, ...]
    remedies: tuple[Remedy, ...]
    # By which it was judged; None: by the first one that the candidate was compared on.
    subject: Subject | None = None
    trials: tuple[TrialOutcome, ...] = ()  # what was tried; empty where nothing was recorded
    leftover: Leftover | None = None  # none within the uncertainty of the difference


class Pace(Struct, frozen=True):
    """A pool whose copies must be limited to what another pool's disks can write."""

    pool: str
    bytes_per_s: int
    against: str  # the slower pool, whose ceiling this is


class Confirming(Struct, frozen=True):
    """The runs that are missing to confirm causes, and why the other comparisons need none."""

    paces: tuple[Pace, ...] = ()
    reasons: tuple[Statement, ...] = ()
