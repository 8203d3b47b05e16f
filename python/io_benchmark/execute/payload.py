# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The contents of a task's payload as plain values."""

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from io_benchmark.errors import ExecutionError
from io_benchmark.execute.task_run import TaskRun

# `.invalid` is reserved (RFC 2606): nothing in a rehearsal can ask a real deployment by mistake.
ROOT_URL = "https://taskcluster.invalid"

# run-task's own options that make no difference to a process of this machine's user.
IGNORED_OPTIONS = ("--user", "--group")


@dataclass(frozen=True)
class Artifact:
    """A file or a folder that the worker would upload under `name`."""

    name: str
    path: str
    is_directory: bool


def command(task_run: TaskRun) -> tuple[str, ...]:
    """Return the payload's whole command."""
    words = _payload(task_run).get("command") or ()
    return tuple(_text(task_run, word) for word in words)


def command_after_run_task(task_run: TaskRun) -> tuple[str, ...]:
    """Return the command that run-task would run, without run-task."""
    words = command(task_run)
    if not words or not posixpath.basename(words[0]).startswith("run-task") or "--" not in words:
        raise ExecutionError(
            f"{task_run.label}: its command is not `run-task … -- …`; select a task that uses run-task"
        )
    end = words.index("--")
    options = list(words[1:end])
    while options:
        option = options.pop(0)
        name, has_value, _ = option.partition("=")
        if name not in IGNORED_OPTIONS:
            raise ExecutionError(
                f"{task_run.label}: run-task option {name} has no effect outside a container;"
                " run it with --container"
            )
        if not has_value:
            del options[:1]
    return words[end + 1 :]


def environment(task_run: TaskRun) -> dict[str, str]:
    """Return the payload's variables and those that every worker adds."""
    given = _payload(task_run).get("env") or {}
    return {
        **{name: _text(task_run, value) for name, value in given.items()},
        "TASK_ID": task_run.task_id,
        "RUN_ID": str(task_run.run_id),
        "TASK_GROUP_ID": str(task_run.definition.get("taskGroupId") or task_run.task_id),
        "TASKCLUSTER_ROOT_URL": ROOT_URL,
    }


def artifacts(task_run: TaskRun) -> tuple[Artifact, ...]:
    """Return the artifacts of both forms: docker-worker's mapping and generic-worker's list."""
    given = _payload(task_run).get("artifacts") or {}
    entries = (
        [{"name": name, **entry} for name, entry in given.items()]
        if isinstance(given, Mapping)
        else list(given)
    )
    return tuple(
        Artifact(entry.get("name") or entry["path"], entry["path"], entry["type"] != "file")
        for entry in entries
    )


def cache_paths(task_run: TaskRun) -> tuple[str, ...]:
    """Return the paths where a worker would mount its caches."""
    caches = _payload(task_run).get("cache") or {}
    if set(caches) == {"task-reference"}:
        caches = caches["task-reference"]
    return tuple(sorted(caches.values()))


def max_run_time_s(task_run: TaskRun) -> float:
    """After this time the worker stops the task."""
    seconds = _payload(task_run).get("maxRunTime")
    if not isinstance(seconds, int | float) or seconds <= 0:
        raise ExecutionError(
            f"{task_run.label}: payload.maxRunTime is {seconds!r}, not a number of seconds; correct the kind"
        )
    return float(seconds)


def state(task_run: TaskRun, exit_code: int, stopped: bool) -> str:
    """Return the queue's name for the state of a run that ended like this."""
    if stopped:
        return "failed"
    if exit_code == 0:
        return "completed"
    retried = (_payload(task_run).get("onExitStatus") or {}).get("retry") or ()
    return "exception" if exit_code in retried else "failed"


def _payload(task_run: TaskRun) -> Mapping[str, Any]:
    payload = task_run.definition.get("payload")
    if not isinstance(payload, Mapping):
        raise ExecutionError(f"{task_run.label}: its definition has no payload; correct the kind")
    return cast("Mapping[str, Any]", payload)


def _text(task_run: TaskRun, value: object) -> str:
    """References stay as they are written: the tasks they name do not exist here."""
    if isinstance(value, Mapping) and len(value) == 1:
        value = next(iter(value.values()))
    if isinstance(value, str | int | float):
        return str(value)
    raise ExecutionError(
        f"{task_run.label}: {value!r} in its payload is neither text nor a number; correct the kind"
    )
