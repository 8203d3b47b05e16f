# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""From a result to a history's readings: origin, conditions and mean time of each measurement."""

import math
from datetime import UTC, datetime

from io_benchmark.analysis.history.bounds import IDENTIFIER, bounded, shortened
from io_benchmark.analysis.history.history_model import (
    Condition,
    Conditions,
    HistoryReading,
    LeftOut,
    Origin,
)
from io_benchmark.analysis.history.host_facts import facts_of
from io_benchmark.analysis.intake import worker_id_of
from io_benchmark.analysis.model import UNKNOWN, Run, Severity, Worker
from io_benchmark.analysis.observed import machine_identity
from io_benchmark.analysis.statements import statement
from io_benchmark.analysis.validity import rules
from io_benchmark.analysis.validity.comparability import SIDE_RULES, traits_text
from io_benchmark.sources.protocol import RunResult


def readings_of(
    worker: Worker, origin: Origin, task_queue: str | None, image: str | None
) -> tuple[list[HistoryReading], list[LeftOut]]:
    """Return a reading of each measurement that no rule refuses."""
    runs = [Run(worker, entry) for entry in worker.entries]
    kept, problems = rules.check_runs(runs, frozenset())
    readings = [
        HistoryReading(
            origin=origin,
            subject=run.entry.subject,
            conditions=_conditions(run),
            log_mean=math.log(run.entry.mean_ns),
            facts=facts_of(worker.result, run.entry.subject.place, task_queue, image),
        )
        for run in kept
        if run.entry.mean_ns > 0
    ]
    when = origin.time.date().isoformat()
    left_out = [
        LeftOut(when, statement("{rule}: {message}", rule=problem.rule, message=problem.message))
        for problem in problems
        if problem.severity is Severity.REFUSED
    ]
    if not worker.entries:
        reason = worker.result.outcome.explanation or "no reason given"
        nothing = statement(
            "{task}: measured nothing: {reason}", task=rules.task_name(worker), reason=reason
        )
        left_out.append(LeftOut(when, nothing))
    return bounded(readings, left_out, when, rules.task_name(worker))


def origin_of(measured: RunResult) -> Origin | None:
    """Return where and when a result was measured; None without a time.

    The queue's record is preferred to the result's own. A result without a task group, measured
    outside Taskcluster, is a separate point.
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
    """Return a time in UTC, which is also the zone of a time without one."""
    try:
        time = datetime.fromisoformat(text)
        return time.replace(tzinfo=time.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _conditions(run: Run) -> Conditions:
    """Return the traits by which rules would refuse a comparison."""
    return tuple(
        Condition(name, traits_text(traits))
        for name, (severity, traits_of) in SIDE_RULES.items()
        if severity is Severity.REFUSED and (traits := traits_of(run))
    )
