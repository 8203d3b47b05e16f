# SPDX-License-Identifier: MPL-2.0
"""A group that gets tasks: what they cost, creating them, waiting for them, and cancelling them."""

import json
import math
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.context import Context
from io_benchmark.costs.worker_time import MINUTES_PER_HOUR, Cost, CostShare, Price
from io_benchmark.errors import IoBenchmarkError, ResultError, UsageError
from io_benchmark.number_text import number_of
from io_benchmark.operations.reading import read_workers
from io_benchmark.sources.taskcluster.access import Access
from io_benchmark.sources.taskcluster.addresses import GroupAddress, default_root_url, parse
from io_benchmark.sources.taskcluster.task_watch import wait_in_group
from io_benchmark.submit.definitions import NewTask, SubmissionOptions, limit_s, submitter_scopes
from io_benchmark.submit.measured_group import MeasuredGroup
from io_benchmark.submit.task_creation import TaskQueue, dated
from io_benchmark.text import clean

T = TypeVar("T")

HOW_TO_CANCEL = "io-benchmark submit --cancel"


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


class GroupWork(Struct, frozen=True):
    """A group that gets tasks, and the options of the command that creates them."""

    group_id: str
    options: SubmissionOptions
    context: Context
    resumption: str = ""  # the option that goes on with the group, if there is one

    @property
    def how_to_resume(self) -> str:
        baseline = self.options.baseline
        option = "" if baseline is None else f"--baseline {baseline} "
        return f"io-benchmark submit {option}{self.resumption} {self.group_id}"

    def ask(self, use: Callable[[TaskQueue], Awaitable[T]]) -> T:
        """Return the result of `use`, which asks the queue."""
        return TaskQueue.connect(self.context.environment, use)

    def tasks(self) -> MeasuredGroup:
        """Return the benchmark's tasks of the group."""
        members = self.ask(lambda queue: queue.members(self.group_id))
        return MeasuredGroup([task for task in members if task.is_benchmark])

    def with_workers(self, group: MeasuredGroup) -> MeasuredGroup:
        """Read the results of the group's tasks; name those that are missing."""
        gathered = read_workers([f"group:{self.group_id}"], self.context)
        for line in gathered.unreadable:
            self.context.tell(f"missing: {line}")
        # A task that was created after the group was listed is left out, as its job is unknown.
        ids = {task.task_id for task in group.tasks}
        return replace(group, workers=[run for run in gathered.results if run.task_id in ids])

    def confirm_creation(self, tasks: Sequence[NewTask], cost: Cost, remark: str = "") -> bool:
        """Show what creating these tasks means, and ask on a terminal; with --dry-run print them instead.

        Return whether they are to be created; raise an error where the user declines.
        """
        options, context, tell = self.options, self.context, self.context.tell
        budget = options.budget
        if budget is not None and cost.minutes > budget * MINUTES_PER_HOUR:
            raise UsageError(
                f"--budget {budget:g}: {number_of(len(tasks), 'task')} can take {cost.time}; raise it, "
                "or select fewer pools"
            )
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
            return False
        if access.who == "anonymously":
            tell("warning: no credentials; set TASKCLUSTER_CLIENT_ID and TASKCLUSTER_ACCESS_TOKEN")
        images, pools = self.ask(lambda queue: queue.missing(tasks))
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
        if not options.yes and context.is_interactive and not context.confirm("Create them?"):
            raise IoBenchmarkError("nothing was created")
        return True

    def create_and_wait(
        self, missing: Sequence[NewTask], running: Mapping[str, str] | None = None
    ) -> str | None:
        """Create the missing tasks, and wait for them and for those that run, labels by task id.

        Return the group, which can be compared now; with --no-wait, print its address instead.
        """
        group_id, context = self.group_id, self.context
        labels = {**(running or {}), **{task.task_id: task.label for task in missing}}
        try:
            self.ask(lambda queue: queue.create(missing))
            created = number_of(len(missing), "task") if missing else "no tasks"
            root_url = default_root_url(context.environment)
            context.tell(f"{created} created: {root_url}/tasks/groups/{group_id}")
            if self.options.no_wait:
                context.print(f"group:{group_id}")
                context.tell(f"Compare them later with: io-benchmark compare group:{group_id}")
                return None
            context.tell("Waiting; Ctrl-C stops waiting, and not the tasks")
            self.ask(lambda queue: wait_in_group(queue, group_id, labels, context.tell))
        except (KeyboardInterrupt, IoBenchmarkError):
            how = f"to cancel: {HOW_TO_CANCEL} {group_id}"
            if self.resumption:
                how += f"; to go on: {self.how_to_resume}"
            context.tell(f"Tasks that exist in group:{group_id} are left as they are; {how}")
            raise
        return group_id


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


def cancel(address: str, context: Context) -> None:
    """Cancel the benchmark's tasks of a group."""
    group_id = group_of("--cancel", address, context.environment)
    done = TaskQueue.connect(context.environment, lambda queue: queue.cancel_group(group_id))
    context.tell(f"cancelled {len(done.labels)}: {', '.join(done.labels) or 'none'}")
    if done.resolved:
        context.tell(f"already resolved: {done.resolved}")
    if done.foreign:
        context.tell(f"not changed, because they are not the benchmark's: {done.foreign}")
    if done.problems:
        raise ResultError("; ".join(done.problems))


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
