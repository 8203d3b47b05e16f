# SPDX-License-Identifier: MPL-2.0
"""A group that gets tasks: what they cost, creating them, waiting for them, and what its next look needs.

What is needed follows from the group alone. The tasks name the looks (analysis/statistics/looks.py), so
comparing the group later gives the same verdicts.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import chain
from statistics import fmean
from typing import NamedTuple, Self, TypeVar

from msgspec import Struct

from io_benchmark.analysis.model.comparison import Verdict
from io_benchmark.analysis.model.groups import grouped
from io_benchmark.analysis.model.report import Report
from io_benchmark.analysis.model.run import Worker
from io_benchmark.analysis.statistics.looks import Schedule
from io_benchmark.command_lines import cancel_group, compare_group, confirm_causes, resume_group
from io_benchmark.context import Context
from io_benchmark.costs.worker_time import MINUTES_PER_HOUR, Cost, CostShare, Price
from io_benchmark.errors import IoBenchmarkError, UsageError
from io_benchmark.number_text import number_of
from io_benchmark.operations.compare import read_workers
from io_benchmark.sources.run_results import parse_time
from io_benchmark.sources.taskcluster.access import Access
from io_benchmark.sources.taskcluster.addresses import GroupAddress, default_root_url, parse
from io_benchmark.sources.taskcluster.api_answers import QueueRun
from io_benchmark.sources.taskcluster.task_watch import wait_in_group
from io_benchmark.sources.taskcluster.tasks import QueueTask
from io_benchmark.submit.definitions import LOOKS, NewTask, SubmissionOptions
from io_benchmark.submit.task_creation import TaskQueue, printed_tasks
from io_benchmark.text import clean
from io_benchmark_taskgraph.repeating import CONFIRMING, job_of

T = TypeVar("T")
# The options that go on with a group
RESUME, CONFIRM = "--resume", "--confirm"
# With more tasks than this per independent worker, more tasks do not help.
_MOST_TASKS_PER_WORKER = 2


class NextLook(NamedTuple):
    """The pools that are undecided, and what they need."""

    undecided: list[str]
    repetitions: list[
        tuple[str, str, None]
    ]  # task and pool of each to add, the pools in turn; no pace
    exhausted: list[str]  # pools where more tasks do not reach more workers


class MeasuredGroup(Struct, frozen=True):
    """The benchmark's tasks of a group, and the workers of those whose results could be read."""

    tasks: Sequence[QueueTask]
    workers: Sequence[Worker] = ()

    @property
    def spent_minutes(self) -> float:
        return sum(map(_minutes, chain.from_iterable(task.status.runs for task in self.tasks)))

    def cost(self, tasks: Sequence[NewTask], prices: Mapping[str, Price]) -> Cost:
        """Estimate the cost of tasks by the minutes that those of each job took here, else by the time budget."""
        runs = [(_job_of(task), run) for task in self.tasks for run in task.status.runs]
        jobs = grouped(tasks, lambda task: task.job)
        pools = Counter(replicates[0].pool for replicates in jobs.values())
        shares = []
        for job, replicates in jobs.items():
            first = replicates[0]
            minutes = [_minutes(run) for of_job, run in runs if of_job == job and run.started]
            # Not rounded: a comparison of the same tasks writes the same amount of money.
            task_minutes = fmean(minutes) if minutes else first.limit_s / 60
            shares.append(
                CostShare(
                    name=first.pool if pools[first.pool] == 1 else job,
                    tasks=len(replicates),
                    minutes=task_minutes,
                    is_limit=not minutes,
                    price=Price.find(prices, first.pool, first.queue),
                    queue=first.queue,
                )
            )
        return Cost(tuple(shares), with_prices=bool(prices))

    def measured_tasks(self) -> list[tuple[Worker, QueueTask]]:
        """Return the workers with their tasks, in the order of the labels."""
        tasks = {task.task_id: task for task in self.tasks}
        pairs = ((worker, tasks[worker.task_id]) for worker in self.workers)
        return sorted(pairs, key=lambda pair: pair[1].label)

    def next_look(self, report: Report) -> NextLook:
        """Return what a comparison of the workers leaves undecided, and the tasks that it needs."""
        # The first task of each job counts.
        measured = self.measured_tasks()[::-1]
        jobs = {
            (worker.side, entry.subject): _job_of(task)
            for worker, task in measured
            for entry in worker.entries
        }
        models = {
            _job_of(task): (task.task_id, worker.pool, None)
            for worker, task in measured
            if CONFIRMING not in task.label
        }
        undecided = [
            (part, comparison)
            for part in report.subjects
            for comparison in part.comparisons
            if comparison.verdict is Verdict.INCONCLUSIVE
        ]
        tasks = Counter(map(_job_of, self.tasks))
        exhausted: list[str] = []
        missing: Counter[str] = Counter()  # tasks by job
        for part, comparison in undecided:
            sides = (comparison.candidate, comparison.baseline)
            workers = {side: part.figures[side].workers for side in sides}
            left_behind = [
                side
                for side, count in workers.items()
                if tasks[jobs[side, part.subject]] > _MOST_TASKS_PER_WORKER * count
            ]
            exhausted += left_behind
            target = Schedule(LOOKS).next_look(*workers.values())
            if target is not None and not left_behind:
                missing |= {
                    jobs[side, part.subject]: target - count for side, count in workers.items()
                }
        repetitions = [
            models[job]
            for number in range(max(missing.values(), default=0))
            for job in sorted(models)
            if number < missing[job]
        ]
        candidates = dict.fromkeys(comparison.candidate for _, comparison in undecided)
        return NextLook([*candidates], repetitions, [*dict.fromkeys(exhausted)])


def _job_of(task: QueueTask) -> str:
    """Return the label without a replicate's number."""
    return job_of(task.label, task.pool or "")


def _minutes(run: QueueRun) -> float:
    """Return how long a run took on its worker; 0 where it never started."""
    started, resolved = parse_time(run.started), parse_time(run.resolved)
    if started is None or resolved is None:
        return 0.0
    return (resolved - started).total_seconds() / 60


class GroupWork(Struct, frozen=True):
    """A group that gets tasks, and the options of the command that creates them."""

    group_id: str
    options: SubmissionOptions
    context: Context
    resumption: str = ""  # the option that goes on with the group, if there is one

    @classmethod
    def find(cls, option: str, value: str, options: SubmissionOptions, context: Context) -> Self:
        """Return the work on the group in an option's value, an id or an address."""
        address = parse(value if ":" in value else f"group:{value}", context.environment)
        subject = f"{option} {clean(value, 200)}"
        if not isinstance(address, GroupAddress):
            raise UsageError(f"{subject}: is not a group; give its id, or group:ID")
        root_url = default_root_url(context.environment)
        if address.root_url != root_url:
            raise UsageError(
                f"{subject}: is not at {root_url}; set TASKCLUSTER_ROOT_URL to {address.root_url}"
            )
        return cls(address.group_id, options, context, option)

    @property
    def how_to_resume(self) -> str:
        go_on = confirm_causes if self.resumption == CONFIRM else resume_group
        return go_on(self.group_id, self.options.baseline)

    @property
    def _ways_on(self) -> str:
        """Return what a user can do if this stops."""
        to_go_on = f"; to go on: {self.how_to_resume}" if self.resumption else ""
        return f"to cancel: {cancel_group(self.group_id)}{to_go_on}"

    def ask(self, use: Callable[[TaskQueue], Awaitable[T]]) -> T:
        """Return the result of `use`, which asks the queue."""
        return TaskQueue.connect(self.context.environment, use, self.context.tell)

    def tasks(self) -> list[QueueTask]:
        return self.ask(lambda queue: queue.members(self.group_id))

    def find_tasks(self, tasks: Sequence[NewTask]) -> dict[str, QueueTask]:
        """Return those of these tasks that exist."""
        return self.ask(lambda queue: queue.tasks([task.task_id for task in tasks]))

    def measure(self, part: str = "") -> MeasuredGroup | None:
        """Wait for the group's tasks that run and have this part in their label; read the results of all.

        A command that was stopped left them. Return None with --no-wait.
        """
        while True:
            tasks = {task.task_id: task for task in self.tasks()}
            running = {
                task_id: task.label
                for task_id, task in tasks.items()
                if part in task.label and not task.status.is_resolved
            }
            if not running:
                break
            if self.create_and_wait((), running) is None:
                return None
        gathered = read_workers([f"group:{self.group_id}"], self.context)
        for line in gathered.unreadable:
            self.context.tell(f"missing: {line}")
        # A task that was created after the group was listed is left out, as its job is unknown.
        workers = [worker for worker in gathered.results if worker.task_id in tasks]
        return MeasuredGroup([*tasks.values()], workers)

    def repeated(
        self, group: MeasuredGroup, repetitions: Sequence[tuple[str, str, int | None]]
    ) -> tuple[list[NewTask], Cost]:
        """Return tasks of the group once more, and their cost."""
        labels = [task.label for task in group.tasks]
        tasks = self.ask(lambda queue: queue.repeated(repetitions, labels))
        return tasks, group.cost(tasks, self.options.prices)

    def exceeds_budget(self, minutes: float) -> bool:
        budget = self.options.budget_hours
        return budget is not None and minutes > budget * MINUTES_PER_HOUR

    def confirm_creation(self, tasks: Sequence[NewTask], cost: Cost, remark: str = "") -> bool:
        """Show what creating these tasks means, and ask on a terminal; with --dry-run print them instead.

        Return whether they are to be created; raise an error where the user declines.
        """
        options, context, tell = self.options, self.context, self.context.tell
        if self.exceeds_budget(cost.minutes):
            raise UsageError(
                f"--budget {options.budget_hours:g}: {number_of(len(tasks), 'task')} can take {cost.time}; "
                "raise it, or select fewer pools"
            )
        access = Access.of(default_root_url(context.environment), context.environment)
        tell(cost.summary + ("" if options.dry_run else f", at {access.root_url}, {access.who}"))
        for share in cost.shares:
            tell(f"  {share.summary}")
        if remark:
            tell(remark)
        needed = set().union(*(task.submitter_scopes for task in tasks))
        tell(f"Scopes needed: {', '.join(sorted(needed))}")
        scopes = sorted({scope for task in tasks for scope in task.definition["scopes"]})
        tell(f"Scopes the tasks get: {', '.join(scopes) or 'none'}")
        if options.dry_run:
            context.print(printed_tasks(tasks))
            return False
        if access.who == "anonymously":
            tell("warning: no credentials; set TASKCLUSTER_CLIENT_ID and TASKCLUSTER_ACCESS_TOKEN")
        images, pools = self.ask(lambda queue: queue.missing(tasks))
        if images:
            raise UsageError(
                f"{images[0]}: does not exist at {access.root_url}, and is to have the tasks' image; "
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
        self,
        missing: Sequence[NewTask],
        running: Mapping[str, str] | None = None,
        *,
        is_new_group: bool = False,
    ) -> str | None:
        """Create the missing tasks, and wait for them and for those that run, labels by task id.

        Return the group, which can be compared now; with --no-wait, print its address instead.
        """
        group_id, context = self.group_id, self.context
        labels = {**(running or {}), **{task.task_id: task.label for task in missing}}
        has_begun = False

        def begin() -> None:
            # Not before the queue took one: a refusal would leave nothing to cancel.
            nonlocal has_begun
            if not has_begun:
                context.tell(f"Creating tasks in group:{group_id}; {self._ways_on}")
            has_begun = True

        try:
            self.ask(lambda queue: queue.create(missing, begin))
            created = number_of(len(missing), "task") if missing else "no tasks"
            root_url = default_root_url(context.environment)
            context.tell(f"{created} created: {root_url}/tasks/groups/{group_id}")
            if self.options.no_wait:
                context.print(f"group:{group_id}")
                context.tell(f"Compare them later with: {compare_group(group_id)}")
                return None
            context.tell("Waiting; Ctrl-C stops waiting, and not the tasks")
            self.ask(lambda queue: wait_in_group(queue, group_id, labels, context.tell))
        except (KeyboardInterrupt, IoBenchmarkError) as error:
            # The first request may have been interrupted after the queue took it.
            if has_begun or not is_new_group or isinstance(error, KeyboardInterrupt):
                context.tell(
                    f"Tasks that exist in group:{group_id} are left as they are; {self._ways_on}"
                )
            raise
        return group_id
