# SPDX-License-Identifier: MPL-2.0
"""Submit the tasks of a new group, or add tasks to one: more workers of undecided pools, or confirming runs.

Nothing is kept between two calls. What is missing follows from the group, and a task's id from the
group and the task's label, so the same command completes what was stopped.
"""

import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import slugid
from msgspec.structs import replace

from io_benchmark.analysis.inference.looks import Schedule
from io_benchmark.analysis.model import Worker
from io_benchmark.analysis.plan import Plan
from io_benchmark.analysis.trials.confirm import Pace
from io_benchmark.context import Context
from io_benchmark.costs.worker_time import MINUTES_PER_HOUR, Cost
from io_benchmark.errors import ResultError, UsageError
from io_benchmark.graph.root import Root
from io_benchmark.operations.compare import compare_pools
from io_benchmark.operations.group_work import HOW_TO_CANCEL, GroupWork, estimated_cost, group_of
from io_benchmark.paths import current_folder
from io_benchmark.report.content import pace_text, reasons_text
from io_benchmark.submit.definitions import (
    OWNER_PATTERN,
    NewTask,
    SubmissionOptions,
    has_plan,
    select_tasks,
)
from io_benchmark.submit.measured_group import LOOKS, MeasuredGroup, NextLook
from io_benchmark.submit.task_creation import TaskQueue, in_group, repeated_task
from io_benchmark_taskgraph.repeating import CONFIRMING, pace

RESUME = "--resume"  # goes on until all pools are decided
_GIT_S = 5
_ADVICE = "give your e-mail address with --owner, or set it with: git config user.email ADDRESS"


def submit(options: SubmissionOptions, context: Context, group_id: str = "") -> str | None:
    """Create the tasks of a new group, or only print them; return the group to compare."""
    options = replace(options, owner=_owner(options, context))
    if options.until_decided:
        options = replace(options, replicates=LOOKS[0], looks=LOOKS)
    chosen = _generated(options, context)
    group_id = group_id or slugid.nice()
    tasks = in_group(chosen, group_id)
    cost = estimated_cost(tasks, {}, options.prices)
    remark = _limit_of_looks(tasks, cost, options.budget) if options.until_decided else ""
    work = GroupWork(group_id, options, context, RESUME if options.until_decided else "")
    if not work.confirm_creation(tasks, cost, remark):
        return None
    if not options.until_decided:
        context.tell(f"Creating group:{group_id}; to cancel it: {HOW_TO_CANCEL} {group_id}")
        return work.create_and_wait(tasks)
    context.tell(f"Creating group:{group_id}; if this stops, go on with: {work.how_to_resume}")
    work.create_and_wait(tasks)
    return _measure_until_decided(work, is_agreed=True)


def _owner(options: SubmissionOptions, context: Context) -> str | None:
    """Return --owner, else git's user.email; a task that is created needs one of them."""
    owner = options.owner or _known_owner(context.environment)
    if owner is None and not options.dry_run:
        raise UsageError(f"the tasks need an owner; {_ADVICE}")
    if owner is None:
        context.tell(f"warning: creating these tasks needs an owner; {_ADVICE}")
    return owner


def _known_owner(environment: Mapping[str, str]) -> str | None:
    """Return git's user.email, if it is an address."""
    try:
        done = subprocess.run(
            ["git", "config", "user.email"],
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_GIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    address = done.stdout.decode("utf-8", "replace").strip()
    return address if re.fullmatch(OWNER_PATTERN, address) else None


def pools_of_kind(tree: Path | None) -> dict[str, str]:
    """Return the names of the pools that the kind measures, by PROVISIONER/WORKERTYPE."""
    from io_benchmark.graph.generate import generate  # noqa: PLC0415

    tasks = generate(Root.find(tree, current_folder()), SubmissionOptions().jobs)
    return {
        f"{task.definition['provisionerId']}/{task.definition['workerType']}": task.pool
        for task in tasks
        if task.pool
    }


def _generated(options: SubmissionOptions, context: Context) -> tuple[NewTask, ...]:
    # Imported here: generating takes half a second to load.
    from io_benchmark.graph.generate import generate  # noqa: PLC0415

    root = Root.find(options.root, current_folder())
    context.tell(f"Generating the graph from {root}")
    tasks = generate(root, options.jobs)
    chosen = select_tasks(tasks, options)
    # A wrong baseline is refused before machines have run for an hour.
    Plan.of_pools({task.pool for task in chosen}, options.baseline)
    left_out = [task.label for task in tasks if not task.pool]
    if left_out:
        context.tell(f"Left out, because it does not measure a pool: {', '.join(left_out)}")
    return chosen


def confirm(address: str, options: SubmissionOptions, context: Context) -> str | None:
    """Create the confirming tasks that a group lacks, wait for all; return the group to compare."""
    group_id = group_of("--confirm", address, context.environment)
    work = GroupWork(group_id, options, context, "--confirm")
    group = work.with_workers(work.tasks())
    if not group.workers:
        raise ResultError(
            f"group:{group_id}: has no results to confirm; wait for its tasks, or submit new ones"
        )
    confirming = compare_pools(group.workers, options.baseline).confirming
    running, chosen = work.ask(
        lambda queue: _confirming_tasks(queue, group, confirming.paces, context)
    )
    if not confirming.paces and not running:
        context.tell(f"Nothing to confirm in group:{group_id}: {reasons_text(confirming)}")
        return group_id
    if chosen or options.dry_run:
        cost = estimated_cost(chosen, group.minutes_by_job(), options.prices)
        if not work.confirm_creation(chosen, cost):
            return None
    context.tell(f"Confirming in group:{group_id}; if this stops, go on with: {work.how_to_resume}")
    return work.create_and_wait(chosen, running)


async def _confirming_tasks(
    queue: TaskQueue, group: MeasuredGroup, paces: Sequence[Pace], context: Context
) -> tuple[dict[str, str], list[NewTask]]:
    """Return the labels of the confirming tasks that run, by id, and the tasks that are missing."""
    running, running_paces = {}, []
    for task in group.unresolved:
        bytes_per_s = (
            pace(await queue.definition(task.task_id)) if CONFIRMING in task.label else None
        )
        if bytes_per_s:
            running[task.task_id] = task.label
            running_paces.append((task.pool, bytes_per_s))
    labels, chosen = group.labels, []
    for missing in paces:
        if any(missing.is_like(pool, bytes_per_s) for pool, bytes_per_s in running_paces):
            continue
        context.tell(f"To confirm: {pace_text(missing)}")
        task_id = next(
            task.task_id
            for worker, task in group.measured_tasks()
            if worker.pool == missing.pool and _has_ceilings(worker)
        )
        definition = await queue.definition(task_id)
        chosen.append(repeated_task(definition, missing.pool, labels, missing.bytes_per_s))
        labels.append(chosen[-1].label)
    return running, chosen


def _has_ceilings(worker: Worker) -> bool:
    return any(entry.trials is not None and entry.trials.ceilings for entry in worker.entries)


def resume(address: str, options: SubmissionOptions, context: Context) -> str | None:
    """Go on with a group of --until-decided; return the group to compare."""
    group_id = group_of(RESUME, address, context.environment)
    work = GroupWork(group_id, options, context, RESUME)
    tasks = work.tasks().tasks
    if not tasks:
        raise ResultError(f"group:{group_id}: has no tasks of the benchmark; submit new ones")
    if not has_plan(work.ask(lambda queue: queue.definition(tasks[0].task_id)), LOOKS):
        raise UsageError(
            f"{RESUME} {group_id}: was submitted without --until-decided; wait for its tasks and "
            f"compare them with: io-benchmark compare group:{group_id} --wait MINUTES"
        )
    return _measure_until_decided(work, is_agreed=False)


def _limit_of_looks(tasks: Sequence[NewTask], cost: Cost, budget_hours: float | None) -> str:
    """Return what all looks take at most; refuse what cannot decide anything."""
    pools = {task.pool for task in tasks}
    if len(pools) < 2:
        raise UsageError(
            f"--until-decided compares pools, and {', '.join(pools)} is the only one that is "
            "selected; select another one, or omit it"
        )
    most = cost.repeated(LOOKS[-1] // LOOKS[0])
    if budget_hours is None:
        limit = f"{most.amount}, {LOOKS[-1]} tasks per pool"
    else:
        most_minutes = min(most.minutes, budget_hours * MINUTES_PER_HOUR)
        limit = f"{Cost.worker_time(most_minutes, is_limit=True)} (--budget)"
    return f"Then more tasks of pools that are undecided; all looks together: at most {limit}"


def _measure_until_decided(work: GroupWork, *, is_agreed: bool) -> str | None:
    """Wait for the group's tasks, and add more until all pools are decided; return the group to compare."""
    while True:
        group = work.tasks()
        if group.running:  # tasks of a command that was stopped
            work.create_and_wait((), group.running)
            continue
        look = _next_look(work, work.with_workers(group))
        if look is None:
            return work.group_id
        missing, cost = look
        if not is_agreed and not work.confirm_creation(missing, cost):
            return None
        is_agreed = True
        work.create_and_wait(missing)


def _next_look(work: GroupWork, group: MeasuredGroup) -> tuple[list[NewTask], Cost] | None:
    """Compare, and return the tasks of the next look and their cost; None where this was the last."""
    options, context = work.options, work.context
    if options.baseline not in (None, *(worker.pool for worker in group.workers)):
        return None  # the comparison says so
    report = compare_pools(group.workers, options.baseline)
    if not any(part.comparisons for part in report.subjects):
        return None  # this as well
    look = group.next_look(report, Schedule(LOOKS, is_declared=True))
    chosen = work.ask(lambda queue: _more_tasks(queue, group, look.tasks_to_add))
    spent = group.spent_minutes
    cost = estimated_cost(chosen, group.minutes_by_job(), options.prices)
    taken = f"{Cost.worker_time(spent)} spent"
    if not look.undecided:
        context.tell(f"Decided; {taken}")
        return None
    next_step = f"the next look has {cost.summary}" if chosen else _reason_to_stop(look)
    context.tell(f"Undecided: {', '.join(look.undecided)}; {taken}; {next_step}")
    budget, total_hours = options.budget, (spent + cost.minutes) / MINUTES_PER_HOUR
    if chosen and budget is not None and total_hours > budget:
        context.tell(
            f"Stopped by --budget {budget:g}; to go on with a higher one: "
            f"{work.how_to_resume} --budget HOURS"
        )
        return None
    for share in cost.shares:
        context.tell(f"  {share.summary}")
    return (chosen, cost) if chosen else None


def _reason_to_stop(look: NextLook) -> str:
    if not look.exhausted:
        return f"{LOOKS[-1]} workers per pool are the last look"
    pools = ", ".join(look.exhausted)
    return f"half of the tasks or more brought no further worker of {pools}; look at the tasks"


async def _more_tasks(
    queue: TaskQueue, group: MeasuredGroup, tasks_to_add: Mapping[str, int]
) -> list[NewTask]:
    """Return the tasks to add, the pools in turn."""
    models = {
        job: (pool, await queue.definition(task_id))
        for job, (pool, task_id) in sorted(group.models().items())
        if job in tasks_to_add
    }
    labels, chosen = group.labels, []
    for number in range(max(tasks_to_add.values(), default=0)):
        for job, (pool, definition) in models.items():
            if number < tasks_to_add[job]:
                chosen.append(repeated_task(definition, pool, labels))
                labels.append(chosen[-1].label)
    return chosen
