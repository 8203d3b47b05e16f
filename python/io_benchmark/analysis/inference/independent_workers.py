# SPDX-License-Identifier: MPL-2.0
"""The runs of a side as independent workers: one machine counts once."""

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from io_benchmark.analysis.model import (
    UNKNOWN,
    Comparison,
    Problem,
    Run,
    Severity,
    Subject,
    Worker,
)
from io_benchmark.analysis.observed.machine_identity import by_machine
from io_benchmark.analysis.statements import Quantity, Statement, Unit, count, joined, statement
from io_benchmark.results import Result
from io_benchmark.results.workload import NS_PER_S

_WORKERS_NAMED = 3
_CLOCK_S = 1  # a result's start is in whole seconds
# Machines and their neighbours are as busy an hour later as they were.
_APART_S = 3600
AT_ONCE = statement("some at the same time, which slows each of them")


def repeated_workers(subject: Subject, side: str, runs: Sequence[Run]) -> list[Problem]:
    """Return a problem for each machine that several of a side's tasks ran on."""
    return [
        _repeated_worker(subject, side, of_machine)
        for of_machine in by_machine(runs)
        if len(of_machine) > 1
    ]


def _repeated_worker(subject: Subject, side: str, runs: Sequence[Run]) -> Problem:
    machine = runs[0].worker.machine
    ids = sorted({run.worker.worker_id for run in runs} - {UNKNOWN, machine})
    tasks = [run.worker.task_id for run in runs if run.worker.task_id != UNKNOWN]
    at_once = machines_used_at_once(run.worker for run in runs)
    message = statement(
        "{side}: {runs} runs were on the same machine {worker} and count as one{at_once}",
        side=side,
        runs=count(len(runs)),
        worker=machine,
        at_once=statement("; {what}", what=AT_ONCE) if at_once else "",
    )
    explanations = [statement("Their tasks are {tasks}.", tasks=joined(tasks))] if tasks else []
    if ids:
        explanations.append(statement("By its boot id it is also {ids}.", ids=joined(ids)))
    explanation = joined(explanations, " ") if explanations else None
    return Problem("same-worker", Severity.WARNING, subject, (side,), message, explanation)


def shared_workers(
    subject: Subject, candidate: Sequence[Run], baseline: Sequence[Run]
) -> list[Problem]:
    """Return a problem where both sides ran on the same machine, which shows only their settings."""
    ours, theirs = ({run.worker.machine for run in side} for side in (candidate, baseline))
    both = sorted((ours & theirs) - {UNKNOWN})
    if not both:
        return []
    sides = baseline[0].worker.side, candidate[0].worker.side
    more = len(both) - _WORKERS_NAMED
    named = joined(both[:_WORKERS_NAMED])
    if more > 0:
        named = statement("{workers} and {more} more", workers=named, more=count(more))
    message = statement(
        "{baseline} and {candidate} were measured on the same machine {workers}",
        baseline=sides[0],
        candidate=sides[1],
        workers=named,
    )
    explanation = None
    if len(ours) == len(theirs) == len(both):
        message = statement("{message}, so their machines do not differ", message=message)
        explanation = statement(
            "A difference comes from their settings or from chance. It does not apply to other workers."
        )
    if machines_used_at_once(run.worker for run in (*baseline, *candidate)).intersection(both):
        message = statement("{message}; {at_once}", message=message, at_once=AT_ONCE)
    return [Problem("shared-worker", Severity.WARNING, subject, sides, message, explanation)]


def measured_apart(
    subject: Subject, candidate: Sequence[Run], baseline: Sequence[Run]
) -> list[Problem]:
    """Return a problem where all runs of a side of one push were later than all of the other.

    A day has slow hours, and workers that were measured together share them. Two pushes, or a pool
    before and after, are compared because of what changed between them.
    """
    runs = (*baseline, *candidate)
    spans = [
        (run.worker.side, span) for run in runs if (span := _span_s(run.worker.result)) is not None
    ]
    groups = {run.worker.result.task.task_group_id for run in runs}
    pools = {run.worker.pool for run in runs}
    if len(groups) > 1 or len(pools) == 1 or len(spans) < len(runs):
        return []
    first, _ = min(spans, key=_start_s)
    names = baseline[0].worker.side, candidate[0].worker.side
    second = names[first == names[0]]
    ended_s = max(end for side, (_, end) in spans if side == first)
    apart_s = min(start for side, (start, _) in spans if side == second) - ended_s
    if apart_s < _APART_S:
        return []
    message = statement(
        "{second} was measured {hours} hours after {first}: a difference may be that of the time of day",
        second=second,
        first=first,
        hours=Quantity(apart_s / 3600, Unit.NUMBER),
    )
    return [Problem("measured-apart", Severity.WARNING, subject, names, message)]


def _start_s(span: tuple[str, tuple[float, float]]) -> float:
    return span[1][0]


def machines_used_at_once(workers: Iterable[Worker]) -> set[str]:
    """Return the machines that ran several of the tasks at the same time, by their own clock."""
    spans: dict[str, list[tuple[float, float]]] = {}
    for worker in workers:
        span_s = _span_s(worker.result)
        if span_s is not None and worker.machine != UNKNOWN:
            spans.setdefault(worker.machine, []).append(span_s)
    return {machine for machine, each in spans.items() if _overlap(sorted(each))}


def _overlap(spans_s: Iterable[tuple[float, float]]) -> bool:
    latest_end_s = -math.inf
    for start_s, end_s in spans_s:
        if start_s + _CLOCK_S <= latest_end_s:
            return True
        latest_end_s = max(latest_end_s, end_s)
    return False


def _span_s(result: Result) -> tuple[float, float] | None:
    """Return when a run began, rounded down, and the earliest time at which it ended."""
    try:
        start_s = datetime.fromisoformat(result.started).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None
    return start_s, start_s + result.duration_ns / NS_PER_S


def single_workers(
    subject: Subject, comparisons: Sequence[Comparison], workers: Mapping[str, int]
) -> list[Problem]:
    """Return a problem for each variation that is assumed of compared sides with a single worker."""
    sides: dict[tuple[Statement, Statement | None], set[str]] = {}
    for each in comparisons:
        if each.assumed_variation is not None:
            both = {side for side in (each.baseline, each.candidate) if workers[side] == 1}
            assumed = each.assumed_variation
            sides.setdefault((assumed.message, assumed.explanation), set()).update(both)
    text = "one worker does not show how far workers of its pool differ; {assumed}"
    return [
        Problem(
            "one-worker",
            Severity.WARNING,
            subject,
            tuple(sorted(single)),
            statement(text, assumed=message),
            explanation,
        )
        for (message, explanation), single in sides.items()
        if single
    ]
