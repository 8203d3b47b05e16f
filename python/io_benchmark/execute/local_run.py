# SPDX-License-Identifier: MPL-2.0
"""One run of a task on this machine: its payload as plain values, and its outcome."""

import posixpath
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from msgspec import Struct

from io_benchmark.errors import ExecutionError

# `.invalid` is reserved (RFC 2606), so a rehearsal cannot send requests to a real deployment.
ROOT_URL = "https://taskcluster.invalid"
# Where a worker's tasks put their artifacts.
WORKER_ARTIFACTS = PurePosixPath("/builds/worker/artifacts")


class Artifact(Struct, frozen=True):
    """A file or a folder that the worker would upload under `name`."""

    name: str
    path: PurePosixPath  # on a worker
    is_directory: bool


class RunOutcome(Struct, frozen=True):
    """The outcome of a run, as a worker would have resolved it."""

    exit_code: int
    started: str
    resolved: str
    # Artifact names that a worker would have uploaded as error artifacts.
    missing_artifacts: tuple[str, ...]

    @property
    def state(self) -> str:
        """Return the state as the queue names it."""
        return "failed" if self.exit_code else "completed"


class LocalRun(Struct, frozen=True):
    """One run of a task on this machine."""

    task_id: str
    run_id: int
    label: str
    pool: str
    # The task as the queue would get it; it may still contain `<…>` references.
    definition: Mapping[str, Any]
    # An existing folder to use as the pool's workspace volume; the caller empties it.
    workspace: Path
    # The folder TASKID.RUNID that is filled with what a worker would have uploaded.
    output: Path
    # The sizes: "full", "twentieth" or "quick".
    profile: str
    # A folder of results, for the report's task: it reads that instead of its task group.
    results: Path | None = None

    def command(self) -> tuple[str, ...]:
        """Return the payload's whole command."""
        return tuple(map(_word, self.definition["payload"].get("command") or ()))

    def command_after_run_task(self) -> tuple[str, ...]:
        """Return the command that run-task would run; its options make no difference here."""
        words = self.command()
        is_run_task = words and posixpath.basename(words[0]).startswith("run-task")
        if not is_run_task or "--" not in words:
            raise ExecutionError(
                f"{self.label}: its command is not `run-task … -- …`; select a task that uses run-task"
            )
        return words[words.index("--") + 1 :]

    def environment(self) -> dict[str, str]:
        """Return the payload's variables and those that every worker adds."""
        variables = self.definition["payload"].get("env") or {}
        return {
            **{name: _word(value) for name, value in variables.items()},
            "TASK_ID": self.task_id,
            "RUN_ID": str(self.run_id),
            "TASK_GROUP_ID": str(self.definition.get("taskGroupId") or self.task_id),
            "TASKCLUSTER_ROOT_URL": ROOT_URL,
            "IO_BENCHMARK_PROFILE": self.profile,
        }

    def artifacts(self) -> list[Artifact]:
        artifacts = self.definition["payload"].get("artifacts") or {}
        return [
            Artifact(name, PurePosixPath(artifact["path"]), artifact["type"] != "file")
            for name, artifact in artifacts.items()
        ]


def _word(value: object) -> str:
    """Return a text; references stay as written, because the tasks that they name do not exist here."""
    return str(next(iter(value.values())) if isinstance(value, Mapping) else value)
