# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Run the tasks' own commands on this machine, collect what a worker would upload, compare.

The graph is generated from the kinds; each selected task's command runs as it stands, one at a
time, in an order that a seed shuffles, each in a folder that stands for its pool's workspace.
Results go to a folder in the layout TASKID.RUNID/io-benchmark.json. All pools are this one
machine, so what differs is noise, unless --at puts a pool on another disk. The task that makes the
report of a push, where it is selected too, runs last and reads these results.
"""

from __future__ import annotations

import argparse
import logging
import random
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from io_benchmark.analysis import plan
from io_benchmark.commands.common import names_of_jobs
from io_benchmark.commands.context import Context
from io_benchmark.commands.rehearsing import Rehearsal, executor
from io_benchmark.errors import ResultError, UsageError
from io_benchmark.paths import current_folder, resolve_path
from io_benchmark.sources.folder import output_folder, run_files
from io_benchmark.sources.protocol import RunResult

if TYPE_CHECKING:
    from io_benchmark.graph.generate import GeneratedTask

REPORT_KIND = "io-benchmark-report"


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
        help=f"a new folder for the results (default: {output_folder.DEFAULT_FOLDER}/rehearsal-TIME)",
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


def run(arguments: argparse.Namespace, context: Context) -> int:
    with _logs_shown(arguments.verbose, context):
        return _rehearse(arguments, context)


@contextmanager
def _logs_shown(verbose: bool, context: Context) -> Iterator[None]:
    """Write log records to stderr meanwhile, where --verbose wants them."""
    if not verbose:
        yield
        return
    root, program = logging.getLogger(), logging.getLogger("io_benchmark")
    handler, level = logging.StreamHandler(context.stderr), program.level
    root.addHandler(handler)
    program.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        program.setLevel(level)
        root.removeHandler(handler)


def _rehearse(arguments: argparse.Namespace, context: Context) -> int:
    # Imported here: generating takes half a second to load, and --help must not wait for it.
    from io_benchmark.graph.generate import generate
    from io_benchmark.graph.root import find_root

    root = find_root(arguments.root, current_folder())
    _tell(context, f"Generating the graph from {root.path} ({root.origin})")
    jobs = names_of_jobs(arguments.jobs)
    tasks, reports = _split(arguments.jobs, generate(root, jobs).tasks)
    pools = sorted({task.pool for task in tasks})
    plan.pools(pools, arguments.baseline)  # a mistake is told before anything runs
    folders = _folders_of_pools(arguments.at, pools)
    random.Random(arguments.seed).shuffle(tasks)
    with output_folder.new_output_folder(arguments.output, "rehearsal") as output:
        execute = executor(
            arguments.container,
            [*tasks, *reports],
            root.path,
            context.environment,
            lambda text: _tell(context, text),
        )
        rehearsal = Rehearsal(execute, root.path, output, folders, arguments.profile)
        _run_all(rehearsal, tasks, reports, arguments, context)
        failures = rehearsal.failures
        measured = _read_back(output, failures)
    _report(measured, arguments, folders, output, context)
    for page in [rehearsal.page(task) for task in reports]:
        if page.is_file():
            _tell(context, f"What the report's task made of them: {page}")
    for failure in failures:
        _tell(context, f"error: {failure}")
    return 1 if failures else 0


def _split(
    jobs: str, tasks: Sequence[GeneratedTask]
) -> tuple[list[GeneratedTask], list[GeneratedTask]]:
    """The pools' tasks, and the report's."""
    others = [task.label for task in tasks if not task.pool and task.kind != REPORT_KIND]
    of_pools = [task for task in tasks if task.pool]
    if others or not of_pools:
        labels = others or [task.label for task in tasks]
        raise UsageError(f"-j {jobs}: {_listed(labels)} measures no pool; name a pool")
    return of_pools, [task for task in tasks if task.kind == REPORT_KIND]


def _run_all(
    rehearsal: Rehearsal,
    tasks: Sequence[GeneratedTask],
    reports: Sequence[GeneratedTask],
    arguments: argparse.Namespace,
    context: Context,
) -> None:
    from io_benchmark.report.formats.page import terminal_console
    from io_benchmark.report.progress import RehearsalProgress

    names = ", ".join(task.label for task in (*tasks, *reports))
    count = len(tasks) + len(reports)
    _tell(context, f"Running {count} tasks one by one, {arguments.profile} sizes: {names}")
    shown_on = terminal_console(context.stderr, context.environment)
    with RehearsalProgress(shown_on, count, arguments.verbose) as progress:
        for task in tasks:
            rehearsal.pool(task, progress)
        for task in reports:
            rehearsal.report(task, progress)


def _read_back(output: Path, failures: list[str]) -> list[RunResult]:
    """The results as any reader would find them; those that cannot be read join the failures."""
    measured = []
    for folder in sorted(output.iterdir()):
        if (folder / run_files.RESULT_NAME).exists():
            try:
                measured.append(replace(run_files.read_run_folder(folder), source=folder.name))
            except ResultError as error:
                failures.append(str(error))
    return measured


def _report(
    measured: Sequence[RunResult],
    arguments: argparse.Namespace,
    folders: Mapping[str, Path],
    output: Path,
    context: Context,
) -> None:
    from io_benchmark.analysis import compare
    from io_benchmark.analysis.intake import worker_of
    from io_benchmark.report.formats import output as report_output

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
    wanted = arguments.baseline
    report = compare.compare(
        plan.pools(pools, wanted if wanted in pools else None),
        sorted(workers, key=lambda worker: (worker.side, worker.task_id)),
        compare.Options(),
        remarks=(remark,),
    )
    report_output.show(report, arguments.format, context.stdout, context.environment)
    _tell(context, f"Results: {output}; compare them again with: io-benchmark compare {output}")


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
        folders[pool] = resolve_path(folder, f"--at {pool}={folder}")
        if not folders[pool].is_dir():
            raise UsageError(f"--at {pool}={folder}: no such folder; make it first")
    return folders


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)


def _tell(context: Context, text: str) -> None:
    """Wrapped between words where people read it."""
    if context.stderr.isatty():
        width = context.columns(context.stderr)
        text = textwrap.fill(text, width, break_long_words=False, break_on_hyphens=False)
    context.tell(text)
