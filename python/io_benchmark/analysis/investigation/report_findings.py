# SPDX-License-Identifier: MPL-2.0
"""What the benchmark's report and a prediction say about the task's pool and the reference."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean

from io_benchmark.analysis.investigation.investigation_model import (
    BothPools,
    Explanation,
    Forecast,
    Reason,
)
from io_benchmark.analysis.model.cause import Cause, Diagnosis, Evidence, Resource, State
from io_benchmark.analysis.model.comparison import Comparison, Interval, Severity, Verdict
from io_benchmark.analysis.model.report import MixedPool, Report
from io_benchmark.analysis.model.run import WorkerLine
from io_benchmark.analysis.model.statements import Statement, joined, statement
from io_benchmark.analysis.prediction.prediction_model import PREDICTION_LEVEL, Predictions
from io_benchmark.analysis.reading.disks import MachineType
from io_benchmark.command_lines import submit_everything
from io_benchmark.results.parts import NS_PER_S

_QUESTIONS = 8  # questions that an investigation shows at most; chosen: nobody does more at once
# The measurement that says most comes first.
_ORDER = (Verdict.SLOWER, Verdict.INCONCLUSIVE, Verdict.EQUIVALENT, Verdict.FASTER)


def explain(report: Report, pool: str, reference: str) -> Explanation:
    """Return how a report compares two of its pools, and why they differ."""
    types = BothPools(_type_of(report.workers, pool), _type_of(report.workers, reference))
    compared, parts = {}, {}
    for part in report.subjects:
        for comparison in part.comparisons:
            if comparison.candidate == pool:
                compared[comparison.subject] = comparison
                parts[comparison.subject] = part
    if not compared:
        refused = [
            problem.message
            for problem in report.problems
            if problem.severity is not Severity.WARNING
        ]
        unread = [statement("{line}", line=line) for line in report.unreadable]
        return Explanation(None, machine_types=types, open_questions=_first([*refused, *unread]))
    leading = min(
        compared.values(),
        key=lambda comparison: (_ORDER.index(comparison.verdict), -comparison.ratio),
    )
    diagnoses = [
        diagnosis
        for diagnosis in report.diagnoses
        if diagnosis.candidate == pool
        and compared[diagnosis.subject or leading.subject].verdict is Verdict.SLOWER
    ]
    part = parts[leading.subject]
    mixed = [mixed for mixed in report.mixed_pools if mixed.side == pool]
    if mixed:
        reasons = [_mixed(mixed[0])]
    else:
        reasons = [reason for diagnosis in diagnoses for reason in _reasons(diagnosis)]
    return Explanation(
        leading,
        workers=BothPools(part.workers(pool), part.workers(reference)),
        reasons=tuple(reasons),
        machine_types=types,
        slower_machine_type=_slower_type(report.workers, mixed[0]) if mixed else "",
        open_questions=_first(_questions(report, diagnoses, leading)),
    )


def _type_of(workers: Sequence[WorkerLine], pool: str) -> str:
    """Return the machine type that most workers of a pool have."""
    names = [MachineType(worker.instance_type).name for worker in workers if worker.pool == pool]
    counts = Counter(name for name in names if name)
    return max(counts, key=lambda name: counts[name], default="")


def _first(questions: Iterable[Statement]) -> tuple[Statement, ...]:
    """Return the first questions, each once."""
    return tuple(dict.fromkeys(questions))[:_QUESTIONS]


def _mixed(pool: MixedPool) -> Reason:
    """Return the cause that the machines of a pool are of two kinds."""
    cause = Cause(
        name=pool.remedy.cause,
        hypothesis="Its machines are of two kinds.",
        state=State.SUPPORTED,
        candidate_evidence=Evidence(),
        baseline_evidence=Evidence(),
        explanation=pool.remedy.evidence,
    )
    return Reason(cause, pool.remedy)


def _slower_type(workers: Sequence[WorkerLine], pool: MixedPool) -> str:
    """Return the machine type that only slower workers of a mixed pool have, where it is one."""
    slower, faster = set[str](), set[str]()
    for worker in workers:
        if worker.side != pool.side:
            continue
        machine_type = MachineType(worker.instance_type).name
        if worker.machine in pool.slower or worker.task_id in pool.slower:
            slower.add(machine_type)
        else:
            faster.add(machine_type)
    only_slower = slower - faster
    return only_slower.pop() if len(only_slower) == 1 else ""


def _reasons(diagnosis: Diagnosis) -> Iterator[Reason]:
    """Yield the causes that hold, the confirmed ones first, each with its first remedy.

    A remedy that names another disk comes before one that names none.
    """
    causes = [cause for cause in diagnosis.causes if cause.state.holds]
    for cause in sorted(causes, key=lambda cause: (cause.state.value, -(cause.share or 0))):
        remedies = [remedy for remedy in diagnosis.remedies if remedy.cause == cause.name]
        remedies.sort(key=lambda remedy: remedy.disk_change is None)
        yield Reason(cause, remedies[0] if remedies else None)


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
        template = "{workload}, which would show {causes}"
        shown = (
            statement(template, workload=workload, causes=joined(names))
            for workload, names in missing.items()
        )
        yield statement(
            "measure {shown}: `{command}`, and give its group with the other results by --on",
            shown=joined(shown, "; "),
            command=submit_everything((leading.candidate, leading.baseline)),
        )


def forecast(predictions: Predictions, pool: str, reference: str) -> Forecast:
    """Return how much longer the task takes on its pool than on the reference."""
    task = next((task for task in predictions.tasks if task.pool in (pool, reference)), None)
    if task is None:
        return Forecast(None, reason=_why_nothing_is_predicted(predictions))
    is_of_reference = task.pool == reference
    elsewhere = pool if is_of_reference else reference
    row = next((row for row in task.pools if row.pool == elsewhere), None)
    if row is None or row.time_ns is None or row.low_ns is None or row.high_ns is None:
        reason = row.reason if row is not None else None
        return Forecast(task, reason=reason or statement("not predicted"))
    # From the reference to the pool, also where the profile was made on the pool.
    sign = 1 if is_of_reference else -1

    def ratio(time_ns: float) -> float:
        return float((time_ns / fmean(task.measured_ns)) ** sign)

    low, high = sorted((ratio(row.low_ns), ratio(row.high_ns)))
    waiting_ns = (row.added_by_writes_ns or 0.0) + (row.added_by_syncs_ns or 0.0)
    added_s = {
        Resource.DISKS: sign * waiting_ns / NS_PER_S,
        Resource.CPU: sign * (row.added_by_cpu_ns or 0.0) / NS_PER_S,
    }
    return Forecast(task, ratio(row.time_ns), Interval(low, high, PREDICTION_LEVEL), added_s)


def _why_nothing_is_predicted(predictions: Predictions) -> Statement:
    """Return the first reason that a task is not predicted, or that a profile is not read."""
    reasons = [row.reason for task in predictions.tasks for row in task.pools if row.reason]
    reasons += [statement("{line}", line=line) for line in predictions.unreadable]
    return reasons[0] if reasons else statement("no profile was made on one of the two pools")
