# SPDX-License-Identifier: MPL-2.0
"""Rehearse a push on this machine: generate, run the tasks one by one, read back, compare."""

import random
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import slugid
from msgspec import Struct, field
from msgspec.structs import replace

from io_benchmark.analysis.model.plan import Plan
from io_benchmark.analysis.model.report import Report
from io_benchmark.analysis.model.run import Worker
from io_benchmark.context import Context
from io_benchmark.errors import UsageError
from io_benchmark.execute.local_run import LocalRun
from io_benchmark.graph.generate import GeneratedTask, generate, source
from io_benchmark.graph.root import Root
from io_benchmark.number_text import number_of
from io_benchmark.operations.compare import compare, find_paces, read_workers
from io_benchmark.paths import default_output_folder, new_output_folder, resolve_path
from io_benchmark.sources.run_files import run_folder
from io_benchmark.suggestions import did_you_mean
from io_benchmark_taskgraph.payloads import line_of_windows
from io_benchmark_taskgraph.repeating import CONFIRMING, job_of, new_label, with_trials


class _Machine(Struct):
    """This machine: runs tasks one by one, in folders of the output, and keeps their failures."""

    context: Context
    output: Path
    folders: Mapping[str, Path]  # by pool, where it was given one
    profile: str
    # All tasks of a rehearsal are of one push.
    group_id: str = field(default_factory=slugid.nice)
    failures: list[str] = field(default_factory=list)  # one line each

    def run(self, tasks: Sequence[GeneratedTask]) -> None:
        one_by_one = " one by one" if len(tasks) > 1 else ""
        amount = f"{number_of(len(tasks), 'task')}{one_by_one}"
        names = ", ".join(task.label for task in tasks)
        self.context.tell(f"Running {amount}, profile {self.profile}: {names}")
        for number, task in enumerate(tasks, 1):
            self.context.tell(f"[{number}/{len(tasks)}] {task.label}")
            started_s = time.monotonic()
            task_id = slugid.nice()
            local_run = LocalRun(
                task=task,
                task_id=task_id,
                group_id=self.group_id,
                parent=self.folders.get(task.pool, self.output),
                output=run_folder(self.output, task_id, 0),
                profile=self.profile,
            )
            record, failures = local_run.run(self.context.environment)
            self.failures += failures
            seconds = time.monotonic() - started_s
            self.context.tell(f"  {task.label}: {record.state} in {seconds:.1f} s")


def rehearse(
    context: Context,
    *,
    jobs: Sequence[str],
    full: bool,
    confirm: bool,
    root: Path | None,
    at: Mapping[str, Path],  # folders for the workspaces, by pool
    baseline: str | None,
    output: Path | None,
) -> tuple[Report, Path, Sequence[str]]:
    """Run the tasks; return the comparison of their results, their folder, and their failures."""
    tree = Root.find(root)
    context.tell(f"Generating the graph from {source(tree)}")
    # The report's task needs no rehearsal, as the results are compared here.
    tasks = [task for task in generate(tree, jobs) if task.pool]
    if not tasks:
        raise UsageError(f"-j {','.join(jobs)}: no such task measures a pool; name a pool")
    tasks = _possible(tasks, context)
    if confirm:
        tasks = [replace(task, definition=with_trials(task.definition)) for task in tasks]
    pools = sorted({task.pool for task in tasks})
    Plan.of_pools(pools, baseline)  # a wrong name ends the command before anything runs
    folders = _folders_of_pools(at, pools)
    if full:
        profile = "full"
    elif at or confirm:
        # Differences need more samples than a trial of the kind.
        profile = "twentieth"
    else:
        profile = "quick"
    random.Random(1).shuffle(tasks)
    with new_output_folder(output or default_output_folder("rehearsal")) as results:
        machine = _Machine(context, results, folders, profile)
        if confirm:
            machine.run(tasks)
            workers = read_workers([str(results)], context).results
            tasks = _confirming_tasks(workers, tasks, baseline, context)
        if tasks:
            machine.run(tasks)
        # As any reader would find them; a pool may have no result.
        report = compare(context, [str(results)], baseline=baseline, partial=True)
    return report, results, machine.failures


def _possible(tasks: Sequence[GeneratedTask], context: Context) -> list[GeneratedTask]:
    """Return the tasks that this machine can run; say which are left out."""
    left_out = [task for task in tasks if line_of_windows(task.definition["payload"])]
    if left_out:
        labels = ", ".join(task.label for task in left_out)
        line = f"A Windows task cannot run here; push instead: {labels}"
        if len(left_out) == len(tasks):
            raise UsageError(line)
        context.tell(line)
    return [task for task in tasks if task not in left_out]


def _folders_of_pools(places: Mapping[str, Path], pools: Sequence[str]) -> dict[str, Path]:
    folders: dict[str, Path] = {}
    for pool, folder in places.items():
        option = f"--at {pool}={folder}"
        if pool not in pools:
            known = f"pool is not selected; choose one of {', '.join(pools)}"
            raise UsageError(f"{option}: {known}{did_you_mean(pool, pools)}")
        folders[pool] = resolve_path(folder, option)
        if not folders[pool].is_dir():
            raise UsageError(f"{option}: no such folder; create it first")
    return folders


def _confirming_tasks(
    workers: Sequence[Worker],
    tasks: Sequence[GeneratedTask],
    baseline: str | None,
    context: Context,
) -> list[GeneratedTask]:
    """Return tasks of faster pools once more, each limited to the ceiling of a slower pool."""
    is_measured = any(worker.pool == baseline for worker in workers)
    confirming_tasks: list[GeneratedTask] = []
    for pace in find_paces(workers, baseline if is_measured else None, context):
        model = next(task for task in tasks if task.pool == pace.pool)
        labels = [task.label for task in confirming_tasks]
        label = new_label(job_of(model.label, pace.pool), labels, CONFIRMING)
        definition = with_trials(model.definition, pace.bytes_per_s)
        confirming_tasks.append(replace(model, label=label, definition=definition))
    return confirming_tasks
