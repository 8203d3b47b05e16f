# SPDX-License-Identifier: MPL-2.0
"""The data of an investigation: what each of its steps found, by reports of other rooms, and the conclusion."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import chain
from statistics import fmean
from typing import Self

from msgspec import Struct

from io_benchmark.analysis.model.cause import (
    Cause,
    Diagnosis,
    Evidence,
    Remedy,
    Resource,
    State,
    Target,
)
from io_benchmark.analysis.model.comparison import Comparison, Interval, Severity, Verdict
from io_benchmark.analysis.model.report import MixedPool, Report
from io_benchmark.analysis.model.run import WorkerLine
from io_benchmark.analysis.model.statements import (
    Range,
    Statement,
    Unit,
    Value,
    count,
    joined,
    ratio_of,
    statement,
)
from io_benchmark.analysis.prediction import PREDICTION_LEVEL, Predictions, TaskPrediction
from io_benchmark.analysis.reading.disks import MachineType
from io_benchmark.analysis.tasks.task_model import TaskComparison
from io_benchmark.command_lines import submit_everything
from io_benchmark.results.parts import NS_PER_S

_QUESTIONS = 8
# The measurement that says most comes first.
_ORDER = (Verdict.SLOWER, Verdict.INCONCLUSIVE, Verdict.EQUIVALENT, Verdict.FASTER)


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
    # Of the time of all labels of both pools, and of these labels: what is slower on the task's pool.
    gaining_share: float | None = None
    gaining_labels: tuple[int, int] = (0, 0)

    def say(self, template: str, **values: Value | Statement) -> Statement:
        """Return a statement in which the pools, the ratio of the real times and others have their names."""
        usual: dict[str, Value] = {
            "label": self.label,
            "pool": self.pool,
            "runs": count(self.completed),
            "growth": ratio_of(self.growth),
            "date": self.since,
        }
        if self.comparison is not None:
            interval = self.comparison.interval
            usual |= {
                "reference": self.comparison.baseline,
                "ratio": ratio_of(self.comparison.ratio),
                "interval": Range(interval.low_ratio, interval.high_ratio, Unit.RATIO),
                "own": count(self.comparison.workers.candidate),
                "theirs": count(self.comparison.workers.baseline),
            }
        return statement(template, **{**usual, **values})


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
    workers: tuple[int, int] = (0, 0)  # of the pool, and of the reference
    reasons: tuple[Reason, ...] = ()
    machine_types: tuple[str, str] = ("", "")
    slower_machine_type: str = ""  # of a mixed pool, where all its slower machines have it
    open_questions: tuple[Statement, ...] = ()

    @classmethod
    def of(cls, report: Report, pool: str, reference: str) -> Self:
        compared = {
            comparison.subject: (part, comparison)
            for part in report.subjects
            for comparison in part.comparisons
            if comparison.candidate == pool
        }
        types = _type_of(report.workers, pool), _type_of(report.workers, reference)
        if not compared:
            refused = (line for line in report.problems if line.severity is not Severity.WARNING)
            unread = (statement("{line}", line=line) for line in report.unreadable)
            questions = _first(chain((line.message for line in refused), unread))
            return cls(None, machine_types=types, open_questions=questions)
        part, leading = min(
            compared.values(), key=lambda pair: (_ORDER.index(pair[1].verdict), -pair[1].ratio)
        )
        diagnoses = [
            diagnosis
            for diagnosis in report.diagnoses
            if diagnosis.candidate == pool
            and compared[diagnosis.subject or leading.subject][1].verdict is Verdict.SLOWER
        ]
        mixed = next((each for each in report.mixed_pools if each.side == pool), None)
        reasons = [_mixed(mixed)] if mixed else [*chain(*map(_reasons, diagnoses))]
        return cls(
            leading,
            workers=(part.workers(pool), part.workers(reference)),
            reasons=tuple(reasons),
            machine_types=types,
            slower_machine_type=_slower_type(report.workers, mixed) if mixed else "",
            open_questions=_first(_questions(report, diagnoses, leading)),
        )


class Forecast(Struct, frozen=True):
    """How much longer the task takes on its pool than on the reference, by its profiles."""

    task: TaskPrediction | None  # None: no profile was made on one of the two
    ratio: float | None = None  # None: not predicted, `reason` says why
    interval: Interval | None = None
    added_s: dict[Resource, float] = {}  # on the task's pool
    reason: Statement | None = None

    @classmethod
    def of(cls, predictions: Predictions, pool: str, reference: str) -> Self:
        pools = {pool: reference, reference: pool}
        task = next((task for task in predictions.tasks if task.pool in pools), None)
        if task is None:
            reasons = [row.reason for each in predictions.tasks for row in each.pools if row.reason]
            reasons += [statement("{line}", line=line) for line in predictions.unreadable]
            no_profile = statement("no profile was made on one of the two pools")
            return cls(None, reason=next(iter(reasons), no_profile))
        row = next((row for row in task.pools if row.pool == pools[task.pool or ""]), None)
        if row is None or row.time_ns is None or row.low_ns is None or row.high_ns is None:
            return cls(task, reason=(row and row.reason) or statement("not predicted"))
        # From the reference to the pool, also where the profile was made on the pool.
        sign = 1 if task.pool == reference else -1
        ratio, *ends = (
            (time_ns / fmean(task.measured_ns)) ** sign
            for time_ns in (row.time_ns, row.low_ns, row.high_ns)
        )
        waiting_ns = (row.added_by_writes_ns or 0.0) + (row.added_by_syncs_ns or 0.0)
        added_s = {
            Resource.DISKS: sign * waiting_ns / NS_PER_S,
            Resource.CPU: sign * (row.added_by_cpu_ns or 0.0) / NS_PER_S,
        }
        return cls(task, ratio, Interval(min(ends), max(ends), PREDICTION_LEVEL), added_s)


class Source(Struct, frozen=True):
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
    CHANGE = "change"
    NOTHING = "nothing to change"
    NOT_IO = "not I/O"
    OPEN = "not decided"


class Fix(Struct, frozen=True):
    """A change that is a remedy of a cause."""

    target: Target
    remedy: Remedy
    # Of a pool's definition: a new type for this one, or disks; with neither, this one goes.
    machine_type: str = ""
    new_machine_type: str = ""
    local_ssds_to_add: int = 0


class Conclusion(Struct, frozen=True):
    """The answer; sentences have their numbers."""

    outcome: Outcome
    answer: Statement
    certainty: Statement
    fix: Fix | None = None
    next_steps: tuple[Statement, ...] = ()  # what decides it


class Investigation(Struct, frozen=True, tag_field="version", tag=2):
    """An investigation's report."""

    task: str  # its address
    findings: Findings
    conclusion: Conclusion
    patch: str = ""  # of a file of pools' definitions
    fragment: str = ""  # what to write there, where there is no patch
    note: str = ""  # why there is none, or what else the patch changes
    unreadable: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()


# --- what a report says about two of its pools ---


def _type_of(workers: Sequence[WorkerLine], pool: str) -> str:
    """Return the machine type that most workers of a pool have."""
    names = (MachineType(worker.instance_type).name for worker in workers if worker.pool == pool)
    counts = Counter(filter(None, names))
    return max(counts, key=lambda name: counts[name], default="")


def _first(questions: Iterable[Statement]) -> tuple[Statement, ...]:
    return tuple(dict.fromkeys(questions))[:_QUESTIONS]


def _mixed(pool: MixedPool) -> Reason:
    remedy, sides = pool.remedy, (Evidence(), Evidence())
    hypothesis = "Its machines are of two kinds."
    cause = Cause(remedy.cause, hypothesis, State.SUPPORTED, *sides, remedy.evidence)
    return Reason(cause, remedy)


def _slower_type(workers: Sequence[WorkerLine], pool: MixedPool) -> str:
    """Return the machine type that only slower workers of a mixed pool have, where it is one."""
    slower, faster = set[str](), set[str]()
    for worker in (worker for worker in workers if worker.side == pool.side):
        is_slower = not {worker.machine, worker.task_id}.isdisjoint(pool.slower)
        (slower if is_slower else faster).add(MachineType(worker.instance_type).name)
    slower -= faster
    return slower.pop() if len(slower) == 1 else ""


def _reasons(diagnosis: Diagnosis) -> Iterator[Reason]:
    """Yield the causes that hold, the confirmed ones first, each with its first remedy."""
    causes = [cause for cause in diagnosis.causes if cause.state.holds]
    for cause in sorted(causes, key=lambda cause: (cause.state.value, -(cause.share or 0))):
        remedies = (remedy for remedy in diagnosis.remedies if remedy.cause == cause.name)
        yield Reason(cause, next(remedies, None))


def _questions(
    report: Report, diagnoses: Sequence[Diagnosis], leading: Comparison
) -> Iterator[Statement]:
    """Yield what would say more: an obstacle, a machine that alone is slow, and workloads."""
    if leading.advice is not None and leading.advice.obstacle is not None:
        yield leading.advice.obstacle
    for single in report.single_workers:
        if single.side == leading.candidate and single.verdict is Verdict.SLOWER:
            yield statement(
                "look at {machine}, which alone is slower (tasks {tasks})",
                machine=single.machine,
                tasks=", ".join(single.tasks),
            )
    missing: dict[str, list[str]] = {}
    for cause in (cause for diagnosis in diagnoses for cause in diagnosis.causes):
        if cause.workload is not None:
            missing.setdefault(cause.workload, []).append(cause.name)
    if missing:
        shown = (
            statement(
                "{workload}, which would show {causes}", workload=workload, causes=joined(names)
            )
            for workload, names in missing.items()
        )
        yield statement(
            "measure {shown}: `{command}`, and give its group with the other results by --on",
            shown=joined(shown, "; "),
            command=submit_everything((leading.candidate, leading.baseline)),
        )
