# SPDX-License-Identifier: MPL-2.0
"""One run of a task on this machine: its payload as plain values, and its outcome."""

import posixpath
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from msgspec import Struct

from io_benchmark.errors import ExecutionError

# `.invalid` is reserved (RFC 2606), so a rehearsal cannot send requests to a real deployment.
ROOT_URL = "https://taskcluster.invalid"

# run-task's own options that make no difference to a process of this machine's user.
IGNORED_OPTIONS = ("--user", "--group")


class Artifact(Struct, frozen=True):
    """A file or a folder that the worker would upload under `name`."""

    name: str
    path: str
    is_directory: bool


class RunOutcome(Struct, frozen=True):
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
        return tuple(self._word(word) for word in self._payload.get("command") or ())

    def command_after_run_task(self) -> tuple[str, ...]:
        """Return the command that run-task would run, without run-task."""
        words = self.command()
        is_run_task = words and posixpath.basename(words[0]).startswith("run-task")
        if not is_run_task or "--" not in words:
            raise ExecutionError(
                f"{self.label}: its command is not `run-task … -- …`; select a task that uses run-task"
            )
        end = words.index("--")
        options = list(words[1:end])
        while options:
            name, has_value, _ = options.pop(0).partition("=")
            if name not in IGNORED_OPTIONS:
                raise ExecutionError(
                    f"{self.label}: run-task option {name} has no effect here; "
                    "remove it from the kind"
                )
            if not has_value:
                del options[:1]
        return words[end + 1 :]

    def environment(self) -> dict[str, str]:
        """Return the payload's variables and those that every worker adds."""
        variables = self._payload.get("env") or {}
        return {
            **{name: self._word(value) for name, value in variables.items()},
            "TASK_ID": self.task_id,
            "RUN_ID": str(self.run_id),
            "TASK_GROUP_ID": str(self.definition.get("taskGroupId") or self.task_id),
            "TASKCLUSTER_ROOT_URL": ROOT_URL,
            "IO_BENCHMARK_PROFILE": self.profile,
        }

    def artifacts(self) -> list[Artifact]:
        artifacts = self._payload.get("artifacts") or {}
        return [
            Artifact(name, artifact["path"], artifact["type"] != "file")
            for name, artifact in artifacts.items()
        ]

    def max_run_time_s(self) -> float:
        """Return the time after which the worker stops the task."""
        seconds = self._payload.get("maxRunTime")
        if not isinstance(seconds, int | float) or seconds <= 0:
            raise ExecutionError(
                f"{self.label}: payload.maxRunTime is {seconds!r}, not a number of seconds; "
                "correct the kind"
            )
        return float(seconds)

    def state(self, exit_code: int) -> str:
        """Return the state in which the queue would have a run that ended by itself."""
        if exit_code == 0:
            return "completed"
        retried = (self._payload.get("onExitStatus") or {}).get("retry") or ()
        return "exception" if exit_code in retried else "failed"

    @property
    def _payload(self) -> Mapping[str, Any]:
        payload = self.definition.get("payload")
        if not isinstance(payload, Mapping):
            raise ExecutionError(f"{self.label}: its definition has no payload; correct the kind")
        return cast("Mapping[str, Any]", payload)

    def _word(self, value: object) -> str:
        """Return a text; references stay as written, because the tasks that they name do not exist here."""
        if isinstance(value, Mapping) and len(value) == 1:
            value = next(iter(value.values()))
        if isinstance(value, str | int | float):
            return str(value)
        raise ExecutionError(
            f"{self.label}: {value!r} in its payload is neither text nor a number; correct the kind"
        )
