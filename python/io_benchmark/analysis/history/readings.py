# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""From a result to a history's readings: where and when, under which conditions, how long."""

import math
from datetime import UTC, datetime

from io_benchmark.analysis.history.bounds import IDENTIFIER, bounded, shortened
from io_benchmark.analysis.history.history_model import Conditions, LeftOut, Origin, Reading
from io_benchmark.analysis.history.host_facts import facts_of
from io_benchmark.analysis.intake import worker_id_of
from io_benchmark.analysis.model import UNKNOWN, Severity, Worker
from io_benchmark.analysis.observed import machine_identity
from io_benchmark.analysis.validity import rules
from io_benchmark.analysis.validity.rules import Run
from io_benchmark.sources.protocol import RunResult


def readings_of(
    worker: Worker, origin: Origin, task_queue: str | None, image: str | None
) -> tuple[list[Reading], list[LeftOut]]:
    """What a worker measured, as far as it may be judged at all."""
    runs = [(worker, entry) for entry in worker.entries]
    kept, problems = rules.check_runs(runs, frozenset())
    readings = [
        Reading(
            origin=origin,
            subject=run[1].subject,
            conditions=_conditions(run),
            log_mean=math.log(run[1].mean_ns),
            facts=facts_of(worker.result, run[1].subject.place, task_queue, image),
        )
        for run in kept
        if run[1].mean_ns > 0
    ]
    when = origin.time.date().isoformat()
    left_out = [
        LeftOut(when, f"{problem.rule}: {problem.message}")
        for problem in problems
        if problem.severity is Severity.REFUSED
    ]
    if not worker.entries:
        reason = worker.result.incomplete_reason or "no reason given"
        left_out.append(LeftOut(when, f"{rules.task_name(worker)}: measured nothing: {reason}"))
    return bounded(readings, left_out, f"{when}, {rules.task_name(worker)}")


def origin_of(measured: RunResult) -> Origin | None:
    """Where it is from; None where nothing says when that was.

    What the queue says goes before what the result says of itself. A result without a task group,
    measured outside Taskcluster, is a point of its own.
    """
    result, task = measured.result, measured.task
    time = (task and _time(task.started)) or _time(result.started)
    if time is None:
        return None
    task_id = (task.task_id if task else result.task.task_id) or UNKNOWN
    group = (task.task_group_id if task else None) or result.task.task_group_id
    worker_id = shortened(worker_id_of(task), IDENTIFIER)
    revision = task.revision if task else None
    task_id = shortened(task_id, IDENTIFIER)
    return Origin(
        group=shortened(group or f"{task_id} {time.isoformat()}", IDENTIFIER),
        time=time,
        revision=None if revision is None else shortened(revision, IDENTIFIER),
        task_id=task_id,
        run_id=task.run_id if task else result.task.run_id,
        worker_id=worker_id,
        source=measured.source,
        marks=machine_identity.marks_of(worker_id, result),
    )


def _time(text: str) -> datetime | None:
    """In UTC; without a zone, it is that."""
    try:
        time = datetime.fromisoformat(text)
        return time.replace(tzinfo=time.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _conditions(run: Run) -> Conditions:
    """What has to be alike, by the rules that would refuse a comparison."""
    return tuple(
        (name, words)
        for name, (severity, rule) in rules.SIDE_RULES.items()
        if severity is Severity.REFUSED and (words := rule(run))
    )
