# SPDX-License-Identifier: MPL-2.0
"""Shows what creating tasks means, above all their cost, and asks for it."""

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from io_benchmark.context import Context
from io_benchmark.costs.worker_time import Cost, CostShare, Price
from io_benchmark.errors import UsageError
from io_benchmark.sources.taskcluster.access import Access
from io_benchmark.sources.taskcluster.addresses import default_root_url
from io_benchmark.submit import sizes
from io_benchmark.submit.definitions import ReadyTask, SelectedTask, submitter_scopes
from io_benchmark.submit.task_creation import TaskQueue


class Announcement(Struct, frozen=True):
    """Tasks that are about to be created."""

    chosen: Sequence[SelectedTask]
    scheduler: str
    minutes: Mapping[str, float]  # that each job's tasks took before
    prices: Mapping[str, Price] = field(default_factory=dict)
    remark: str = ""  # about the cost

    @property
    def cost(self) -> Cost:
        """Estimate the cost by earlier tasks of the same job, else by the time budget."""
        jobs: dict[str, list[SelectedTask]] = {}
        for task in self.chosen:
            jobs.setdefault(task.job, []).append(task)
        pools = Counter(tasks[0].pool for tasks in jobs.values())
        shares = []
        for job, (first, *others) in jobs.items():
            minutes = self.minutes.get(job, sizes.limit_s(first.definition["payload"]) / 60)
            shares.append(
                CostShare(
                    name=first.pool if pools[first.pool] == 1 else job,
                    tasks=1 + len(others),
                    minutes=max(1, math.ceil(minutes)),
                    is_limit=job not in self.minutes,
                    price=Price.find(self.prices, first.pool, first.queue),
                    queue=first.queue,
                )
            )
        return Cost(tuple(shares), with_prices=bool(self.prices))

    def is_agreed(self, context: Context, *, yes: bool) -> bool:
        """Show what creating these tasks means; ask on a terminal, unless `yes`."""
        self._show(context)
        if yes or not context.is_interactive or context.confirm("Create them?"):
            return True
        context.tell("nothing was created")
        return False

    def print_instead(self, tasks: Sequence[ReadyTask], context: Context) -> None:
        """Show the cost, and print the tasks in the form of `taskgraph morphed -J`."""
        self._show_cost(context)
        printed = {
            task.label: {"label": task.label, "task_id": task.task_id, "task": task.definition}
            for task in tasks
        }
        context.print(json.dumps(printed, indent=2, ensure_ascii=False))

    def _show_cost(self, context: Context, where: str = "") -> None:
        """Show the cost and the scopes."""
        cost = self.cost
        context.tell(f"{cost.summary}{where}")
        for share in cost.shares:
            context.tell(f"  {share.summary}")
        if self.remark:
            context.tell(self.remark)
        context.tell(f"Scopes needed: {', '.join(submitter_scopes(self.chosen, self.scheduler))}")
        scopes = sorted({scope for task in self.chosen for scope in task.definition["scopes"]})
        context.tell(f"Scopes the tasks get: {', '.join(scopes) or 'none'}")

    def _show(self, context: Context) -> None:
        """Show the deployment, the client, the cost and the scopes; warn about unknown queues."""
        access = Access.of(default_root_url(context.environment), context.environment)
        self._show_cost(context, f", at {access.root_url}, {access.who}")
        if access.who == "anonymously":
            context.tell(
                "warning: no credentials; set TASKCLUSTER_CLIENT_ID and TASKCLUSTER_ACCESS_TOKEN"
            )
        missing = TaskQueue.connect(
            context.environment, lambda queue: queue.missing_images(self.chosen)
        )
        if missing:
            raise UsageError(
                f"{missing[0]}: does not exist at {access.root_url}, and is to have the tasks' image; "
                "check --image and the root URL"
            )
        queues = [task.queue for task in self.chosen]
        unknown = TaskQueue.connect(context.environment, lambda queue: queue.unknown_pools(queues))
        for pool in unknown:
            context.tell(
                f"warning: {access.root_url} has no worker pool {pool}: a task for it may wait "
                "until its deadline; check the name, or choose another pool with --pool"
            )
