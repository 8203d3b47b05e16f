# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Creates tasks one after the other, and cancels them."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from io_benchmark.errors import IoBenchmarkError, MissingError, RequestRefusedError, ResultError
from io_benchmark.sources.event_loop import run_coroutine
from io_benchmark.sources.taskcluster.access import Access
from io_benchmark.sources.taskcluster.addresses import default_root_url
from io_benchmark.sources.taskcluster.deployment import Deployment
from io_benchmark.sources.web.retrying import RequestPolicy
from io_benchmark.sources.web.web_client import WebClient
from io_benchmark.submit.definitions import GroupMember, ReadyTask
from io_benchmark.submit.queue_refusals import explained

T = TypeVar("T")
_CONFLICT = 409


class CreationError(IoBenchmarkError):
    """A task could not be created; those before it were."""


@dataclass
class CreatedTasks:
    """Tasks that were sent to the queue; an unconfirmed task may or may not exist."""

    sent: list[GroupMember] = field(default_factory=list)
    confirmed: int = 0

    @property
    def shown(self) -> str:
        """`2 tasks created, 1 more perhaps`"""
        tasks = f"{self.confirmed} task" + ("" if self.confirmed == 1 else "s") + " created"
        unsure = len(self.sent) - self.confirmed
        return tasks + (f", {unsure} more perhaps" if unsure else "")


@dataclass(frozen=True)
class CancelledTasks:
    """The outcome of cancelling tasks."""

    labels: tuple[str, ...]  # cancelled now
    resolved: int  # before that
    problems: tuple[str, ...]
    others: int = 0  # of the group, that are no benchmark's


def connect(
    environment: Mapping[str, str],
    use: Callable[[Deployment], Awaitable[T]],
    policy: RequestPolicy | None = None,
) -> T:
    """Connect to the environment's deployment and return the result of `use`."""
    access = environment_access(environment)

    async def main() -> T:
        async with WebClient(policy or RequestPolicy()) as http:
            return await use(Deployment(access, http))

    return run_coroutine(main())


def environment_access(environment: Mapping[str, str]) -> Access:
    return Access.of(default_root_url(environment), environment)


async def unknown_pools(deployment: Deployment, queues: Sequence[str]) -> list[str]:
    """Worker pools that the deployment's worker manager does not know, where it tells."""
    return [
        queue
        for queue in dict.fromkeys(queues)
        if await deployment.knows_worker_pool(queue) is False
    ]


async def create(deployment: Deployment, tasks: Sequence[ReadyTask], created: CreatedTasks) -> None:
    """Create the tasks in order, because workers claim them in this order."""
    for task in tasks:
        created.sent.append(task)
        try:
            await deployment.create_task(task.task_id, task.definition)
        except RequestRefusedError as error:
            if error.status == _CONFLICT and await _is_there(deployment, task):
                created.confirmed += 1
                continue
            created.sent.pop()
            who = deployment.access.who
            raise CreationError(explained(error, f"{task.label} was not created", who)) from None
        except ResultError as error:
            # It may exist all the same: the answer was lost.
            raise CreationError(f"{task.label} ({task.task_id}): {error}") from None
        created.confirmed += 1


async def _is_there(deployment: Deployment, task: ReadyTask) -> bool:
    """Return whether the task exists already, with other dates, because another process resumed."""
    found = (await deployment.tasks([task.task_id])).get(task.task_id)
    group_id = task.definition["taskGroupId"]
    return found is not None and (found.label, found.status.task_group_id) == (task.label, group_id)


async def cancel_sent(deployment: Deployment, tasks: Sequence[GroupMember]) -> CancelledTasks:
    """Cancel tasks by their ids: a task that was just sent may not be listed yet."""
    return await _cancel(deployment, [(one.task_id, one.label) for one in tasks])


async def cancel_group(deployment: Deployment, group_id: str) -> CancelledTasks:
    """The benchmark's tasks of a group that are not resolved; a push's other tasks stay."""
    try:
        members = await deployment.group(group_id, lambda _count: None)
    except MissingError:
        root_url = deployment.access.root_url
        raise ResultError(
            f"group:{group_id}: does not exist at {root_url}; check the id and the root URL"
        ) from None
    own = [one for one in members if one.is_benchmark]
    wanted = [(one.task_id, one.label) for one in own if not one.status.is_resolved]
    done = await _cancel(deployment, wanted)
    resolved = done.resolved + len(own) - len(wanted)
    return CancelledTasks(done.labels, resolved, done.problems, len(members) - len(own))


async def _cancel(deployment: Deployment, tasks: Sequence[tuple[str, str]]) -> CancelledTasks:
    labels, problems = [], []
    resolved = 0
    for task_id, label in tasks:
        try:
            now_cancelled = await deployment.cancel_task(task_id)
        except RequestRefusedError as error:
            if error.status != 404:  # never created
                doing = f"{label} ({task_id}) was not cancelled"
                problems.append(explained(error, doing, deployment.access.who))
        except ResultError as error:
            problems.append(f"{label} ({task_id}) was not cancelled: {error}")
        else:
            if now_cancelled:
                labels.append(label)
            else:
                resolved += 1
    return CancelledTasks(tuple(labels), resolved, tuple(problems))
