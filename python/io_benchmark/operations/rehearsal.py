# SPDX-License-Identifier: MPL-2.0
"""Runs tasks on this machine, in folders or containers, and keeps their failures."""

import socket
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Protocol

import slugid
from msgspec import Struct, field

from io_benchmark.execute import process
from io_benchmark.execute.container import ContainerExecutor
from io_benchmark.execute.local_run import LocalRun, RunOutcome
from io_benchmark.execute.run_folder import workspace
from io_benchmark.graph.generate import GeneratedTask
from io_benchmark.graph.image_context import create_context
from io_benchmark.sources.folder import run_files
from io_benchmark.sources.run_results import TaskRecord

Execute = Callable[[LocalRun, Callable[[str], None]], RunOutcome]

# Among what the report's task leaves.
PAGE = "report.html"


class TaskDisplay(Protocol):
    """Shows the task that runs, and its log."""

    def begin(self, label: str) -> None: ...

    def line(self, line: str) -> None: ...

    def end(self, label: str, state: str, seconds: float) -> None: ...


class Rehearsal(Struct):
    """Runs tasks in folders of this machine and keeps their failures."""

    execute: Execute
    root: Path
    output: Path
    folders: Mapping[str, Path]  # by pool, where it was given one
    profile: str
    failures: list[str] = field(default_factory=list)  # one line each

    def run_pool(self, task: GeneratedTask, display: TaskDisplay) -> None:
        """Run a pool's task; its output folder TASKID.RUNID is like one from fetch."""
        task_id = slugid.nice()
        folder = run_files.run_folder(self.output, task_id, 0)
        local_run, outcome = self._run(task, task_id, folder, display)
        run_files.write_task_record(folder, _record(local_run, outcome))

    def run_report(self, task: GeneratedTask, display: TaskDisplay) -> None:
        """Run the report's task; its folder has its label, so no reader takes it for a pool's run."""
        self._run(task, slugid.nice(), self.page(task).parent, display, results=self.output)

    def page(self, task: GeneratedTask) -> Path:
        return self.output / task.label.replace("/", "-") / PAGE

    def _run(
        self,
        task: GeneratedTask,
        task_id: str,
        folder: Path,
        display: TaskDisplay,
        results: Path | None = None,
    ) -> tuple[LocalRun, RunOutcome]:
        started_ns = time.monotonic_ns()
        display.begin(task.label)
        with workspace(task.pool or task.kind, self.output, self.folders) as place:
            local_run = LocalRun(
                task_id=task_id,
                run_id=0,
                label=task.label,
                pool=task.pool,
                definition=task.definition,
                workspace=place,
                output=folder,
                profile=self.profile,
                image=task.image,
                root=self.root,
                bind_workspace=task.pool in self.folders,
                results=results,
            )
            outcome = self.execute(local_run, display.line)
        display.end(task.label, outcome.state, (time.monotonic_ns() - started_ns) / 1e9)
        self.failures += _failures_of(local_run, outcome)
        return local_run, outcome


def executor(
    container: str | None,
    tasks: Sequence[GeneratedTask],
    root: Path,
    environment: Mapping[str, str],
    tell: Callable[[str], None],
) -> Execute:
    """Return the function that runs a task: on this machine, or in a container with built images."""
    if container is None:
        return partial(process.run, environment=environment)
    containers = ContainerExecutor(container, create_context, environment)
    for image in sorted({task.image for task in tasks if task.image}):
        tell(f"Building the image {image} with {container}")
        containers.prepare(image, root, lambda _line: None)
    return containers.run


def _record(local_run: LocalRun, outcome: RunOutcome) -> TaskRecord:
    definition = local_run.definition
    return TaskRecord(
        task_id=local_run.task_id,
        run_id=local_run.run_id,
        label=local_run.label,
        pool=local_run.pool,
        task_queue=f"{definition['provisionerId']}/{definition['workerType']}",
        worker_group="rehearsal",
        worker_id=socket.gethostname(),
        state=outcome.state,
        image=local_run.image,
        started=outcome.started,
        resolved=outcome.resolved,
    )


def _failures_of(local_run: LocalRun, outcome: RunOutcome) -> list[str]:
    log = local_run.output / "live.log"
    failures = []
    if outcome.state != "completed":
        why = outcome.explanation or f"exit code {outcome.exit_code}"
        failures.append(f"{local_run.label}: {outcome.state}, {why}; its log is {log}")
    if outcome.missing_artifacts:
        names = ", ".join(outcome.missing_artifacts)
        failures.append(f"{local_run.label}: missing artifacts: {names}; its log is {log}")
    return failures
