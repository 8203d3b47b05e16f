# SPDX-License-Identifier: MPL-2.0
"""A submission: the tasks of its group, their ids and their dates.

Each task has the submission's record in its `extra`. So any task of the group shows all tasks that were
planned. A task's id follows from the group's id and the task's number. So the same ids are used when the
rest is created after a crash, and the queue creates each id only once.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from msgspec import Struct

from io_benchmark.errors import GraphError, MissingError, ResultError
from io_benchmark.sources.run_results import queue_time
from io_benchmark.sources.taskcluster.deployment import Deployment
from io_benchmark.submit.definitions import (
    PRIORITIES,
    QUEUE_NAME,
    GroupMember,
    ReadyTask,
    SelectedTask,
    SubmissionSettings,
    job_of,
)
from io_benchmark_taskgraph import repeating
from io_benchmark_taskgraph.repeating import RELATIVE, SUBMISSION, derived_id

VERSION = 1
MAXIMUM_TASKS = 10_000
_UNITS_S = {
    "second": 1,
    "minute": 60,
    "hour": 3600,
    "day": 86_400,
    "week": 7 * 86_400,
    "month": 30 * 86_400,
    "year": 365 * 86_400,
}
_AMOUNT = re.compile(r"([0-9]{1,8}) *([a-z]+?)s?")


class Submission(Struct, frozen=True):
    """Describes a group's tasks. `sha256` covers them without dates, ids and this record."""

    jobs: tuple[str, ...]
    settings: SubmissionSettings
    tasks: int
    sha256: str
    version: int = VERSION

    @classmethod
    def of(
        cls, jobs: Sequence[str], settings: SubmissionSettings, chosen: Sequence[SelectedTask]
    ) -> "Submission":
        """Describe the chosen tasks."""
        wanted = [[task.label, task.definition] for task in chosen]
        text = json.dumps(wanted, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
        digest = hashlib.sha256(text.encode()).hexdigest()
        return cls(tuple(jobs), settings, len(chosen), digest)

    @classmethod
    async def read(cls, deployment: Deployment, group_id: str) -> "Submission":
        """Read the submission from the group's first task."""
        group = f"group:{group_id}"
        try:
            extra = (await deployment.definition(group_id)).get("extra")
        except MissingError:
            raise ResultError(
                f"{group}: {deployment.access.root_url} has no such task; if none of its tasks "
                "was created, run submit again"
            ) from None
        return cls.parse(extra, group)

    @classmethod
    def parse(cls, extra: Any, group: str) -> "Submission":
        """Parse the submission in a task's `extra`; `group` names the group in errors."""
        record = extra.get(SUBMISSION) if isinstance(extra, dict) else None
        if record is None:
            raise ResultError(
                f"{group}: its first task does not contain the submission, so its missing tasks "
                f"are unknown; compare the existing tasks with: io-benchmark compare {group}"
            )
        if isinstance(record, dict) and record.get("version") != VERSION:
            raise ResultError(
                f"{group}: was submitted by another version of io-benchmark; resume it with that version"
            )
        try:
            submission = msgspec.convert(record, cls)
        except (msgspec.ValidationError, RecursionError):
            submission = None
        if submission is None or not submission.is_sound:
            raise ResultError(
                f"{group}: the submission's record in its first task is malformed; compare the "
                f"existing tasks with: io-benchmark compare {group}"
            )
        return submission

    @property
    def is_sound(self) -> bool:
        settings = self.settings
        queues = all(QUEUE_NAME.fullmatch(queue) for queue in settings.pools.values())
        priority = settings.priority is None or settings.priority in PRIORITIES
        replicates = settings.replicates is None or 0 < settings.replicates <= self.tasks
        rising = settings.looks == tuple(sorted(set(settings.looks)))
        return rising and queues and priority and replicates and 0 < self.tasks <= MAXIMUM_TASKS

    def task_ids(self, group_id: str) -> list[str]:
        """Return the tasks' ids; the group's id is that of its first task."""
        return [group_id, *(derived_id(group_id, number) for number in range(1, self.tasks))]

    def ready(
        self, chosen: Sequence[SelectedTask], group_id: str, now: datetime
    ) -> tuple[ReadyTask, ...]:
        """Return all tasks as the queue gets them, with dates that count from `now`."""
        record = msgspec.to_builtins(self)
        tasks = []
        for task, task_id in zip(chosen, self.task_ids(group_id), strict=True):
            definition = _dated(dict(task.definition), now)
            definition["taskGroupId"] = group_id
            definition["schedulerId"] = self.settings.scheduler
            definition["extra"] = {**definition.get("extra", {}), SUBMISSION: record}
            tasks.append(ReadyTask(task_id, task.label, definition))
        return tuple(tasks)


async def existing_tasks(
    deployment: Deployment, group_id: str, submission: Submission
) -> dict[int, GroupMember]:
    """Return the tasks that exist, by their number in the submission.

    They are looked for by their ids, because a listing of the group may be behind.
    """
    ids = submission.task_ids(group_id)
    tasks = await deployment.tasks(ids)
    existing = {}
    for number, task_id in enumerate(ids):
        if task_id not in tasks:
            continue
        task = tasks[task_id]
        if task.status.task_group_id != group_id:
            raise ResultError(
                f"group:{group_id}: task {task_id} belongs to another group; run submit again"
            )
        if _has_expired(task.status.expires):
            raise ResultError(f"group:{group_id}: its tasks have expired; run submit again")
        existing[number] = GroupMember(task_id, task.label)
    return existing


def repeated_task(
    definition: Mapping[str, Any],
    label: str,
    pool: str,
    labels: Iterable[str],
    bytes_per_s: int | None = None,
) -> SelectedTask:
    """Return a task of the group once more, under a label that no other has; with a pace it confirms.

    All routes are dropped, as in a submission.
    """
    job = job_of(label, pool) or label
    end = "" if bytes_per_s is None else repeating.CONFIRMING
    new = repeating.new_label(job, labels, end)
    try:
        made = repeating.repeated(definition, job, new, bytes_per_s)
    except (KeyError, TypeError, AttributeError, ValueError):
        raise ResultError(f"{new}: the task that it repeats has malformed dates") from None
    return SelectedTask(new, job, pool, {**made, "routes": []})


def ready_in_group(task: SelectedTask, group_id: str, now: datetime) -> ReadyTask:
    """Return a task that is added to a group; its id follows from the group and its label."""
    definition = _dated(dict(task.definition), now)
    return ReadyTask(derived_id(group_id, task.label), task.label, definition)


def _dated(value: Any, now: datetime) -> Any:
    """Replace every relative date of the kinds by the date counted from `now`."""
    if isinstance(value, dict):
        if set(value) == {RELATIVE}:
            return queue_time(_date(str(value[RELATIVE]), now))
        return {key: _dated(inner, now) for key, inner in value.items()}
    if isinstance(value, list):
        return [_dated(inner, now) for inner in value]
    return value


def _date(text: str, now: datetime) -> datetime:
    match = _AMOUNT.fullmatch(text.strip().lower())
    with suppress(OverflowError):
        if match is not None and match[2] in _UNITS_S:
            return now + timedelta(seconds=int(match[1]) * _UNITS_S[match[2]])
    raise GraphError(
        f"a task's date is {text!r}, which is not a number and one of {', '.join(_UNITS_S)}, "
        "before the year 10,000; correct it in the kind"
    )


def _has_expired(expires: str | None) -> bool:
    try:
        return expires is not None and datetime.fromisoformat(expires) < datetime.now(UTC)
    except (ValueError, TypeError):  # not a date, or one without a zone
        return False
