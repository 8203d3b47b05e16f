# SPDX-License-Identifier: MPL-2.0
"""Run the tasks' commands on this machine, one at a time, and compare the results.

All pools are this one machine, so any difference is noise, unless --at puts a
pool on another disk. A new folder gets the results; compare can read it again.
The task for a push's report, if selected, runs last on these results.

Exit code: 0 all tasks completed, 1 a task failed, 2 wrong usage.
"""

from __future__ import annotations

import argparse
import logging
import random
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from io_benchmark.analysis.plan import Plan
from io_benchmark.commands.context import EXIT_FAILED, Context
from io_benchmark.commands.options import add_root_option, parse_job_names
from io_benchmark.errors import ResultError, UsageError
from io_benchmark.paths import current_folder, resolve_path
from io_benchmark.sources.folder import output_folder, run_files
from io_benchmark.sources.run_results import RunResult

if TYPE_CHECKING:
    from io_benchmark.commands.rehearsal import Rehearsal
    from io_benchmark.graph.generate import GeneratedTask

USAGE = "[OPTION ...]"
EXAMPLES = (
    "io-benchmark rehearse -j amd-16,intel --baseline intel",
    "io-benchmark rehearse --at amd-16=/mnt --full --output results",
)
MANUAL = "rehearsal.md"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    _add_selection(parser.add_argument_group("what to run"))
    _add_surroundings(parser.add_argument_group("where to run it"))
    _add_output(parser.add_argument_group("output"))


def _add_selection(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "-j",
        "--jobs",
        default="io-benchmark",
        metavar="NAME[,NAME]",
        help="tasks by job_try_name, label or pool (default: io-benchmark)",
    )
    size = group.add_mutually_exclusive_group()
    size.add_argument(
        "--quick",
        dest="profile",
        action="store_const",
        const="quick",
        help="an eightieth of the sizes, 100 retrieves (default; a twentieth, 200 with --at or "
        "--confirm)",
    )
    size.add_argument(
        "--full",
        dest="profile",
        action="store_const",
        const="full",
        help="the sizes of a worker: 5.6 GiB of cache per task",
    )
    group.add_argument(
        "--confirm",
        action="store_true",
        help="run all trials, and paced runs that confirm causes",
    )
    group.add_argument(
        "--seed", type=int, default=1, help="seed for the order of the tasks (default: 1)"
    )
    add_root_option(group)


def _add_surroundings(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--at",
        action="append",
        default=[],
        type=_pool_and_folder,
        metavar="POOL=DIR",
        help="put this pool's workspace in an existing folder, such as one on another disk; can "
        "be given more than once",
    )
    group.add_argument(
        "--container",
        choices=("docker", "podman"),
        metavar="ENGINE",
        help="run each task in its image, as a worker does, with docker or podman",
    )


def _add_output(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--baseline", metavar="POOL", help="pool to compare with (default: the last by name)")
    add(
        "--output",
        type=Path,
        metavar="DIR",
        help=f"new folder for results (default: {output_folder.DEFAULT_FOLDER}/rehearsal-TIME)",
    )
    add(
        "--json",
        dest="format",
        action="store_const",
        const="json",
        default="text",
        help="print the comparison as JSON",
    )
    add("--verbose", action="store_true", help="show the logs of the tasks and of taskgraph")


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
    from io_benchmark.commands.rehearsal import Rehearsal, executor
    from io_benchmark.graph.generate import generate
    from io_benchmark.graph.root import Root

    root = Root.find(arguments.root, current_folder())
    _tell(context, f"Generating the graph from {root.path} ({root.origin})")
    jobs = parse_job_names(arguments.jobs)
    tasks, reports = _split(arguments.jobs, generate(root, jobs))
    if arguments.confirm:
        # Half as much again to load, with the client of the queue.
        from io_benchmark.commands.confirmation import confirming_tasks
        from io_benchmark_taskgraph.repeating import with_trials

        tasks = [replace(task, definition=with_trials(task.definition)) for task in tasks]
    pools = sorted({task.pool for task in tasks})
    Plan.of_pools(pools, arguments.baseline)  # a wrong name ends the command before anything runs
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
        rehearsal = Rehearsal(execute, root.path, output, folders, _profile(arguments))
        if arguments.confirm:
            _run_all(rehearsal, tasks, [], arguments, context)
            tasks = confirming_tasks(
                _read_back(output, []),
                tasks,
                arguments.baseline,
                lambda text: _tell(context, text),
            )
        _run_all(rehearsal, tasks, reports, arguments, context)
        failures = rehearsal.failures
        measured = _read_back(output, failures)
    _report(measured, arguments, pools, folders, output, context)
    for page in [rehearsal.page(task) for task in reports]:
        if page.is_file():
            _tell(context, f"Report of the report task: {page}")
    for failure in failures:
        _tell(context, f"error: {failure}")
    return EXIT_FAILED if failures else 0


def _split(
    jobs: str, tasks: Sequence[GeneratedTask]
) -> tuple[list[GeneratedTask], list[GeneratedTask]]:
    """The pools' tasks, and the report's."""
    from io_benchmark.sources.taskcluster.tasks import REPORT_KIND

    others = [task.label for task in tasks if not task.pool and task.kind != REPORT_KIND]
    of_pools = [task for task in tasks if task.pool]
    if others or not of_pools:
        labels = others or [task.label for task in tasks]
        raise UsageError(f"-j {jobs}: {', '.join(labels)} does not measure a pool; name a pool")
    return of_pools, [task for task in tasks if task.kind == REPORT_KIND]


def _run_all(
    rehearsal: Rehearsal,
    tasks: Sequence[GeneratedTask],
    reports: Sequence[GeneratedTask],
    arguments: argparse.Namespace,
    context: Context,
) -> None:
    from rich.console import Console

    from io_benchmark.commands.rehearsal import RehearsalProgress

    names = ", ".join(task.label for task in (*tasks, *reports))
    count = len(tasks) + len(reports)
    if not count:
        return
    shown = "1 task" if count == 1 else f"{count} tasks one by one"
    _tell(context, f"Running {shown}, profile {rehearsal.profile}: {names}")
    width = context.columns(context.stderr)
    shown_on = Console(file=context.stderr, width=width, _environ=context.environment)
    with closing(RehearsalProgress(shown_on, count, arguments.verbose)) as progress:
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
                measured.append(replace(run_files.read_run(folder), source=folder.name))
            except ResultError as error:
                failures.append(str(error))
    return measured


def _report(
    measured: Sequence[RunResult],
    arguments: argparse.Namespace,
    planned: Sequence[str],
    folders: Mapping[str, Path],
    output: Path,
    context: Context,
) -> None:
    from io_benchmark.analysis import compare
    from io_benchmark.analysis.intake import worker_of
    from io_benchmark.report.formats import output as report_output

    workers = [worker_of(run, run.pool) for run in measured]
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
        Plan.of_pools(pools, arguments.baseline, planned),
        sorted(workers, key=lambda worker: (worker.side, worker.task_id)),
        compare.Options(),
        remarks=(remark,),
    )
    report_output.show(report, arguments.format, context.stdout, context.environment)
    _tell(
        context, f"Results: {output}; read everything with: io-benchmark compare {output} --details"
    )


def _profile(arguments: argparse.Namespace) -> str:
    """Return the chosen sizes. Disks that differ need more than those that show that all works."""
    chosen: str | None = arguments.profile
    return chosen or ("twentieth" if arguments.at or arguments.confirm else "quick")


def _pool_and_folder(text: str) -> tuple[str, Path]:
    pool, equals, folder = text.partition("=")
    if not re.fullmatch("[A-Za-z0-9][A-Za-z0-9_.-]*", pool) or not equals or not folder:
        raise argparse.ArgumentTypeError(f"{text!r} is not POOL=DIR, such as amd-16=/mnt")
    return pool, Path(folder)


def _folders_of_pools(given: Sequence[tuple[str, Path]], pools: Sequence[str]) -> dict[str, Path]:
    folders: dict[str, Path] = {}
    for pool, folder in given:
        if pool not in pools:
            raise UsageError(
                f"--at {pool}={folder}: pool is not selected; choose one of {', '.join(pools)}"
            )
        if pool in folders:
            raise UsageError(f"--at {pool}={folder}: pool given twice; use each pool once")
        folders[pool] = resolve_path(folder, f"--at {pool}={folder}")
        if not folders[pool].is_dir():
            raise UsageError(f"--at {pool}={folder}: no such folder; create it first")
    return folders


def _tell(context: Context, text: str) -> None:
    """Wrapped between words where people read it."""
    if context.stderr.isatty():
        width = context.columns(context.stderr)
        text = textwrap.fill(text, width, break_long_words=False, break_on_hyphens=False)
    context.tell(text)
