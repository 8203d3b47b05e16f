# SPDX-License-Identifier: MPL-2.0
"""A submission: the tasks of its group, their ids and their dates.

Each task has the submission's record in its `extra`. So any task of the group shows all tasks that were
planned. A task's id follows from the group's id and the task's number. So the same ids are used when the
rest is created after a crash, and the queue creates each id only once.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec
from msgspec import Struct

from io_benchmark.errors import GraphError, MissingError, ResultError
from io_benchmark.sources.run_results import parse_time
from io_benchmark.sources.taskcluster.deployment import Deployment
from io_benchmark.submit.definitions import (
    PRIORITIES,
    QUEUE_NAME,
    NewTask,
    SubmissionSettings,
)
from io_benchmark_taskgraph import repeating
from io_benchmark_taskgraph.repeating import SUBMISSION, derived_id, job_of

VERSION = 1
MAXIMUM_TASKS = 10_000


class Submission(Struct, frozen=True):
    """Describes a group's tasks. `sha256` covers them without dates, ids and this record."""

    jobs: tuple[str, ...]
    settings: SubmissionSettings
    tasks: int
    sha256: str
    version: int = VERSION

    @classmethod
    def of(
        cls, jobs: Sequence[str], settings: SubmissionSettings, chosen: Sequence[NewTask]
    ) -> "Submission":
        """Describe the chosen tasks."""
        contents = [[task.label, task.definition] for task in chosen]
        line = json.dumps(contents, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
        digest = hashlib.sha256(line.encode()).hexdigest()
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

    def in_group(self, chosen: Sequence[NewTask], group_id: str) -> list[NewTask]:
        """Return all tasks with their ids, their group and this record."""
        record = {SUBMISSION: msgspec.to_builtins(self)}
        return [
            msgspec.structs.replace(
                task,
                task_id=task_id,
                definition={
                    **task.definition,
                    "taskGroupId": group_id,
                    "extra": task.definition.get("extra", {}) | record,
                },
            )
            for task, task_id in zip(chosen, self.task_ids(group_id), strict=True)
        ]

    async def existing_tasks(self, deployment: Deployment, group_id: str) -> dict[str, str]:
        """Return the labels of the tasks that exist, by their ids.

        They are looked for by their ids, because a listing of the group may be behind.
        """
        ids = self.task_ids(group_id)
        tasks = await deployment.tasks(ids)
        for task_id, task in tasks.items():
            if task.status.task_group_id != group_id:
                raise ResultError(
                    f"group:{group_id}: task {task_id} belongs to another group; run submit again"
                )
            expires = parse_time(task.status.expires)
            if expires is not None and expires < datetime.now(UTC):
                raise ResultError(f"group:{group_id}: its tasks have expired; run submit again")
        return {task_id: tasks[task_id].label for task_id in ids if task_id in tasks}


def repeated_task(
    definition: Mapping[str, Any],
    label: str,
    pool: str,
    labels: Iterable[str],
    bytes_per_s: int | None = None,
) -> NewTask:
    """Return a task of the group once more, under a label that no other has; with a pace it confirms.

    All routes are dropped, as in a submission. Its id follows from the group and its label.
    """
    job = job_of(label, pool) or label
    end = "" if bytes_per_s is None else repeating.CONFIRMING
    new = repeating.new_label(job, labels, end)
    try:
        made = repeating.repeated(definition, job, new, bytes_per_s)
    except (KeyError, TypeError, AttributeError, ValueError):
        raise ResultError(f"{new}: the task that it repeats has malformed dates") from None
    task_id = derived_id(made["taskGroupId"], new)
    return NewTask(new, job, pool, {**made, "routes": []}, task_id)


def dated(definition: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    """Replace relative dates by dates counted from `now`, as a decision task does."""
    # Imported here: reading and cancelling a group need no taskgraph.
    from taskgraph.util.parameterization import resolve_timestamps  # noqa: PLC0415
    from taskgraph.util.time import InvalidString, UnknownTimeMeasurement  # noqa: PLC0415

    try:
        made: dict[str, Any] = resolve_timestamps(now, definition)
    except (InvalidString, UnknownTimeMeasurement, OverflowError, TypeError, ValueError) as error:
        raise GraphError(f"a task's date is wrong: {error}; correct it in the kind") from None
    return made
