# SPDX-License-Identifier: MPL-2.0
"""The runs of a side as independent workers: one machine counts once."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise

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
    problems = []
    for repeated in (machine_runs for machine_runs in by_machine(runs) if len(machine_runs) > 1):
        machine = repeated[0].worker.machine
        ids = sorted({run.worker.worker_id for run in repeated} - {UNKNOWN, machine})
        tasks = [run.worker.task_id for run in repeated if run.worker.task_id != UNKNOWN]
        at_once = machines_used_at_once(run.worker for run in repeated)
        message = statement(
            "{side}: {runs} runs were on the same machine {worker} and count as one"
            + ("; {at_once}" if at_once else ""),
            side=side,
            runs=count(len(repeated)),
            worker=machine,
            at_once=AT_ONCE,
        )
        named = (("Their tasks are {}.", tasks), ("By its boot id it is also {}.", ids))
        explanations = [
            statement(text.format("{names}"), names=joined(names)) for text, names in named if names
        ]
        explanation = joined(explanations, " ") if explanations else None
        problems.append(
            Problem("same-worker", Severity.WARNING, subject, (side,), message, explanation)
        )
    return problems


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
    first, _ = min(spans, key=lambda span: span[1][0])
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


def machines_used_at_once(workers: Iterable[Worker]) -> set[str]:
    """Return the machines that ran several of the tasks at the same time, by their own clock."""
    spans: dict[str, list[tuple[float, float]]] = {}
    for worker in workers:
        span_s = _span_s(worker.result)
        if span_s is not None and worker.machine != UNKNOWN:
            spans.setdefault(worker.machine, []).append(span_s)
    # Of spans that overlap, one overlaps the next to start or to end.
    return {
        machine
        for machine, spans_s in spans.items()
        if any(start + _CLOCK_S <= end for (_, end), (start, _) in pairwise(sorted(spans_s)))
    }


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
        single = {side for side in (each.baseline, each.candidate) if workers[side] == 1}
        if each.assumed_variation is not None and single:
            assumed = each.assumed_variation
            sides.setdefault((assumed.message, assumed.explanation), set()).update(single)
    problems = []
    for (assumption, explanation), names in sides.items():
        text = "one worker does not show how far workers of its pool differ; {assumed}"
        message = statement(text, assumed=assumption)
        names_in_order = tuple(sorted(names))
        problems.append(
            Problem("one-worker", Severity.WARNING, subject, names_in_order, message, explanation)
        )
    return problems
