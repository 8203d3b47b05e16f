# SPDX-License-Identifier: MPL-2.0
"""Runs the tasks of a rehearsal, pools' and reports', and shows how far they are."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from io_benchmark.sources.folder import run_files
from io_benchmark.sources.run_results import TaskRecord

if TYPE_CHECKING:
    from io_benchmark.execute.local_run import LocalRun, RunOutcome
    from io_benchmark.graph.generate import GeneratedTask

    Execute = Callable[[LocalRun, Callable[[str], None]], RunOutcome]

# Among what the report's task leaves.
PAGE = "report.html"
# The script's own lines for people; only this bar may read them.
STEP = re.compile(r"\[ *([0-9]{1,9})/([0-9]{1,9})\]")
# The cache is written, then read back: two counts for each task with one place.
COUNTS_A_TASK = 2
LINE_LENGTH = 400


class RehearsalProgress:
    """Shows each task and, where wanted, each line of its log."""

    def __init__(self, console: Console, tasks: int, verbose: bool) -> None:
        self._console = console
        self._verbose = verbose
        self._tasks = tasks
        self._done = 0
        self._label = ""
        self._counts = 0
        self._last = 0.0
        self._bar: Progress | None = None
        self._bar_task = TaskID(0)
        if console.is_terminal:
            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.percentage:>3.0f} %"),
                TimeRemainingColumn(),
                console=console,
                transient=True,
            )
            self._bar_task = self._bar.add_task("starting", total=tasks)
            self._bar.start()

    def close(self) -> None:
        if self._bar:
            self._bar.stop()

    def begin(self, label: str) -> None:
        self._label, self._counts, self._last = label, 0, 0.0
        if self._bar:
            self._bar.update(self._bar_task, description=label)
        else:
            self._say(f"[{self._done + 1}/{self._tasks}] {label}")

    def line(self, line: str) -> None:
        if self._verbose:
            # run-task says the whole command, script and all, in one line.
            self._say(line if len(line) <= LINE_LENGTH else line[:LINE_LENGTH] + " …")
        step = STEP.search(line)
        if step is None or not self._bar or int(step[2]) == 0:
            return
        share = min(int(step[1]) / int(step[2]), 1.0)
        if share < self._last:
            self._counts += 1
        self._last = share
        # Several places or destinations count more often: the bar waits rather than overshoots.
        within = min((self._counts + share) / COUNTS_A_TASK, 0.99)
        self._bar.update(self._bar_task, completed=self._done + within)

    def end(self, state: str, seconds: float) -> None:
        self._done += 1
        if self._bar:
            self._bar.update(self._bar_task, completed=self._done)
        self._say(f"  {self._label}: {state} in {seconds:.1f} s")

    def _say(self, text: str) -> None:
        # Plain text: what a task prints is never read as markup.
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)


class Rehearsal(Struct):
    """Runs tasks in folders of this machine and keeps their failures."""

    execute: Execute
    root: Path
    output: Path
    folders: Mapping[str, Path]  # by pool, where it was given one
    profile: str
    failures: list[str] = field(default_factory=list)  # one line each

    def pool(self, task: GeneratedTask, progress: RehearsalProgress) -> None:
        """Run a pool's task; its output folder TASKID.RUNID is like one from fetch."""
        import slugid

        task_id = slugid.nice()
        folder = run_files.run_folder(self.output, task_id, 0)
        local_run, outcome = self._run(task, task_id, folder, progress)
        run_files.write_task_record(folder, _record(local_run, outcome))

    def report(self, task: GeneratedTask, progress: RehearsalProgress) -> None:
        """Run the report's task; its folder has its label, so no reader takes it for a pool's run."""
        import slugid

        self._run(task, slugid.nice(), self.page(task).parent, progress, results=self.output)

    def page(self, task: GeneratedTask) -> Path:
        return self.output / task.label.replace("/", "-") / PAGE

    def _run(
        self,
        task: GeneratedTask,
        task_id: str,
        folder: Path,
        progress: RehearsalProgress,
        results: Path | None = None,
    ) -> tuple[LocalRun, RunOutcome]:
        from io_benchmark.execute.local_run import LocalRun
        from io_benchmark.execute.run_folder import workspace

        started_ns = time.monotonic_ns()
        progress.begin(task.label)
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
            outcome = self.execute(local_run, progress.line)
        progress.end(outcome.state, (time.monotonic_ns() - started_ns) / 1e9)
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
        from io_benchmark.execute import process

        return partial(process.run, environment=environment)
    from io_benchmark.execute.container import ContainerExecutor
    from io_benchmark.graph.image_context import create_context

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
