# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The runs of a side as independent workers: one machine counts once."""

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from io_benchmark.analysis.model import UNKNOWN, Comparison, Problem, Run, Severity, Subject
from io_benchmark.analysis.observed.machine_identity import by_machine
from io_benchmark.analysis.statements import Statement, count, joined, statement

_WORKERS_NAMED = 3
_CLOCK_S = 1  # a result's start is in whole seconds
_NS_PER_S = 1e9
_AT_ONCE = statement("some at the same time, which slows each of them")


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
    message = statement(
        "{side}: {runs} runs were on the same worker {worker} and count as one{at_once}",
        side=side,
        runs=count(len(runs)),
        worker=machine,
        at_once=statement("; {what}", what=_AT_ONCE) if _overlap(runs) else "",
    )
    explanation = statement(
        "Their tasks are {tasks}.{aliases}",
        tasks=joined(run.worker.task_id for run in runs),
        aliases=statement(" By its boot id it is also {ids}.", ids=joined(ids)) if ids else "",
    )
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
        "{baseline} and {candidate} were measured on the same worker {workers}",
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
    if any(map(_overlap, by_machine([*baseline, *candidate]))):
        message = statement("{message}; {at_once}", message=message, at_once=_AT_ONCE)
    return [Problem("shared-worker", Severity.WARNING, subject, sides, message, explanation)]


def _overlap(runs: Iterable[Run]) -> bool:
    """Return whether runs of one machine were there at the same time, by its own clock."""
    spans = [_span_s(run) for run in runs]
    latest_end_s = -math.inf
    for start_s, end_s in sorted(span for span in spans if span is not None):
        if start_s + _CLOCK_S <= latest_end_s:
            return True
        latest_end_s = max(latest_end_s, end_s)
    return False


def _span_s(run: Run) -> tuple[float, float] | None:
    """Return when a run began, rounded down, and the earliest time at which it ended."""
    result = run.worker.result
    try:
        start = datetime.fromisoformat(result.started).replace(tzinfo=UTC)
    except ValueError:
        return None
    return start.timestamp(), start.timestamp() + result.duration_ns / _NS_PER_S


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
