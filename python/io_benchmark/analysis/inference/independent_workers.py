# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The runs of a side as independent workers: one machine counts once."""

from collections.abc import Mapping, Sequence

from io_benchmark.analysis.model import UNKNOWN, Comparison, Problem, Run, Severity, Subject
from io_benchmark.analysis.observed.machine_identity import by_machine
from io_benchmark.analysis.statements import Statement, count, joined, statement

_WORKERS_NAMED = 3


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
        "{side}: {runs} runs were on the same worker {worker} and count as one",
        side=side,
        runs=count(len(runs)),
        worker=machine,
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
    return [Problem("shared-worker", Severity.WARNING, subject, sides, message, explanation)]


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
