# SPDX-License-Identifier: MPL-2.0
"""What taskgraph makes of a tree: the tasks of a push.

A separate process generates them, because taskgraph and the code of a project change what is global
in a process. It has the Python that `environments.py` finds.
"""

import json
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, cast

import msgspec
from msgspec import Struct

from io_benchmark.errors import IoBenchmarkError
from io_benchmark.graph.environments import Environment
from io_benchmark.graph.root import Root
from io_benchmark.paths import explain_refusal
from io_benchmark.process import hold_interrupts
from io_benchmark.text import clean
from io_benchmark_taskgraph import generation

REPOSITORY = "https://github.com/mozilla-releng/io-benchmark"
POOL_ATTRIBUTE = "io_benchmark_pool"
# No commit: what is generated here was not pushed.
_NO_REVISION = "0" * 40
# A push of a project with hundreds of kinds takes minutes, and here a few kinds are loaded. Chosen.
_MOST_S = 300
# 100 replicates of 50 pools have 250 MB.
_MOST_BYTES = 500_000_000
_GRACE_S = 5  # for its end, after the answer
_MOST_BYTES_OF_STDERR = 10_000
# The second, longer one until taskgraph 11.
_IMAGE_TASK = re.compile("^(build-)?docker-image-")
_PARAMETERS = {
    "base_ref": "main",
    "base_rev": _NO_REVISION,
    "build_date": 0,
    "build_number": 1,
    "do_not_optimize": [],
    "enable_always_target": False,
    "existing_tasks": {},
    "files_changed": [],
    "filters": ["target_tasks_method"],
    "head_ref": "main",
    "head_rev": _NO_REVISION,
    "head_tag": "",
    "level": "1",
    "moz_build_date": "19700101000000",
    "optimize_strategies": None,
    "optimize_target_tasks": False,
    "owner": "nobody@mozilla.com",
    "pushdate": 0,
    "pushlog_id": "0",
    "target_tasks_method": "io-benchmark",
    "tasks_for": "github-push",
}
# Other projects have their own defaults of these.
_PARAMETERS_OF_THIS_PROJECT = {
    "base_repository": REPOSITORY,
    "head_repository": REPOSITORY,
    "next_version": None,
    "project": "io-benchmark",
    "repository_type": "git",
    "version": None,
}


class GeneratedTask(Struct, frozen=True):
    label: str
    pool: str  # empty for a task that does not belong to a pool, such as an image's
    kind: str
    # The task's body as the queue would get it; references to other tasks and dates are left
    # as taskgraph writes them ({"task-reference": …}, {"relative-datestamp": …}).
    definition: Mapping[str, Any]
    image: str | None  # the in-tree image that it runs in


class _Attributes(Struct):
    io_benchmark_pool: str | None


class _Task(Struct):
    label: str
    kind: str
    attributes: _Attributes
    definition: dict[str, Any]
    image: str | None

    def __post_init__(self) -> None:
        msgspec.convert(self.definition, _Definition)

    def generated(self) -> GeneratedTask:
        return GeneratedTask(
            label=self.label,
            pool=self.attributes.io_benchmark_pool or "",
            kind=self.kind,
            definition=self.definition,
            image=None if self.image is None else _IMAGE_TASK.sub("", self.image),
        )


class _Definition(Struct, rename="camel"):
    """What is used of a task's definition."""

    provisioner_id: str
    worker_type: str
    metadata: dict[str, str]
    payload: dict[str, Any]


class _Answer(Struct):
    """What the process writes: tasks, or what went wrong."""

    tasks: list[_Task] = []
    problem: str = ""
    missing: str | None = None  # the name of a package
    is_mistake: bool = False  # with which another environment would not help


def source(root: Root) -> str:
    """Return what the graph is generated from, and with which taskgraph where that may differ."""
    if root.has_transforms:
        return str(root)
    return f"{root}, with {Environment.of(root)}"


def generate(root: Root, jobs: Sequence[str], *, capacities: bool = False) -> list[GeneratedTask]:
    """Return the tasks of jobs, pools or labels by their names, sorted by kind and label."""
    parameters = {**_PARAMETERS, "io_benchmark_jobs": list(jobs)}
    if root.has_transforms:
        parameters.update(_PARAMETERS_OF_THIS_PROJECT)
    if capacities:
        # Only then, because an older tree does not know it.
        parameters["io_benchmark_capacities"] = True
    request = {
        "attributes": [POOL_ATTRIBUTE],
        "has_transforms": root.has_transforms,
        "parameters": parameters,
    }
    environment = Environment.of(root)
    with root.usable_tree() as tree:
        answer = _answer(environment, tree.path, request)
        # A message names the tree itself, because a copy is removed before people read it.
        problem = answer.problem.replace(str(tree.path), str(root.path))
    if problem:
        advice = "" if answer.is_mistake else environment.advice(root.path, answer.missing)
        raise IoBenchmarkError(clean(problem) + advice)
    return sorted((task.generated() for task in answer.tasks), key=_position)


def _answer(environment: Environment, folder: Path, request: Mapping[str, Any]) -> _Answer:
    """Run the process in the folder of a tree; it may end in any way."""
    advice = f"make {environment.folder or 'the environment'} again"
    # Otherwise a Ctrl-C during the start would leave a process that cannot be ended.
    with hold_interrupts(), explain_refusal(f"{environment.python}: cannot be run", advice):
        process = subprocess.Popen(
            [environment.python, generation.__file__],
            cwd=folder,
            start_new_session=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    request_stream, answer_stream, errors = (
        cast("IO[bytes]", stream) for stream in (process.stdin, process.stdout, process.stderr)
    )
    started_s = time.monotonic()
    timer = threading.Timer(_MOST_S, _end, [process])
    timer.start()
    with process:
        try:
            with suppress(BrokenPipeError), request_stream:  # it ended before it read anything
                request_stream.write(json.dumps(request).encode())
            data = answer_stream.read(_MOST_BYTES + 1)
            is_late = time.monotonic() - started_s >= _MOST_S
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=_GRACE_S)
        finally:
            timer.cancel()
            _end(process)
        # The project's code cannot write there.
        complaint = errors.read(_MOST_BYTES_OF_STDERR).decode("utf-8", "replace").strip()
    if is_late:
        raise IoBenchmarkError(
            f"taskcluster/config.yml: generating the tasks did not end within {_MOST_S} s; what "
            "`register` names may wait for the network"
        )
    try:
        return msgspec.json.decode(data, type=_Answer)
    except (msgspec.DecodeError, RecursionError) as error:
        reason = f"exit code {process.returncode}, {error}"
        if complaint:
            reason = complaint.rpartition("\n")[2]
        else:
            advice = "what `register` names may end the process"
        raise IoBenchmarkError(
            f"{environment}: generated no tasks that can be read ({reason}); {advice}"
        ) from None


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End the process and its children."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _position(task: GeneratedTask) -> tuple[str, list[Any]]:
    """Return a sort key with `x-2` before `x-10`; taskgraph's order is undefined."""
    parts = re.split("([0-9]+)", task.label)
    return task.kind, [int(part) if part.isdigit() else part for part in parts]
