# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Run the tasks' own commands on this machine, collect what a worker would upload, compare.

The graph is generated from the kinds; each selected task's command runs as it stands, one at a
time, in an order that a seed shuffles, each in a folder that stands for its pool's workspace.
Results go to a folder in the layout TASKID.RUNID/io-benchmark.json. All pools are this one
machine, so what differs is noise, unless --at puts a pool on another disk.
"""

from __future__ import annotations

import argparse
import logging
import random
import re
import shutil
import socket
import sys
import textwrap
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from io_benchmark.analysis import plan
from io_benchmark.commands.common import names_of_jobs, tell
from io_benchmark.errors import ResultError, UsageError
from io_benchmark.sources import folders as folders_of_results
from io_benchmark.sources import layout

if TYPE_CHECKING:
    from io_benchmark.execute.task import Outcome, TaskRun
    from io_benchmark.graph.generate import GeneratedTask

    Execute = Callable[[TaskRun, Callable[[str], None]], Outcome]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "-j",
        "--jobs",
        default="io-benchmark",
        metavar="NAME[,NAME]",
        help="tasks to run, by job_try_name, label or pool (default: io-benchmark)",
    )
    size = parser.add_mutually_exclusive_group()
    size.add_argument(
        "--quick",
        dest="profile",
        action="store_const",
        const="quick",
        default="quick",
        help="a twentieth of the sizes, at most 200 retrieves (the default)",
    )
    size.add_argument(
        "--full",
        dest="profile",
        action="store_const",
        const="full",
        help="the seed's sizes: 5.6 GiB of cache a task, as on a worker",
    )
    add(
        "--at",
        action="append",
        default=[],
        type=_pool_and_folder,
        metavar="POOL=DIR",
        help="put a pool's workspace into this existing folder, on another disk; may repeat",
    )
    add("--baseline", metavar="POOL", help="the pool to compare with (default: the last by name)")
    add("--seed", type=int, default=1, help="shuffles the order of the tasks (default: 1)")
    add(
        "--output",
        type=Path,
        metavar="DIR",
        help=f"a new folder for the results (default: {folders_of_results.DEFAULT}/rehearsal-TIME)",
    )
    add(
        "--container",
        choices=("docker", "podman"),
        help="run each task in the image that it names, as a worker does",
    )
    add("--root", type=Path, metavar="DIR", help="the folder that holds taskcluster/ and scripts/")
    add(
        "--json",
        dest="format",
        action="store_const",
        const="json",
        default="text",
        help="print the comparison as JSON",
    )
    add("--verbose", action="store_true", help="show the tasks' own logs and taskgraph's")


def run(arguments: argparse.Namespace) -> int:
    # Imported here: generating takes half a second to load, and --help must not wait for it.
    from io_benchmark.graph.generate import generate
    from io_benchmark.graph.root import find_root

    if arguments.verbose:
        logging.basicConfig(format="%(message)s")
        logging.getLogger("io_benchmark").setLevel(logging.DEBUG)
    root = find_root(arguments.root, Path.cwd())
    _tell(f"Generating the graph from {root.path} ({root.origin})")
    jobs = names_of_jobs(arguments.jobs)
    tasks = list(generate(root, jobs).tasks)
    others = [task.label for task in tasks if not task.pool]
    if others:
        raise UsageError(f"-j {arguments.jobs}: {_listed(others)} measures no pool; name a pool")
    pools = sorted({task.pool for task in tasks})
    plan.pools(pools, arguments.baseline)  # a mistake is told before anything runs
    folders = _folders_of_pools(arguments.at, pools)
    random.Random(arguments.seed).shuffle(tasks)
    with folders_of_results.new(arguments.output, "rehearsal") as output:
        execute = _executor(arguments.container, tasks, root.path)
        failures = _run_all(tasks, execute, output, folders, root.path, arguments)
        measured = _read_back(output, failures)
    _report(measured, arguments.baseline, folders, output, arguments.format)
    for failure in failures:
        _tell(f"error: {failure}")
    return 1 if failures else 0


def _run_all(
    tasks: Sequence[GeneratedTask],
    execute: Execute,
    output: Path,
    folders: Mapping[str, Path],
    root: Path,
    arguments: argparse.Namespace,
) -> list[str]:
    """Each task in turn; what went wrong, one line each."""
    import slugid
    from rich.console import Console

    from io_benchmark.execute.task import TaskRun
    from io_benchmark.execute.workspaces import workspace
    from io_benchmark.report.progress import RehearsalProgress

    failures = []
    names = ", ".join(task.label for task in tasks)
    _tell(f"Running {len(tasks)} tasks one by one, {arguments.profile} sizes: {names}")
    console = Console(stderr=True)
    with RehearsalProgress(console, len(tasks), arguments.verbose) as progress:
        for task in tasks:
            task_id = slugid.nice()
            folder = layout.run_folder(output, task_id, 0)
            started_ns = time.monotonic_ns()
            progress.begin(task.label)
            with workspace(task.pool, output, folders) as place:
                task_run = TaskRun(
                    task_id=task_id,
                    run_id=0,
                    label=task.label,
                    pool=task.pool,
                    definition=task.definition,
                    workspace=place,
                    output=folder,
                    profile=arguments.profile,
                    image=task.image,
                    root=root,
                    bind_workspace=task.pool in folders,
                )
                outcome = execute(task_run, progress.line)
            layout.write_task(folder, _record(task_run, outcome))
            progress.end(outcome.state, (time.monotonic_ns() - started_ns) / 1e9)
            failures += _failures_of(task_run, outcome)
    return failures


def _executor(container: str | None, tasks: Sequence[GeneratedTask], root: Path) -> Execute:
    if container is None:
        from io_benchmark.execute import process

        return process.run
    from io_benchmark.execute.container import ContainerExecutor
    from io_benchmark.graph.context import create_context

    executor = ContainerExecutor(container, create_context)
    for image in sorted({task.image for task in tasks if task.image}):
        _tell(f"Building the image {image} with {container}")
        executor.prepare(image, root, lambda _line: None)
    return executor.run


def _record(task_run: TaskRun, outcome: Outcome) -> layout.TaskRecord:
    definition = task_run.definition
    return layout.TaskRecord(
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


def _failures_of(task_run: TaskRun, outcome: Outcome) -> list[str]:
    log = task_run.output / "live.log"
    found = []
    if outcome.state != "completed":
        why = outcome.explanation or f"exit code {outcome.exit_code}"
        found.append(f"{task_run.label}: {outcome.state}, {why}; its log is {log}")
    if outcome.missing_artifacts:
        names = ", ".join(outcome.missing_artifacts)
        found.append(f"{task_run.label}: artifacts are missing: {names}; its log is {log}")
    return found


def _read_back(output: Path, failures: list[str]) -> list[layout.Measured]:
    """The results as any reader would find them; those that cannot be read join the failures."""
    measured = []
    for folder in sorted(output.iterdir()):
        if (folder / layout.RESULT_NAME).exists():
            try:
                measured.append(replace(layout.read_run(folder), source=folder.name))
            except ResultError as error:
                failures.append(str(error))
    return measured


def _report(
    measured: Sequence[layout.Measured],
    wanted: str | None,
    folders: Mapping[str, Path],
    output: Path,
    form: str,
) -> None:
    from io_benchmark.analysis import compare
    from io_benchmark.analysis.intake import worker_of
    from io_benchmark.report import output as report_output

    workers = [worker_of(one, one.pool) for one in measured]
    pools = {worker.pool for worker in workers}
    if folders:
        places = ", ".join(f"{pool} in {path}" for pool, path in sorted(folders.items()))
        remark = f"One machine ran all tasks; only the folders differ: {places}."
    else:
        remark = (
            "This is an A/A run: one machine ran all tasks, so what differs is noise. It shows how "
            "far apart equal pools may look here."
        )
    report = compare.compare(
        plan.pools(pools, wanted if wanted in pools else None),
        sorted(workers, key=lambda worker: (worker.side, worker.task_id)),
        compare.Options(),
        remarks=(remark,),
    )
    report_output.show(report, form)
    _tell(f"Results: {output}; compare them again with: io-benchmark compare {output}")


def _pool_and_folder(text: str) -> tuple[str, Path]:
    pool, equals, folder = text.partition("=")
    if not re.fullmatch("[A-Za-z0-9][A-Za-z0-9_.-]*", pool) or not equals or not folder:
        raise argparse.ArgumentTypeError(f"{text!r} is not POOL=DIR")
    return pool, Path(folder)


def _folders_of_pools(given: Sequence[tuple[str, Path]], pools: Sequence[str]) -> dict[str, Path]:
    folders: dict[str, Path] = {}
    for pool, folder in given:
        if pool not in pools:
            raise UsageError(f"--at {pool}={folder}: no such pool here; there are {_listed(pools)}")
        if pool in folders:
            raise UsageError(f"--at {pool}={folder}: the pool stands twice")
        if not folder.is_dir():
            raise UsageError(f"--at {pool}={folder}: no such folder; make it first")
        folders[pool] = folder.resolve()
    return folders


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)


def _tell(text: str) -> None:
    """Wrapped between words where people read it."""
    if sys.stderr.isatty():
        width = shutil.get_terminal_size().columns
        text = textwrap.fill(text, width, break_long_words=False, break_on_hyphens=False)
    tell(text)
