# SPDX-License-Identifier: MPL-2.0
"""Submit the tasks of a new group, or add tasks to one: for undecided pools, or to confirm causes.

Nothing is kept between two calls. What is missing follows from the group, and a task's id from the
group and the task's label, so the same command completes what was stopped.
"""

import re
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import slugid
from msgspec.structs import replace

from io_benchmark.analysis.model.cause import Pace
from io_benchmark.analysis.model.plan import Plan
from io_benchmark.command_lines import compare_group_when_done
from io_benchmark.context import Context
from io_benchmark.errors import ResultError, UsageError
from io_benchmark.graph.generate import generate, source
from io_benchmark.graph.root import Root
from io_benchmark.number_text import listed, number_of
from io_benchmark.operations.compare import find_paces, read_workers
from io_benchmark.operations.group_work import CONFIRM, RESUME, GroupWork
from io_benchmark.operations.measured_group import MeasuredGroup
from io_benchmark.operations.until_decided import limit_of_looks, measure_until_decided
from io_benchmark.results.format import PLAN_VARIABLE
from io_benchmark.sources.taskcluster.tasks import QueueTask
from io_benchmark.submit.definitions import (
    LOOKS,
    NewTask,
    Repetition,
    SubmissionOptions,
    select_tasks,
)
from io_benchmark.submit.new_pools import new_pools
from io_benchmark.submit.values import OWNER_PATTERN
from io_benchmark_taskgraph.repeating import CONFIRMING

_LABELS_SHOWN = 6
_GIT_TIMEOUT_S = 5  # git only reads its configuration


def submit(options: SubmissionOptions, context: Context, group_id: str = "") -> str | None:
    """Create the tasks of a new group, or those that a group lacks; return the group to compare."""
    options = replace(options, owner=options.owner or _owner_in_git(context.environment))
    resumption = RESUME if options.until_decided else ""
    work = GroupWork(group_id or slugid.nice(), options, context, resumption)
    tasks = _new_tasks(work)
    cost = MeasuredGroup(()).cost(tasks, options.prices)
    remark = limit_of_looks(tasks, cost, options.budget_hours) if options.until_decided else ""
    present: Mapping[str, QueueTask] = {}
    if group_id:
        present = work.ask(lambda queue: queue.tasks([task.task_id for task in tasks]))
    missing = [task for task in tasks if task.task_id not in present]
    if present:
        context.tell(f"{number_of(len(present), 'task')} of group:{group_id} exist already")
    if missing:
        cost = MeasuredGroup(()).cost(missing, options.prices)
        if not work.confirm_creation(missing, cost, remark):
            return None
    running = {
        task_id: task.label for task_id, task in present.items() if not task.status.is_resolved
    }
    group = work.create_and_wait(missing, running, is_new_group=not present)
    if not options.until_decided:
        return group
    return measure_until_decided(work, is_agreed=bool(missing))


def _owner_in_git(environment: Mapping[str, str]) -> str:
    """Return git's user.email; raise a UsageError if it is not an address."""
    with suppress(OSError, subprocess.TimeoutExpired):
        done = subprocess.run(
            ["git", "config", "user.email"],
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_GIT_TIMEOUT_S,
            check=False,
        )
        address = done.stdout.decode("utf-8", "replace").strip()
        if re.fullmatch(OWNER_PATTERN, address):
            return address
    raise UsageError(
        "the tasks need an owner; give your e-mail address with --owner, or set it with: git "
        "config user.email ADDRESS"
    )


def pools_of_kind(tree: Path | None) -> dict[str, str]:
    """Return the names of the pools that the kind measures, by PROVISIONER/WORKERTYPE."""
    tasks = generate(Root.find(tree), SubmissionOptions().jobs)
    return {
        f"{task.definition['provisionerId']}/{task.definition['workerType']}": task.pool
        for task in tasks
        if task.pool
    }


def _new_tasks(work: GroupWork) -> list[NewTask]:
    options, tell = work.options, work.context.tell
    root = Root.find(options.root)
    tell(f"Generating the graph from {source(root)}")
    tasks = generate(root, options.jobs, capacities=options.capacities)
    chosen = select_tasks(tasks, options, work.group_id)
    # A wrong baseline is refused before machines have run for an hour.
    pools = {task.pool for task in chosen}
    Plan.of_pools(pools, options.baseline)
    new = new_pools(tasks, options.queues)
    if new:
        if len(options.queues) == 1 and not options.capacities:
            raise UsageError(
                f"--pool {new[0]}={options.queues[new[0]]}: no kind has this pool, so that it is "
                "the only one; name the pool that it is compared with as well, as "
                "--pool NAME=PROVISIONER/WORKERTYPE"
            )
        model = next(task.label for task in tasks if task.pool)
        tell(f"No kind has these pools: {', '.join(new)}; they run the task {model}")
    left_out = [task.label for task in tasks if not task.pool]
    if left_out:
        tell(f"Left out, because it does not measure a pool: {', '.join(left_out)}")
    native = [task.label for task in chosen if "image" not in task.definition["payload"]]
    if native and options.image is not None:
        tell(f"Without docker, and so without --image: {listed(native, _LABELS_SHOWN)}")
    if options.gates and not new:
        unnamed = dict.fromkeys(task.pool for task in tasks if task.pool not in {"", *pools})
        if unnamed:
            tell(f"Left out, because no gate names it: {', '.join(unnamed)}")
    return chosen


def confirm(address: str, options: SubmissionOptions, context: Context) -> str | None:
    """Create the confirming tasks that a group lacks, wait for all; return the group to compare."""
    work = GroupWork.find(CONFIRM, address, options, context)
    group = work.measure(CONFIRMING)
    if group is None:
        return None
    if not group.workers:
        raise ResultError(
            f"group:{work.group_id}: has no results to confirm; wait for its tasks, or submit new "
            "ones"
        )
    paces = _missing_paces(work, group)
    if not paces:
        return work.group_id
    first_tasks: dict[str, str] = {}  # with trials, by pool
    for worker, task in group.measured_tasks():
        if any(run.trials is not None and run.trials.ceilings for run in worker.runs):
            first_tasks.setdefault(worker.pool, task.task_id)
    repetitions = [
        Repetition(first_tasks[pace.pool], pace.pool, pace.bytes_per_s) for pace in paces
    ]
    tasks, cost = work.repeated(group, repetitions)
    if not work.confirm_creation(tasks, cost):
        return None
    return work.create_and_wait(tasks)


def _missing_paces(work: GroupWork, group: MeasuredGroup) -> Sequence[Pace]:
    """Return the paces at which pools confirm the causes of the comparison, or of each gate."""
    options, place = work.options, f" in group:{work.group_id}"
    if not options.gates:
        return find_paces(group.workers, options.baseline, work.context, place)
    paces: list[Pace] = []
    for gate in options.gates:
        workers = [worker for worker in group.workers if worker.pool in gate.sides]
        if workers:
            paces += find_paces(workers, gate.baseline, work.context, place)
    return list(dict.fromkeys(paces))


def resume(address: str, options: SubmissionOptions, context: Context) -> str | None:
    """Go on with a group of --until-decided; return the group to compare."""
    work = GroupWork.find(RESUME, address, options, context)
    tasks, group_id = work.tasks(), work.group_id
    if not tasks:
        raise ResultError(f"group:{group_id}: has no tasks of the benchmark; submit new ones")
    if not _names_looks(work.ask(lambda queue: queue.definition(tasks[0].task_id))):
        raise UsageError(
            f"{RESUME} {group_id}: was submitted without --until-decided; wait for its tasks and "
            f"compare them with: {compare_group_when_done(group_id)}"
        )
    return measure_until_decided(work, is_agreed=False)


def _names_looks(definition: Mapping[str, Any]) -> bool:
    """Return whether a task, which may be anybody's, has the looks of --until-decided."""
    payload = definition.get("payload")
    variables = payload.get("env") if isinstance(payload, Mapping) else None
    plan = variables.get(PLAN_VARIABLE) if isinstance(variables, Mapping) else None
    return bool(plan == ",".join(map(str, LOOKS)))


def check_results(address: str, context: Context) -> None:
    """Raise a ResultError unless each task of a group has a result that can be read."""
    gathered = read_workers([address], context)
    if gathered.unreadable or not gathered.results:
        raise ResultError("; ".join(gathered.unreadable) or f"{address}: has no results")


def cancel(address: str, context: Context) -> None:
    """Cancel the benchmark's tasks of a group."""
    work = GroupWork.find("--cancel", address, SubmissionOptions(), context)
    labels, problems = work.ask(lambda queue: queue.cancel_group(work.group_id))
    context.tell(f"cancelled {len(labels)}: {listed(labels, _LABELS_SHOWN) or 'none'}")
    lines = [
        f"{number_of(len(left), 'task')} not cancelled ({listed(left, _LABELS_SHOWN)}): {reason}"
        for reason, left in problems.items()
    ]
    context.tell_errors(lines[:-1])
    if lines:
        raise ResultError(lines[-1])
