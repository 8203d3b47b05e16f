# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""A submission: the tasks of its group and their ids.

Each task carries the submission's record in its `extra`, so that any task of the group tells what
the whole group was meant to be. A task's id follows from the group's id and the task's number:
whoever creates the rest after a crash uses the same ids, and the queue creates an id once.
"""

import base64
import hashlib
import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from io_benchmark.errors import ResultError
from io_benchmark.submit.definitions import (
    PRIORITIES,
    QUEUE_NAME,
    RECORD,
    ReadyTask,
    SelectedTask,
    SubmissionSettings,
    ready,
)

VERSION = 1
MAXIMUM_TASKS = 10_000


@dataclass(frozen=True)
class Submission:
    """Describes a group's tasks. `sha256` covers them without dates, ids and this record."""

    jobs: tuple[str, ...]
    settings: SubmissionSettings
    tasks: int
    sha256: str
    version: int = VERSION


def submission_of(
    jobs: Sequence[str], settings: SubmissionSettings, chosen: Sequence[SelectedTask]
) -> Submission:
    wanted = [[one.label, one.definition] for one in chosen]
    text = json.dumps(wanted, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    digest = hashlib.sha256(text.encode()).hexdigest()
    return Submission(tuple(jobs), settings, len(chosen), digest)


def task_ids(group_id: str, count: int) -> list[str]:
    """Return the tasks' ids; the group's id is that of its first task."""
    return [group_id, *(_derived_id(group_id, number) for number in range(1, count))]


def make_all_ready(
    chosen: Sequence[SelectedTask], submission: Submission, group_id: str, now: datetime
) -> tuple[ReadyTask, ...]:
    """Return all tasks of the submission as the queue gets them."""
    record = msgspec.to_builtins(submission)
    scheduler = submission.settings.scheduler
    ids = task_ids(group_id, len(chosen))
    return tuple(
        ready(one, task_id, group_id, scheduler, now, record)
        for one, task_id in zip(chosen, ids, strict=True)
    )


def parse_record(extra: Any, group: str) -> Submission:
    """Parse the submission in a task's `extra`; `group` names the group in errors."""
    record = extra.get(RECORD) if isinstance(extra, dict) else None
    if record is None:
        raise ResultError(
            f"{group}: its first task does not contain the submission, so its missing tasks are "
            f"unknown; compare the existing tasks with: io-benchmark compare {group}"
        )
    if isinstance(record, dict) and record.get("version") != VERSION:
        raise ResultError(
            f"{group}: was submitted by another version of io-benchmark; resume it with that version"
        )
    try:
        found = msgspec.convert(record, Submission)
    except (msgspec.ValidationError, RecursionError):
        found = None
    if found is None or not _is_sound(found):
        raise ResultError(
            f"{group}: the submission's record in its first task is malformed; compare the "
            f"existing tasks with: io-benchmark compare {group}"
        )
    return found


def _is_sound(submission: Submission) -> bool:
    settings = submission.settings
    queues = all(QUEUE_NAME.fullmatch(queue) for queue in settings.pools.values())
    priority = settings.priority is None or settings.priority in PRIORITIES
    replicates = settings.replicates is None or 0 < settings.replicates <= submission.tasks
    return queues and priority and replicates and 0 < submission.tasks <= MAXIMUM_TASKS


def _derived_id(group_id: str, number: int) -> str:
    """Derive a slug in the queue's form: a version 4 UUID whose first bit is 0, in URL-safe base64."""
    digest = hashlib.sha256(f"io-benchmark {group_id} {number}".encode()).digest()
    made = uuid.UUID(bytes=bytes([digest[0] & 0x7F, *digest[1:16]]), version=4)
    return base64.urlsafe_b64encode(made.bytes).decode().rstrip("=")
