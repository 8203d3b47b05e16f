# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""A side's runs as independent workers: one machine counts once."""

import math
from collections.abc import Mapping, Sequence

from io_benchmark.analysis.inference.estimates import SideData
from io_benchmark.analysis.model import UNKNOWN, Problem, Severity, Subject
from io_benchmark.analysis.observed import machine_identity
from io_benchmark.analysis.validity.comparability import Run
from io_benchmark.analysis.words import percent

WORKERS_NAMED = 3


def by_machine(runs: Sequence[Run]) -> dict[str, list[Run]]:
    return machine_identity.group_by_machine(runs, lambda run: run[0].machine)


def independent(subject: Subject, side: str, runs: Sequence[Run]) -> tuple[SideData, list[Problem]]:
    """Two tasks on one machine are one worker: their means are averaged."""
    log_means, behind, problems = [], [], []
    for machine, shared in by_machine(runs).items():
        log_means.append(math.fsum(math.log(entry.mean_ns) for _, entry in shared) / len(shared))
        behind.append(tuple(entry for _, entry in shared))
        if len(shared) > 1:
            tasks = ", ".join(worker.task_id for worker, _ in shared)
            ids = sorted({worker.worker_id for worker, _ in shared} - {UNKNOWN, machine})
            also = f" (also {', '.join(ids)}, by its boot id)" if ids else ""
            problems.append(
                Problem(
                    "same-worker",
                    Severity.WARNING,
                    subject,
                    (side,),
                    f"{side}: {len(shared)} runs were on the same worker {machine}{also} and count "
                    f"as one: {tasks}",
                )
            )
    return SideData(tuple(log_means), tuple(behind)), problems


def shared_workers(
    subject: Subject, candidate: Sequence[Run], baseline: Sequence[Run]
) -> list[Problem]:
    """Sides are told apart by their machines; one that both ran on shows its settings alone."""
    ours, theirs = ({run[0].machine for run in side} for side in (candidate, baseline))
    both = sorted((ours & theirs) - {UNKNOWN})
    if not both:
        return []
    sides = baseline[0][0].side, candidate[0][0].side
    which = ", ".join(both[:WORKERS_NAMED])
    if len(both) > WORKERS_NAMED:
        which += f" and {len(both) - WORKERS_NAMED} more"
    text = f"{' and '.join(sides)} were measured on the same worker {which}"
    if len(ours) == len(theirs) == len(both):
        text += (
            ": a difference comes from their settings or from chance, not from their machines, and "
            "says nothing of other workers"
        )
    return [Problem("shared-worker", Severity.WARNING, subject, sides, text)]


def single_workers(
    subject: Subject,
    data: Mapping[str, SideData],
    pairs: Sequence[tuple[str, str]],
    worker_variation: float,
) -> list[Problem]:
    alone = sorted({side for pair in pairs for side in pair if data[side].count == 1})
    if not alone:
        return []
    return [
        Problem(
            "one-worker",
            Severity.WARNING,
            subject,
            tuple(alone),
            f"{', '.join(alone)}: one worker each shows nothing of how far workers of a pool differ; "
            f"{percent(worker_variation)} is assumed",
        )
    ]
