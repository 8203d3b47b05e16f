# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""A side's runs as independent workers: one machine counts once."""

import math
from collections.abc import Mapping, Sequence

from io_benchmark.analysis.likeness import Run
from io_benchmark.analysis.model import Problem, Severity, Subject
from io_benchmark.analysis.statistics import SideData
from io_benchmark.analysis.words import percent

UNKNOWN = "unknown"


def by_machine(runs: Sequence[Run]) -> dict[str, list[Run]]:
    """One whose machine is not known stands for itself."""
    found: dict[str, list[Run]] = {}
    for at, run in enumerate(runs):
        machine = run[0].worker_id
        found.setdefault(machine if machine != UNKNOWN else f"#{at}", []).append(run)
    return found


def independent(subject: Subject, side: str, runs: Sequence[Run]) -> tuple[SideData, list[Problem]]:
    """Two tasks on one machine are one worker: their means are averaged."""
    log_means, problems = [], []
    for machine, shared in by_machine(runs).items():
        log_means.append(math.fsum(math.log(entry.mean_ns) for _, entry in shared) / len(shared))
        if len(shared) > 1:
            tasks = ", ".join(worker.task_id for worker, _ in shared)
            problems.append(
                Problem(
                    "same-worker",
                    Severity.WARNING,
                    subject,
                    (side,),
                    f"{side}: {len(shared)} runs were on the same worker {machine} and count as "
                    f"one: {tasks}",
                )
            )
    return SideData(tuple(log_means), tuple(entry for _, entry in runs)), problems


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
