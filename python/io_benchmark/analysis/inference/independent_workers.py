# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The runs of a side as independent workers: one machine counts once."""

import math
from collections.abc import Collection, Sequence

from io_benchmark.analysis.inference import variances
from io_benchmark.analysis.inference.estimates import SideData
from io_benchmark.analysis.inference.levels import DEFAULT_WORKER_VARIATION
from io_benchmark.analysis.model import UNKNOWN, Problem, Run, Severity, Subject
from io_benchmark.analysis.observed.machine_identity import by_machine
from io_benchmark.analysis.statements import count, joined, share, statement

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
        "{side}: {runs} runs were on the same worker {worker}{aliases} and count as one: {tasks}",
        side=side,
        runs=count(len(runs)),
        worker=machine,
        aliases=statement(" (also {ids}, by its boot id)", ids=joined(ids)) if ids else "",
        tasks=joined(run.worker.task_id for run in runs),
    )
    return Problem("same-worker", Severity.WARNING, subject, (side,), message)


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
    if len(ours) == len(theirs) == len(both):
        message = statement(
            "{message}: a difference comes from their settings or from chance, not from their "
            "machines, and does not apply to other workers",
            message=message,
        )
    return [Problem("shared-worker", Severity.WARNING, subject, sides, message)]


def assumed_variation(sides: Collection[SideData]) -> float:
    """Return how far the workers of a side with one worker are assumed to differ.

    That is as far as the workers of the other sides do, and not less than usual: one pool may be more
    even than another.
    """
    if all(side.count > 1 for side in sides):
        return DEFAULT_WORKER_VARIATION
    known = variances.pooled([side.log_means for side in sides])
    seen = 0.0 if known is None else math.sqrt(known.variance)
    return max(DEFAULT_WORKER_VARIATION, seen)


def single_workers(
    subject: Subject, sides: Sequence[str], worker_variation: float
) -> list[Problem]:
    """Return a problem where compared sides have a single worker."""
    if not sides:
        return []
    message = statement(
        "one worker does not show how far workers of its pool differ; {variation} is assumed",
        variation=share(worker_variation),
    )
    return [Problem("one-worker", Severity.WARNING, subject, tuple(sides), message)]
