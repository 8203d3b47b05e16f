# SPDX-License-Identifier: MPL-2.0
"""A group that gets tasks: creating them, waiting for them, and reading their results."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Self, TypeVar

from msgspec import Struct

from io_benchmark.command_lines import cancel_group, compare_group, confirm_causes, resume_group
from io_benchmark.context import Context
from io_benchmark.costs.worker_time import MINUTES_PER_HOUR, Cost
from io_benchmark.errors import IoBenchmarkError, UsageError
from io_benchmark.number_text import number_of
from io_benchmark.operations.compare import read_workers
from io_benchmark.operations.measured_group import MeasuredGroup
from io_benchmark.sources.taskcluster.access import Access
from io_benchmark.sources.taskcluster.addresses import GroupAddress, default_root_url, parse
from io_benchmark.sources.taskcluster.task_watch import wait_in_group
from io_benchmark.sources.taskcluster.tasks import QueueTask
from io_benchmark.submit.definitions import NewTask, Repetition, SubmissionOptions
from io_benchmark.submit.task_creation import TaskQueue, printed_tasks
from io_benchmark.text import clean_name

T = TypeVar("T")
# The options that go on with a group
RESUME, CONFIRM = "--resume", "--confirm"


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
        subject = f"{option} {clean_name(value)}"
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
        if self.resumption == CONFIRM:
            return confirm_causes(self.group_id, self.options.baseline_or_gates)
        return resume_group(self.group_id, self.options.baseline_or_gates)

    @property
    def _ways_on(self) -> str:
        """Return what a user can do if this stops."""
        to_go_on = f"; to go on: {self.how_to_resume}" if self.resumption else ""
        return f"to cancel: {cancel_group(self.group_id)}{to_go_on}"

    def ask(self, use: Callable[[TaskQueue], Awaitable[T]]) -> T:
        """Return the result of `use`, which asks the queue."""
        return TaskQueue.connect(self.context.environment, use, self.context.tell)

    def tasks(self) -> list[QueueTask]:
        """Return the benchmark's tasks of the group."""
        return self.ask(lambda queue: queue.members(self.group_id))

    def measure(self, part: str = "") -> MeasuredGroup | None:
        """Wait for tasks with this part in their label, and read all results. None: --no-wait."""
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
        return MeasuredGroup(list(tasks.values()), workers, gathered)

    def repeated(
        self, group: MeasuredGroup, repetitions: Sequence[Repetition]
    ) -> tuple[list[NewTask], Cost]:
        """Return tasks of the group once more, and their cost."""
        labels = [task.label for task in group.tasks]
        tasks = self.ask(lambda queue: queue.repeated(repetitions, labels))
        return tasks, group.cost(tasks, self.options.prices)

    def exceeds_budget(self, minutes: float) -> bool:
        budget = self.options.budget_hours
        return budget is not None and minutes > budget * MINUTES_PER_HOUR

    def confirm_creation(self, tasks: Sequence[NewTask], cost: Cost, remark: str = "") -> bool:
        """Show what creating these tasks means, and return whether to; --dry-run prints them."""
        options, context, tell = self.options, self.context, self.context.tell
        if self.exceeds_budget(cost.minutes):
            raise UsageError(
                f"--budget {options.budget_hours:g}: {number_of(len(tasks), 'task')} can take "
                f"{cost.time}; raise it, or select fewer pools"
            )
        access = Access.of(default_root_url(context.environment), context.environment)
        where = "" if options.dry_run else f", at {access.root_url}, {access.who}"
        tell(f"{cost.summary}{where}")
        for share in cost.shares:
            tell(f"  {share.summary}")
        if remark:
            tell(remark)
        needed = {scope for task in tasks for scope in task.submitter_scopes}
        tell(f"Scopes needed: {', '.join(sorted(needed))}")
        scopes = {scope for task in tasks for scope in task.definition["scopes"]}
        tell(f"Scopes the tasks get: {', '.join(sorted(scopes)) or 'none'}")
        if options.dry_run:
            context.print(printed_tasks(tasks))
            return False
        if access.who == "anonymously":
            tell("warning: no credentials; set TASKCLUSTER_CLIENT_ID and TASKCLUSTER_ACCESS_TOKEN")
        self._check_existence(tasks, access.root_url)
        if not options.yes and context.is_interactive and not context.confirm("Create them?"):
            raise IoBenchmarkError("nothing was created")
        return True

    def _check_existence(self, tasks: Sequence[NewTask], root_url: str) -> None:
        """Refuse images that do not exist; warn of worker pools that do not."""
        images, pools = self.ask(lambda queue: queue.missing(tasks))
        if images:
            raise UsageError(
                f"{images[0]}: does not exist at {root_url}, and is to have the tasks' image; "
                "check --image and the root URL"
            )
        for pool in pools:
            self.context.tell(
                f"warning: {root_url} has no worker pool {pool}: a task for it may wait until its "
                "deadline; check the name, or choose another pool with --pool"
            )

    def create_and_wait(
        self,
        missing: Sequence[NewTask],
        running: Mapping[str, str] | None = None,
        *,
        is_new_group: bool = False,
    ) -> str | None:
        """Create the missing tasks, and wait for them and for `running`, labels by task id.

        Return the group, which can be compared now; with --no-wait, print its address instead.
        """
        group_id, context = self.group_id, self.context
        labels = dict(running or {})
        labels.update({task.task_id: task.label for task in missing})
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
                later = compare_group(group_id, self.options.written_gates)
                context.tell(f"Compare them later with: {later}")
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
