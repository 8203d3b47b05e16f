# SPDX-License-Identifier: MPL-2.0
"""What reports say about the two pools of an investigation, as findings that a journal can keep."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean

from msgspec.structs import replace

from io_benchmark.analysis.diagnosis_model import Diagnosis, State
from io_benchmark.analysis.investigation.conclusion import MIXED
from io_benchmark.analysis.investigation.investigation_model import (
    Explanation,
    Forecast,
    Machines,
    Reason,
    Resource,
)
from io_benchmark.analysis.model import Comparison, Severity, Verdict, WorkerLine
from io_benchmark.analysis.observed.disks import MachineType
from io_benchmark.analysis.prediction import Predictions, TaskPrediction
from io_benchmark.analysis.report_model import MixedPool, Report
from io_benchmark.number_text import digits, size
from io_benchmark.report.content import evidence_text, text_of
from io_benchmark.results.parts import NS_PER_S
from io_benchmark.text import clean

_LENGTH, _NAME_LENGTH = 800, 200
_QUESTIONS = 8
# The measurement that says most comes first.
_ORDER = (Verdict.SLOWER, Verdict.INCONCLUSIVE, Verdict.EQUIVALENT, Verdict.FASTER)


def explanation_of(report: Report, pool: str, reference: str) -> Explanation:
    """Return how the pool compares with the reference, and the causes that hold."""
    compared = {
        part.subject: (part, comparison)
        for part in report.subjects
        for comparison in part.comparisons
        if comparison.candidate == pool
    }
    types = _type_of(report.workers, pool), _type_of(report.workers, reference)
    if not compared:
        refused = [line for line in report.problems if line.severity is not Severity.WARNING]
        problems = [*(text_of(line.message) for line in refused), *report.unreadable]
        return Explanation(verdict=None, machine_types=types, open_questions=_lines(problems))
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
    reasons = (
        [_mixed(mixed)] if mixed else [reason for each in diagnoses for reason in _reasons(each)]
    )
    slower = _slower_types(report.workers, mixed) if mixed else set()
    return Explanation(
        verdict=leading.verdict,
        ratio=leading.ratio,
        low_ratio=max(1e-9, leading.interval.low_ratio),
        high_ratio=min(1e9, leading.interval.high_ratio),
        workers=(part.workers(pool), part.workers(reference)),
        workers_to_add=leading.advice.workers_to_add if leading.advice else None,
        reasons=tuple(dict.fromkeys(reasons)),
        machine_types=types,
        slower_machine_type=clean(slower.pop(), _NAME_LENGTH) if len(slower) == 1 else "",
        open_questions=_lines(_questions(report, diagnoses, leading)),
    )


def _slower_types(workers: Sequence[WorkerLine], pool: MixedPool) -> set[str]:
    """Return the machine types that only slower workers of a mixed pool have."""
    types: dict[bool, set[str]] = {True: set(), False: set()}
    for worker in workers:
        if worker.side == pool.side:
            is_slower = not {worker.machine, worker.task_id}.isdisjoint(pool.slower)
            types[is_slower].add(MachineType(worker.instance_type).name)
    return types[True] - types[False]


def _mixed(pool: MixedPool) -> Reason:
    return Reason(
        cause=MIXED,
        state=State.SUPPORTED.value,
        hypothesis="Its machines are of two kinds.",
        evidence=clean(" ".join(map(text_of, pool.remedy.evidence)), _LENGTH),
        action=clean(text_of(pool.remedy.action), _LENGTH),
        gain_ratio=pool.remedy.gain_ratio,
        is_measured=True,
    )


def _reasons(diagnosis: Diagnosis) -> Iterator[Reason]:
    """Yield the causes that hold, the confirmed ones first, each with its first remedy."""
    causes = [cause for cause in diagnosis.causes if cause.state.holds]
    for cause in sorted(causes, key=lambda cause: (cause.state.value, -(cause.share or 0))):
        remedy = next((each for each in diagnosis.remedies if each.cause == cause.name), None)
        both = (cause.candidate_evidence, cause.baseline_evidence)
        facts = [text_of(side.summary) if side.summary else evidence_text(side) for side in both]
        evidence = [" against ".join(facts) + ".", *map(text_of, cause.explanation)]
        yield Reason(
            cause=cause.name,
            state=cause.state.value,
            hypothesis=cause.hypothesis,
            evidence=clean(" ".join(evidence), _LENGTH),
            action=clean(text_of(remedy.action), _LENGTH) if remedy else "",
            gain_ratio=remedy.gain_ratio if remedy else None,
            is_measured=remedy is not None and remedy.measured,
        )


def _questions(
    report: Report, diagnoses: Sequence[Diagnosis], leading: Comparison
) -> Iterator[str]:
    """Yield what would say more: an obstacle, a machine that alone is slow, and workloads."""
    if leading.advice is not None and leading.advice.obstacle is not None:
        yield text_of(leading.advice.obstacle)
    for single in report.single_workers:
        if single.side == leading.candidate and single.verdict is Verdict.SLOWER:
            yield f"look at {single.machine}, which alone is slower (tasks {', '.join(single.tasks)})"
    for cause in (cause for diagnosis in diagnoses for cause in diagnosis.causes):
        if cause.workload is not None:
            yield f"measure {cause.workload}, which would show {cause.name}"


def _lines(lines: Iterable[str]) -> tuple[str, ...]:
    return tuple(clean(line, _LENGTH) for line in dict.fromkeys(lines))[:_QUESTIONS]


def _type_of(workers: Sequence[WorkerLine], pool: str) -> str:
    """Return the machine type that most workers of a pool have."""
    names = (MachineType(worker.instance_type).name for worker in workers if worker.pool == pool)
    counts = Counter(clean(name, _NAME_LENGTH) for name in names if name)
    return counts.most_common(1)[0][0] if counts else ""


def pool_of(queue: str, pools: Mapping[str, str]) -> str | None:
    """Return the benchmark's name of a worker pool: by its queue, else by its worker type."""
    if queue in pools:
        return pools[queue]
    worker_type = queue.rpartition("/")[2]
    same = {pool for name, pool in pools.items() if name.rpartition("/")[2] == worker_type}
    same = same or {pool for pool in pools.values() if pool == worker_type}
    return same.pop() if len(same) == 1 else None


def forecast_of(predictions: Predictions, machines: Machines) -> Forecast:
    """Return how much longer the task takes on the pool than on the reference."""
    pools = {machines.pool: machines.reference, machines.reference: machines.pool}
    task = next((task for task in predictions.tasks if task.pool in pools), None)
    if task is None:
        rows = (row for task in predictions.tasks for row in task.pools)
        reasons = [*(text_of(row.reason) for row in rows if row.reason), *predictions.unreadable]
        reason = (*reasons, "no profile was made on one of the two pools")[0]
        return Forecast(profiles=0, reason=clean(reason, _LENGTH))
    forecast = Forecast(
        profiles=len(task.measured_ns), profiled_on=task.pool or "", demand=_demand(task)
    )
    row = next((row for row in task.pools if row.pool == pools[task.pool or ""]), None)
    if row is None or row.time_ns is None or row.low_ns is None or row.high_ns is None:
        reason = text_of(row.reason) if row is not None and row.reason else "not predicted"
        return replace(forecast, reason=clean(reason, _LENGTH))
    # From the reference to the pool, also where the profile was made on the pool.
    sign = 1 if task.pool == machines.reference else -1
    times = (row.time_ns, row.low_ns, row.high_ns)
    middle, *ends = [(time_ns / fmean(task.measured_ns)) ** sign for time_ns in times]
    waiting_ns = (row.added_by_writes_ns or 0.0) + (row.added_by_syncs_ns or 0.0)
    added_ns = {Resource.DISKS: waiting_ns, Resource.CPU: row.added_by_cpu_ns or 0.0}
    return replace(
        forecast,
        ratio=middle,
        low_ratio=max(1e-9, min(ends)),
        high_ratio=min(1e9, max(ends)),
        added_s={name: sign * time_ns / NS_PER_S for name, time_ns in added_ns.items()},
    )


def _demand(task: TaskPrediction) -> str:
    if task.cpus_used is None or task.written_bytes is None or task.read_bytes is None:
        return ""
    return (
        f"{digits(task.cpus_used)} CPUs used, {size(task.written_bytes)} written to disks, "
        f"{size(task.read_bytes)} read"
    )
