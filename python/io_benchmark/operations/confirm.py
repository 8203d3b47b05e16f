# SPDX-License-Identifier: MPL-2.0
"""Confirms the cause in a group: creates the runs that are missing in it, waits and compares.

Nothing is kept between two calls. What is missing follows from the group, and a task's id from the
group and the task's label, so the same command completes what was stopped.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from statistics import fmean

from io_benchmark.analysis.trials.confirm import Pace
from io_benchmark.errors import ResultError
from io_benchmark.operations.announcement import Announcement
from io_benchmark.operations.compare import compare_pools
from io_benchmark.operations.group_runs import GroupRun
from io_benchmark.operations.group_work import GroupWork, address_of, check_baseline
from io_benchmark.operations.submission_options import (
    DONE,
    NOT_DONE,
    SubmissionOptions,
    SubmissionOutcome,
)
from io_benchmark.operations.user import User
from io_benchmark.report.content.confirming import pace_text, reasons_text
from io_benchmark.submit.confirming_group import ConfirmingGroup
from io_benchmark.submit.definitions import ReadyTask, SelectedTask
from io_benchmark.submit.earlier import NS_PER_MINUTE
from io_benchmark.submit.repeating import repeated_task
from io_benchmark.submit.submission import ready_in_group
from io_benchmark.submit.task_creation import CreatedTasks, TaskQueue


def confirm(text: str, options: SubmissionOptions, user: User) -> SubmissionOutcome:
    """Create the confirming tasks that a group lacks, wait for all of them, and compare."""
    environment = user.environment
    address = address_of("--confirm", text, environment)
    group = TaskQueue.connect(environment, lambda queue: ConfirmingGroup.read(queue, address))
    runs = GroupRun.read_all(group.group_id, user)
    if not runs:
        raise ResultError(
            f"group:{group.group_id}: has no results to confirm; wait for its tasks, or submit new ones"
        )
    check_baseline(options, {run.worker.pool for run in runs})
    missing = _missing(group, runs, options.baseline)
    if isinstance(missing, str):
        user.tell(f"Nothing to confirm in group:{group.group_id}: {missing}")
        return SubmissionOutcome(group.group_id)
    for pace in missing:
        user.tell(f"To confirm: {pace_text(pace)}")
    chosen = TaskQueue.connect(environment, lambda queue: _chosen(queue, group, runs, missing))
    announcement = Announcement(
        chosen, _scheduler(chosen), _minutes(runs, chosen), prices=options.prices
    )
    if options.dry_run:
        announcement.print_instead(_ready(group, chosen), user)
        return DONE
    if chosen and not announcement.is_agreed(user, yes=options.yes):
        return NOT_DONE
    ready, underway = _ready(group, chosen), group.members
    work = GroupWork(group.group_id, ready, [*underway, *ready], "--confirm", options.baseline)
    user.tell(
        f"Confirming in group:{group.group_id}; if this stops, go on with: {work.how_to_resume}"
    )
    return work.create_and_wait_for_all(options, user, CreatedTasks(underway, len(underway)))


def _missing(
    group: ConfirmingGroup, runs: Sequence[GroupRun], baseline: str | None
) -> Sequence[Pace] | str:
    """Return the runs to create, none where all of them are underway; or why none is needed."""
    confirming = compare_pools([run.worker for run in runs], baseline).confirming
    if not confirming.paces and not group.underway:
        return reasons_text(confirming)
    return [
        pace
        for pace in confirming.paces
        if not any(pace.is_like(task.pool, task.bytes_per_s) for task in group.underway)
    ]


async def _chosen(
    queue: TaskQueue, group: ConfirmingGroup, runs: Sequence[GroupRun], missing: Sequence[Pace]
) -> list[SelectedTask]:
    labels, chosen = list(group.labels), []
    for pace in missing:
        model = next(run for run in runs if run.worker.pool == pace.pool and run.has_ceilings)
        definition = await queue.definition(model.worker.task_id)
        task = repeated_task(definition, model.label, pace.pool, labels, pace.bytes_per_s)
        labels.append(task.label)
        chosen.append(task)
    return chosen


def _scheduler(chosen: Sequence[SelectedTask]) -> str:
    """Return the group's scheduler, which all its tasks have."""
    return next((str(task.definition["schedulerId"]) for task in chosen), "")


def _minutes(runs: Sequence[GroupRun], chosen: Sequence[SelectedTask]) -> dict[str, float]:
    """Return what each pool's tasks took in this group, by job."""
    return {
        task.job: fmean(run.duration_ns for run in runs if run.worker.pool == task.pool)
        / NS_PER_MINUTE
        for task in chosen
    }


def _ready(group: ConfirmingGroup, chosen: Sequence[SelectedTask]) -> list[ReadyTask]:
    now = datetime.now(UTC)
    return [ready_in_group(task, group.group_id, now) for task in chosen]
