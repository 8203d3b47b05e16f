# SPDX-License-Identifier: MPL-2.0
"""Rehearse a push on this machine: generate, run the tasks one by one, read back, compare."""

import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.compare import Options, compare
from io_benchmark.analysis.intake import worker_of
from io_benchmark.analysis.plan import Plan
from io_benchmark.analysis.report_model import Report
from io_benchmark.errors import ResultError, UsageError
from io_benchmark.graph.generate import GeneratedTask, generate
from io_benchmark.graph.root import Root
from io_benchmark.operations import rehearsal
from io_benchmark.operations.compare import compare_pools
from io_benchmark.operations.reading import Environment, in_order
from io_benchmark.operations.rehearsal import Rehearsal, TaskDisplay
from io_benchmark.paths import current_folder, resolve_path
from io_benchmark.report.content.confirming import pace_text, reasons_text
from io_benchmark.sources.folder import run_files
from io_benchmark.sources.folder.output_folder import new_output_folder
from io_benchmark.sources.run_results import RunResult
from io_benchmark.sources.taskcluster.tasks import REPORT_KIND
from io_benchmark.submit.definitions import job_of
from io_benchmark_taskgraph.repeating import CONFIRMING, new_label, with_trials


class RehearsalOptions(Struct, frozen=True, kw_only=True):
    """Which tasks run, of which size, and where."""

    jobs: Sequence[str] = ("io-benchmark",)
    quick: bool = False
    full: bool = False
    confirm: bool = False
    seed: int = 1  # of the order of the tasks
    root: Path | None = None
    at: Sequence[tuple[str, Path]] = ()  # a pool, and the folder of its workspace
    container: str | None = None
    baseline: str | None = None
    output: Path | None = None

    @property
    def profile(self) -> str:
        """Return the sizes. Disks that differ need more than those that show that all works."""
        if self.full:
            return "full"
        return "twentieth" if not self.quick and (self.at or self.confirm) else "quick"


class RehearsalOutcome(Struct, frozen=True):
    """The comparison of the results, and what the tasks left."""

    report: Report
    folder: Path
    pages: Sequence[Path]  # of the report's tasks
    failures: Sequence[str]  # one line each


def rehearse(
    options: RehearsalOptions,
    environment: Environment,
    tell: Callable[[str], None],
    display_of: Callable[[int], TaskDisplay],
) -> RehearsalOutcome:
    """Run the tasks, with a display for so many of them, and compare their results."""
    root = Root.find(options.root, current_folder())
    tell(f"Generating the graph from {root.path} ({root.origin})")
    tasks, reports = _split(options.jobs, generate(root, options.jobs))
    if options.confirm:
        tasks = [replace(task, definition=with_trials(task.definition)) for task in tasks]
    pools = sorted({task.pool for task in tasks})
    Plan.of_pools(pools, options.baseline)  # a wrong name ends the command before anything runs
    folders = _folders_of_pools(options.at, pools)
    random.Random(options.seed).shuffle(tasks)

    def run(tasks: Sequence[GeneratedTask], reports: Sequence[GeneratedTask]) -> None:
        names = ", ".join(task.label for task in (*tasks, *reports))
        count = len(tasks) + len(reports)
        if not count:
            return
        amount = "1 task" if count == 1 else f"{count} tasks one by one"
        tell(f"Running {amount}, profile {options.profile}: {names}")
        display = display_of(count)
        for task in tasks:
            machine.run_pool(task, display)
        for task in reports:
            machine.run_report(task, display)

    with new_output_folder(options.output, "rehearsal") as output:
        execute = rehearsal.executor(
            options.container, [*tasks, *reports], root.path, environment, tell
        )
        machine = Rehearsal(execute, root.path, output, folders, options.profile)
        if options.confirm:
            run(tasks, [])
            tasks = _confirming_tasks(_read_back(output)[0], tasks, options.baseline, tell)
        run(tasks, reports)
        measured, unreadable = _read_back(output)
    return RehearsalOutcome(
        _compare(measured, options.baseline, pools, folders),
        output,
        [page for page in map(machine.page, reports) if page.is_file()],
        [*machine.failures, *unreadable],
    )


def _split(
    jobs: Sequence[str], tasks: Sequence[GeneratedTask]
) -> tuple[list[GeneratedTask], list[GeneratedTask]]:
    """Return the tasks of pools, and those of the report."""
    measuring = [task for task in tasks if task.pool]
    useless = [task.label for task in tasks if not task.pool and task.kind != REPORT_KIND]
    if useless or not measuring:
        labels = ", ".join(useless or [task.label for task in tasks])
        raise UsageError(f"-j {','.join(jobs)}: {labels} does not measure a pool; name a pool")
    return measuring, [task for task in tasks if task.kind == REPORT_KIND]


def _folders_of_pools(at: Sequence[tuple[str, Path]], pools: Sequence[str]) -> dict[str, Path]:
    folders: dict[str, Path] = {}
    for pool, folder in at:
        option = f"--at {pool}={folder}"
        if pool not in pools:
            raise UsageError(f"{option}: pool is not selected; choose one of {', '.join(pools)}")
        if pool in folders:
            raise UsageError(f"{option}: pool given twice; use each pool once")
        folders[pool] = resolve_path(folder, option)
        if not folders[pool].is_dir():
            raise UsageError(f"{option}: no such folder; create it first")
    return folders


def _read_back(output: Path) -> tuple[list[RunResult], list[str]]:
    """Return the results as any reader would find them, and why others cannot be read."""
    measured, unreadable = [], []
    for folder in sorted(output.iterdir()):
        if (folder / run_files.RESULT_NAME).exists():
            try:
                measured.append(replace(run_files.read_run(folder), source=folder.name))
            except ResultError as error:
                unreadable.append(str(error))
    return measured, unreadable


def _confirming_tasks(
    measured: Sequence[RunResult],
    tasks: Sequence[GeneratedTask],
    baseline: str | None,
    tell: Callable[[str], None],
) -> list[GeneratedTask]:
    """Return tasks of faster pools once more, each limited to the ceiling of a slower pool."""
    pools = {run.pool for run in measured}
    workers = [worker_of(run, run.pool) for run in measured]
    confirming = compare_pools(workers, baseline if baseline in pools else None).confirming
    if not confirming.paces:
        tell(f"Nothing to confirm: {reasons_text(confirming)}")
    confirming_tasks: list[GeneratedTask] = []
    for pace in confirming.paces:
        tell(f"To confirm: {pace_text(pace)}")
        model = next(task for task in tasks if task.pool == pace.pool)
        labels = [task.label for task in confirming_tasks]
        job = job_of(model.label, pace.pool) or model.label
        label = new_label(job, labels, CONFIRMING)
        definition = with_trials(model.definition, pace.bytes_per_s)
        confirming_tasks.append(replace(model, label=label, definition=definition))
    return confirming_tasks


def _compare(
    measured: Sequence[RunResult],
    baseline: str | None,
    pools: Sequence[str],
    folders: Mapping[str, Path],
) -> Report:
    """Compare the results; a pool without one may be the baseline."""
    remark = (
        "This is an A/A run: one machine ran all tasks, so what differs is noise. It shows how "
        "far apart equal pools may look here."
    )
    if folders:
        places = ", ".join(f"{pool} in {path}" for pool, path in sorted(folders.items()))
        remark = f"One machine ran all tasks; only the folders differ: {places}."
    return compare(
        Plan.of_pools({run.pool for run in measured}, baseline, pools),
        in_order(worker_of(run, run.pool) for run in measured),
        Options(),
        remarks=(remark,),
    )
