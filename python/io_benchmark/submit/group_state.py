# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The tasks that a stopped submission still lacks.

The queue is asked for the tasks by their ids, which follow from the group's: a listing of the group
may be behind.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from io_benchmark.errors import MissingError, ResultError
from io_benchmark.sources.taskcluster.deployment import Deployment
from io_benchmark.submit.definitions import GroupMember, ReadyTask
from io_benchmark.submit.submission import Submission, parse_record, task_ids

# The queue takes a task for 15 minutes after its `created`. Until shortly before that the tasks keep
# the dates that they were given first, so that a request of the stopped process that still arrives
# creates the same task.
SAME_DATES = timedelta(minutes=10)


@dataclass(frozen=True)
class _GroupState:
    """The existing tasks of a submission, by their number in it."""

    existing: dict[int, GroupMember]
    count: int

    @property
    def missing(self) -> list[int]:
        return [number for number in range(self.count) if number not in self.existing]


async def read_submission(deployment: Deployment, group_id: str) -> Submission:
    """Read the submission from the group's first task."""
    group = f"group:{group_id}"
    try:
        extra = await deployment.extra_of(group_id)
    except MissingError:
        raise ResultError(
            f"{group}: {deployment.access.root_url} has no such task, and this machine has no "
            "journal of it; if none of its tasks was created, run submit again"
        ) from None
    return parse_record(extra, group)


async def read_group_state(
    deployment: Deployment, group_id: str, submission: Submission
) -> _GroupState:
    ids = task_ids(group_id, submission.tasks)
    found = await deployment.tasks(ids)
    existing = {}
    for number, task_id in enumerate(ids):
        task = found.get(task_id)
        if task is None:
            continue
        if task.status.task_group_id != group_id:
            raise ResultError(
                f"group:{group_id}: task {task_id} belongs to another group; run submit again"
            )
        if _has_expired(task.status.expires):
            raise ResultError(f"group:{group_id}: its tasks have expired; run submit again")
        existing[number] = GroupMember(task_id, task.label)
    return _GroupState(existing, submission.tasks)


def all_members(state: _GroupState, ready: tuple[ReadyTask, ...] | None) -> list[GroupMember]:
    """Return all tasks in order; `ready` is needed if some are missing."""
    return [
        state.existing[number] if number in state.existing else (ready or ())[number]
        for number in range(state.count)
    ]


def dates_start(created: datetime, now: datetime) -> datetime:
    """Return the time from which the dates of the missing tasks count."""
    return created if timedelta() <= now - created < SAME_DATES else now


def _has_expired(expires: str | None) -> bool:
    try:
        return expires is not None and datetime.fromisoformat(expires) < datetime.now(UTC)
    except (ValueError, TypeError):  # not a date, or one without a zone
        return False
