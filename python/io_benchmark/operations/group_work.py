# SPDX-License-Identifier: MPL-2.0
"""Shows what creating tasks costs, creates those of a group, waits, and leaves or cancels them."""

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct, field

from io_benchmark.context import Context
from io_benchmark.costs.worker_time import Cost, CostShare, Price
from io_benchmark.errors import IoBenchmarkError, UsageError
from io_benchmark.number_text import number_of
from io_benchmark.sources.taskcluster.access import Access
from io_benchmark.sources.taskcluster.addresses import GroupAddress, default_root_url, parse
from io_benchmark.sources.taskcluster.task_watch import wait_in_group
from io_benchmark.submit.definitions import (
    FULL,
    QUICK,
    UNGROUPED,
    NewTask,
    limit_s,
    submitter_scopes,
)
from io_benchmark.submit.task_creation import (
    CancelledTasks,
    CreatedTasks,
    CreationError,
    TaskQueue,
    dated,
)
from io_benchmark.text import clean

HOW_TO_CANCEL = "io-benchmark submit --cancel"
RESUME = "--resume"  # goes on until all pools are decided


class SubmissionOptions(Struct, frozen=True, kw_only=True):
    """Which tasks are created, and what happens before and after."""

    jobs: Sequence[str] = ("io-benchmark",)
    root: Path | None = None
    pool: Sequence[tuple[str, str]] = ()  # a pool, and the queue of its tasks
    image: str | None = None
    quick: bool = False
    replicates: int | None = None
    owner: str | None = None
    priority: str | None = None
    scheduler: str = UNGROUPED
    dry_run: bool = False
    yes: bool = False
    no_wait: bool = False
    every: float = 15.0  # seconds between looks at the group
    timeout: float | None = None  # minutes
    until_decided: bool = False
    budget: float | None = None  # hours
    baseline: str | None = None
    prices: Mapping[str, Price] = field(default_factory=dict)

    @property
    def profile(self) -> str:
        return QUICK if self.quick else FULL


class SubmissionOutcome(Struct, frozen=True):
    """How a submission ended."""

    group_id: str = ""  # of the group to compare; empty: there is nothing to compare now
    is_done: bool = True  # False: the user declined, or something could not be done


DONE = SubmissionOutcome()
NOT_DONE = SubmissionOutcome(is_done=False)


def estimated_cost(
    tasks: Sequence[NewTask], minutes: Mapping[str, float], prices: Mapping[str, Price]
) -> Cost:
    """Estimate the cost by the minutes that earlier tasks of each job took, else by the time budget."""
    jobs: dict[str, list[NewTask]] = {}
    for task in tasks:
        jobs.setdefault(task.job, []).append(task)
    pools = Counter(replicates[0].pool for replicates in jobs.values())
    shares = []
    for job, replicates in jobs.items():
        first = replicates[0]
        task_minutes = minutes.get(job, limit_s(first.definition["payload"]) / 60)
        shares.append(
            CostShare(
                name=first.pool if pools[first.pool] == 1 else job,
                tasks=len(replicates),
                minutes=max(1, math.ceil(task_minutes)),
                is_limit=job not in minutes,
                price=Price.find(prices, first.pool, first.queue),
                queue=first.queue,
            )
        )
    return Cost(tuple(shares), with_prices=bool(prices))


def announce(
    tasks: Sequence[NewTask],
    cost: Cost,
    options: SubmissionOptions,
    context: Context,
    remark: str = "",
) -> SubmissionOutcome | None:
    """Show what creating these tasks means, and ask on a terminal; or print them instead.

    Return how the submission ends where they are not to be created.
    """
    tell = context.tell
    access = Access.of(default_root_url(context.environment), context.environment)
    tell(cost.summary + ("" if options.dry_run else f", at {access.root_url}, {access.who}"))
    for share in cost.shares:
        tell(f"  {share.summary}")
    if remark:
        tell(remark)
    tell(f"Scopes needed: {', '.join(submitter_scopes(tasks))}")
    scopes = sorted({scope for task in tasks for scope in task.definition["scopes"]})
    tell(f"Scopes the tasks get: {', '.join(scopes) or 'none'}")
    if options.dry_run:
        _print(tasks, context)
        return DONE
    if access.who == "anonymously":
        tell("warning: no credentials; set TASKCLUSTER_CLIENT_ID and TASKCLUSTER_ACCESS_TOKEN")
    images, pools = TaskQueue.connect(context.environment, lambda queue: queue.missing(tasks))
    for address in images:
        raise UsageError(
            f"{address}: does not exist at {access.root_url}, and is to have the tasks' image; "
            "check --image and the root URL"
        )
    for pool in pools:
        tell(
            f"warning: {access.root_url} has no worker pool {pool}: a task for it may wait "
            "until its deadline; check the name, or choose another pool with --pool"
        )
    if options.yes or not context.is_interactive or context.confirm("Create them?"):
        return None
    tell("nothing was created")
    return NOT_DONE


def _print(tasks: Sequence[NewTask], context: Context) -> None:
    """Print tasks in the form of `taskgraph morphed -J`."""
    now = datetime.now(UTC)
    printed = {
        task.label: {
            "label": task.label,
            "task_id": task.task_id,
            "task": dated(task.definition, now),
        }
        for task in tasks
    }
    context.print(json.dumps(printed, indent=2, ensure_ascii=False))


class GroupWork(Struct):
    """The tasks of a group that are waited for; what was created survives an interruption."""

    group_id: str
    options: SubmissionOptions
    context: Context
    resumption: str = ""  # the option that goes on with the group, if there is one
    created: CreatedTasks = field(default_factory=CreatedTasks)  # or found in the group

    @property
    def how_to_resume(self) -> str:
        baseline = self.options.baseline
        option = "" if baseline is None else f"--baseline {baseline} "
        return f"io-benchmark submit {option}{self.resumption} {self.group_id}"

    def create_and_compare(self, missing: Sequence[NewTask]) -> SubmissionOutcome:
        """Create the missing tasks and wait for all; then the group is compared."""
        self.create_and_wait(missing)
        return DONE if self.options.no_wait else self.to_compare()

    def to_compare(self) -> SubmissionOutcome:
        """Return the group as one to compare; tell how to do that again."""
        self.context.tell(f"Compare again with: io-benchmark compare group:{self.group_id}")
        return SubmissionOutcome(self.group_id)

    def create_and_wait(self, missing: Sequence[NewTask]) -> bool:
        """Create the missing tasks and wait, unless --no-wait; return whether all are resolved."""
        group_id, options, context = self.group_id, self.options, self.context
        environment, created = context.environment, self.created
        labels = created.labels | {task.task_id: task.label for task in missing}
        limit_s = None if options.timeout is None else options.timeout * 60
        try:
            TaskQueue.connect(environment, lambda queue: queue.create(missing, created))
            made = number_of(len(missing), "task") if missing else "no tasks"
            context.tell(f"{made} created: {default_root_url(environment)}/tasks/groups/{group_id}")
            if options.no_wait:
                context.print(f"group:{group_id}")
                context.tell(f"Compare them later with: io-benchmark compare group:{group_id}")
                return False
            context.tell("Waiting; Ctrl-C stops waiting and asks whether to cancel the tasks")
            are_resolved = TaskQueue.connect(
                environment,
                lambda queue: wait_in_group(
                    queue, group_id, labels, context.tell, every_s=options.every, limit_s=limit_s
                ),
            )
        except (KeyboardInterrupt, IoBenchmarkError) as error:
            # Not on SIGTERM; nor after other errors: lost sight of while waiting, tasks may be well.
            may_ask = type(error) is KeyboardInterrupt or isinstance(error, CreationError)
            self._leave(len(labels), may_ask=may_ask)
            raise
        if not are_resolved:
            context.tell(
                f"--timeout: stopped waiting; {HOW_TO_CANCEL} {group_id} cancels the remaining tasks"
            )
        return are_resolved

    def _leave(self, planned: int, *, may_ask: bool) -> None:
        """Ask whether to cancel the tasks of an interrupted call; else leave them and say how."""
        context, created = self.context, self.created
        if not created.labels and self.resumption != RESUME:
            context.tell("no task was created")
            return
        state = "left as they are"
        question = f"\n{created.summary}. Cancel?"
        try:
            if may_ask and context.is_interactive and context.confirm(question):
                state = "not all cancelled"
                done = TaskQueue.connect(
                    context.environment, lambda queue: queue.cancel(created.labels)
                )
                _tell_cancelled(done, context)
                return
        except KeyboardInterrupt:
            context.tell("")
        how = f"to cancel: {HOW_TO_CANCEL} {self.group_id}"
        if self.resumption == RESUME or (self.resumption and created.confirmed < planned):
            how += f"; to go on: {self.how_to_resume}"
        context.tell(f"{created.summary} in group:{self.group_id}, {state}; {how}")


def cancel(address: str, context: Context) -> SubmissionOutcome:
    """Cancel the benchmark's tasks of a group."""
    group_id = group_of("--cancel", address, context.environment)
    done = TaskQueue.connect(context.environment, lambda queue: queue.cancel_group(group_id))
    _tell_cancelled(done, context)
    return NOT_DONE if done.problems else DONE


def group_of(option: str, value: str, environment: Mapping[str, str]) -> str:
    """Return the group in an option's value, an id or an address."""
    address = parse(value if ":" in value else f"group:{value}", environment)
    subject = f"{option} {clean(value, 200)}"
    if not isinstance(address, GroupAddress):
        raise UsageError(f"{subject}: is not a group; give its id, or group:ID")
    root_url = default_root_url(environment)
    if address.root_url != root_url:
        raise UsageError(
            f"{subject}: is not at {root_url}; set TASKCLUSTER_ROOT_URL to {address.root_url}"
        )
    return address.group_id


def _tell_cancelled(done: CancelledTasks, context: Context) -> None:
    context.tell(f"cancelled {len(done.labels)}: {', '.join(done.labels) or 'none'}")
    if done.resolved:
        context.tell(f"already resolved: {done.resolved}")
    if done.foreign:
        context.tell(f"not changed, because they are not the benchmark's: {done.foreign}")
    context.tell_errors(done.problems)
