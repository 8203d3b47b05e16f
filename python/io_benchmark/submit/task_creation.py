# SPDX-License-Identifier: MPL-2.0
"""Create the tasks of a group one after the other, and cancel them.

A task's id follows from the group's id and the task's number or label. The queue creates each id
only once.
"""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from io_benchmark.errors import (
    GaveUpError,
    IoBenchmarkError,
    MissingError,
    RequestRefusedError,
    ResultError,
)
from io_benchmark.sources.protocol import Tell
from io_benchmark.sources.silence import in_lines
from io_benchmark.sources.taskcluster.addresses import default_hint, default_root_url
from io_benchmark.sources.taskcluster.deployment import Deployment
from io_benchmark.sources.taskcluster.tasks import QueueTask
from io_benchmark.submit.definitions import NewTask, Repetition
from io_benchmark_taskgraph.repeating import derived_id, job_of, repeated

T = TypeVar("T")


class TaskQueue(Deployment):
    """A deployment in which tasks are created and cancelled."""

    @classmethod
    def connect(
        cls,
        environment: Mapping[str, str],
        use: Callable[["TaskQueue"], Awaitable[T]],
        tell: Tell = lambda _line: None,
    ) -> T:
        """Return the result of `use` in this deployment; tell if that is silent for long."""
        root_url = default_root_url(environment)
        try:
            return cls.run(
                [root_url], environment, lambda queues: use(queues[root_url]), notice=in_lines(tell)
            )
        except (GaveUpError, MissingError) as error:
            raise type(error)(f"{error}{default_hint(environment)}") from None

    async def missing(self, tasks: Sequence[NewTask]) -> tuple[list[str], list[str]]:
        """Return the image tasks and the worker pools that are known not to exist."""
        addresses = dict.fromkeys(_image_address(task) for task in tasks)
        images = [address for address in addresses if address and await self._lacks(address)]
        queues = dict.fromkeys(task.queue for task in tasks)
        pools = [name for name in queues if await self.knows_worker_pool(name) is False]
        return images, pools

    async def _lacks(self, image: str) -> bool:
        """Return whether the task with this image is known not to exist."""
        kind, _, name = image.partition(":")
        try:
            return not await (self.find(name) if kind == "index" else self.tasks([name]))
        except ResultError:
            return False

    async def create(self, tasks: Sequence[NewTask], begun: Callable[[], None]) -> None:
        """Create tasks in the order in which workers claim them; call `begun` once one may be."""
        # Dated now: the queue takes no task that says it was created long ago.
        now = datetime.now(UTC)
        definitions = [dated(task.definition, now) for task in tasks]
        for task, definition in zip(tasks, definitions, strict=True):
            try:
                await self.create_task(task.task_id, definition)
                begun()
            except (MissingError, RequestRefusedError) as error:
                is_conflict = isinstance(error, RequestRefusedError) and error.status == 409
                if not is_conflict or not await self._is_there(task):
                    raise ResultError(f"{task.label} was not created: {error}") from None
                begun()
            except ResultError as error:
                # The task may exist, because the answer may have been lost.
                begun()
                raise ResultError(f"{task.label} ({task.task_id}): {error}") from None

    async def _is_there(self, task: NewTask) -> bool:
        """Return whether the task exists, with other dates, because another process resumed."""
        existing = (await self.tasks([task.task_id])).get(task.task_id)
        identity = (task.label, task.definition["taskGroupId"])
        return existing is not None and (existing.label, existing.status.task_group_id) == identity

    async def members(self, group_id: str) -> list[QueueTask]:
        """Return the benchmark's tasks of a group."""
        try:
            return [task for task in await self.group(group_id) if task.is_benchmark]
        except MissingError:
            raise ResultError(
                f"group:{group_id}: does not exist at {self.access.root_url}; check the id and the "
                "root URL"
            ) from None

    async def repeated(
        self, repetitions: Sequence[Repetition], labels: Sequence[str]
    ) -> list[NewTask]:
        """Return tasks of a group once more, under labels that are not among these."""
        definitions: dict[str, Mapping[str, Any]] = {}
        tasks: list[NewTask] = []
        used_labels = list(labels)
        for repetition in repetitions:
            task_id = repetition.task_id
            if task_id not in definitions:
                definitions[task_id] = await self.definition(task_id)
            tasks.append(_repeated_task(definitions[task_id], repetition, used_labels))
            used_labels.append(tasks[-1].label)
        return tasks

    async def cancel_group(self, group_id: str) -> tuple[list[str], dict[str, list[str]]]:
        """Cancel a group's unresolved tasks; return their labels, and by reason those left."""
        cancelled: list[str] = []
        problems: dict[str, list[str]] = {}
        for task in await self.members(group_id):
            try:
                if not task.status.is_resolved and await self.cancel_task(task.task_id):
                    cancelled.append(task.label)
            except ResultError as error:
                # A scope for each task is one for all of them.
                reason = str(error).replace(f"{group_id}/{task.task_id}", f"{group_id}/*")
                problems.setdefault(reason, []).append(task.label)
        return cancelled, problems


def _image_address(task: NewTask) -> str:
    """Return the address of the task that built the image; nothing for a registry's image."""
    image = task.definition["payload"].get("image")
    if not isinstance(image, Mapping):
        return ""
    if image.get("namespace"):
        return f"index:{image['namespace']}"
    return f"task:{image['taskId']}" if image.get("taskId") else ""


def _repeated_task(
    definition: Mapping[str, Any], repetition: Repetition, labels: Sequence[str]
) -> NewTask:
    """Return a task of the group once more, under a new label and, as submitted, without routes."""
    pool = repetition.pool
    try:
        made = repeated(definition, pool, labels, repetition.bytes_per_s)
    except (KeyError, TypeError, AttributeError, ValueError):
        raise ResultError(f"{pool}: the task that is to be repeated is malformed") from None
    label = made["metadata"]["name"]
    task_id = derived_id(made["taskGroupId"], label)
    return NewTask(label, job_of(label, pool), pool, {**made, "routes": []}, task_id)


def dated(definition: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    """Replace relative dates by dates counted from `now`, as a decision task does."""
    # Imported here: reading and cancelling a group need no taskgraph.
    from taskgraph.util.parameterization import resolve_timestamps  # noqa: PLC0415
    from taskgraph.util.time import InvalidString, UnknownTimeMeasurement  # noqa: PLC0415

    try:
        made: dict[str, Any] = resolve_timestamps(now, definition)
    except (InvalidString, UnknownTimeMeasurement, OverflowError, TypeError, ValueError) as error:
        raise IoBenchmarkError(f"a task's date is wrong: {error}; correct it in the kind") from None
    return made


def printed_tasks(tasks: Sequence[NewTask]) -> str:
    """Return tasks in the form of `taskgraph morphed -J`."""
    now = datetime.now(UTC)
    printed = {}
    for task in tasks:
        body = dated(task.definition, now)
        printed[task.label] = {"label": task.label, "task_id": task.task_id, "task": body}
    return json.dumps(printed, indent=2, ensure_ascii=False)
