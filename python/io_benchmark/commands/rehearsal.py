# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Runs the tasks of a rehearsal: those of the pools, then the report's on their results."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from io_benchmark.sources.folder import run_files
from io_benchmark.sources.protocol import TaskRecord

if TYPE_CHECKING:
    from io_benchmark.commands.rehearsal_progress import RehearsalProgress
    from io_benchmark.execute.task_run import RunOutcome, TaskRun
    from io_benchmark.graph.generate import GeneratedTask

    Execute = Callable[[TaskRun, Callable[[str], None]], RunOutcome]

# Among what the report's task leaves.
PAGE = "report.html"


class Rehearsal:
    """Runs tasks in folders of this machine and keeps their failures."""

    def __init__(
        self,
        execute: Execute,
        root: Path,
        output: Path,
        folders: Mapping[str, Path],
        profile: str,
    ) -> None:
        self.failures: list[str] = []  # one line each
        self._execute = execute
        self._root = root
        self._output = output
        self._folders = folders
        self._profile = profile

    def pool(self, task: GeneratedTask, progress: RehearsalProgress) -> None:
        """Run a pool's task; its output folder TASKID.RUNID is like one from fetch."""
        import slugid

        task_id = slugid.nice()
        folder = run_files.run_folder(self._output, task_id, 0)
        task_run, outcome = self._run(task, task_id, folder, progress)
        run_files.write_task_record(folder, _record(task_run, outcome))

    def report(self, task: GeneratedTask, progress: RehearsalProgress) -> None:
        """Run the report's task; its folder has its label, so no reader takes it for a pool's run."""
        import slugid

        folder = self._output / task.label.replace("/", "-")
        self._run(task, slugid.nice(), folder, progress, results=self._output)

    def page(self, task: GeneratedTask) -> Path:
        return self._output / task.label.replace("/", "-") / PAGE

    def _run(
        self,
        task: GeneratedTask,
        task_id: str,
        folder: Path,
        progress: RehearsalProgress,
        results: Path | None = None,
    ) -> tuple[TaskRun, RunOutcome]:
        from io_benchmark.execute.run_folder import workspace
        from io_benchmark.execute.task_run import TaskRun

        started_ns = time.monotonic_ns()
        progress.begin(task.label)
        with workspace(task.pool or task.kind, self._output, self._folders) as place:
            task_run = TaskRun(
                task_id=task_id,
                run_id=0,
                label=task.label,
                pool=task.pool,
                definition=task.definition,
                workspace=place,
                output=folder,
                profile=self._profile,
                image=task.image,
                root=self._root,
                bind_workspace=task.pool in self._folders,
                results=results,
            )
            outcome = self._execute(task_run, progress.line)
        progress.end(outcome.state, (time.monotonic_ns() - started_ns) / 1e9)
        self.failures += _failures_of(task_run, outcome)
        return task_run, outcome


def executor(
    container: str | None,
    tasks: Sequence[GeneratedTask],
    root: Path,
    environment: Mapping[str, str],
    tell: Callable[[str], None],
) -> Execute:
    """Return the function that runs a task: on this machine, or in a container with built images."""
    if container is None:
        from io_benchmark.execute import process

        return partial(process.run, environment=environment)
    from io_benchmark.execute.container import ContainerExecutor
    from io_benchmark.graph.image_context import create_context

    containers = ContainerExecutor(container, create_context, environment)
    for image in sorted({task.image for task in tasks if task.image}):
        tell(f"Building the image {image} with {container}")
        containers.prepare(image, root, lambda _line: None)
    return containers.run


def _record(task_run: TaskRun, outcome: RunOutcome) -> TaskRecord:
    definition = task_run.definition
    return TaskRecord(
        task_id=task_run.task_id,
        run_id=task_run.run_id,
        label=task_run.label,
        pool=task_run.pool,
        task_queue=f"{definition['provisionerId']}/{definition['workerType']}",
        worker_group="rehearsal",
        worker_id=socket.gethostname(),
        state=outcome.state,
        image=task_run.image,
        started=outcome.started,
        resolved=outcome.resolved,
    )


def _failures_of(task_run: TaskRun, outcome: RunOutcome) -> list[str]:
    log = task_run.output / "live.log"
    found = []
    if outcome.state != "completed":
        why = outcome.explanation or f"exit code {outcome.exit_code}"
        found.append(f"{task_run.label}: {outcome.state}, {why}; its log is {log}")
    if outcome.missing_artifacts:
        names = ", ".join(outcome.missing_artifacts)
        found.append(f"{task_run.label}: missing artifacts: {names}; its log is {log}")
    return found
