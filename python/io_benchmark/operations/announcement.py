# SPDX-License-Identifier: MPL-2.0
"""Shows what creating tasks means, and asks for it."""

import json
from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from io_benchmark.costs.worker_time import Price
from io_benchmark.errors import UsageError
from io_benchmark.operations.user import User
from io_benchmark.sources.taskcluster.access import Access
from io_benchmark.sources.taskcluster.addresses import default_root_url
from io_benchmark.submit import cost
from io_benchmark.submit.definitions import ReadyTask, SelectedTask, submitter_scopes
from io_benchmark.submit.task_creation import TaskQueue


class Announcement(Struct, frozen=True):
    """Tasks that are about to be created."""

    chosen: Sequence[SelectedTask]
    scheduler: str
    minutes: Mapping[str, float]  # that each job's tasks took before
    remark: str = ""  # about the cost
    prices: Mapping[str, Price] = field(default_factory=dict)

    def is_agreed(self, user: User, *, yes: bool) -> bool:
        """Show what creating these tasks means; ask on a terminal, unless `yes`."""
        self._show(user)
        if yes or not user.is_interactive or user.confirm("Create them?"):
            return True
        user.tell("nothing was created")
        return False

    def print_instead(self, tasks: Sequence[ReadyTask], user: User) -> None:
        """Show the cost, and print the tasks in the form of `taskgraph morphed -J`."""
        self._show_cost(user)
        printed = {
            task.label: {"label": task.label, "task_id": task.task_id, "task": task.definition}
            for task in tasks
        }
        user.print(json.dumps(printed, indent=2, ensure_ascii=False))

    def _show_cost(self, user: User, where: str = "") -> None:
        """Show the cost and the scopes."""
        estimate = cost.estimate(self.chosen, self.minutes, self.prices)
        user.tell(f"{estimate.shown}{where}")
        for share in estimate.shares:
            user.tell(f"  {share.shown}")
        if self.remark:
            user.tell(self.remark)
        user.tell(f"Scopes needed: {', '.join(submitter_scopes(self.chosen, self.scheduler))}")
        scopes = sorted({scope for task in self.chosen for scope in task.definition["scopes"]})
        user.tell(f"Scopes the tasks get: {', '.join(scopes) or 'none'}")

    def _show(self, user: User) -> None:
        """Show the deployment, the client, the cost and the scopes; warn about unknown queues."""
        access = Access.of(default_root_url(user.environment), user.environment)
        self._show_cost(user, f", at {access.root_url}, {access.who}")
        if access.who == "anonymously":
            user.tell(
                "warning: no credentials; set TASKCLUSTER_CLIENT_ID and TASKCLUSTER_ACCESS_TOKEN"
            )
        missing = TaskQueue.connect(
            user.environment, lambda queue: queue.missing_images(self.chosen)
        )
        if missing:
            raise UsageError(
                f"{missing[0]}: does not exist at {access.root_url}, and is to have the tasks' image; "
                "check --image and the root URL"
            )
        queues = [task.queue for task in self.chosen]
        for pool in TaskQueue.connect(user.environment, lambda queue: queue.unknown_pools(queues)):
            user.tell(
                f"warning: {access.root_url} has no worker pool {pool}: a task for it may wait "
                "until its deadline; check the name, or choose another pool with --pool"
            )
