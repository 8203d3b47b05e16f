# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""One run of a task on this machine, and what came of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class TaskRun:
    """One run of a task, the input of both executors."""

    task_id: str
    run_id: int
    label: str
    pool: str
    # The task as the queue would get it; `<…>` references may still stand in it.
    definition: Mapping[str, Any]
    # An existing folder that stands for the pool's workspace volume; its caller empties it.
    workspace: Path
    # The folder TASKID.RUNID that is filled with what a worker would have uploaded.
    output: Path
    # "full" or "quick".
    profile: str
    # The in-tree image's name; only the container executor needs one.
    image: str | None
    # The folder that holds `taskcluster/`.
    root: Path
    # Containers only: mount `workspace` instead of the image's own anonymous volume.
    bind_workspace: bool = False
    # A folder of results, for the report's task: it reads that instead of its task group.
    results: Path | None = None


@dataclass(frozen=True)
class RunOutcome:
    """The outcome of a run, as a worker would have resolved it."""

    exit_code: int
    # "completed", "failed" or "exception", as the queue names them.
    state: str
    started: str
    resolved: str
    # Artifact names that a worker would have uploaded as error artifacts.
    missing_artifacts: tuple[str, ...]
    # Why it ended early, one line; empty where the command ended by itself.
    explanation: str = ""


def now() -> str:
    """Return the time as the queue writes it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
