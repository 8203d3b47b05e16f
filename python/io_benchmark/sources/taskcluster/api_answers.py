# SPDX-License-Identifier: MPL-2.0
"""A deployment's answers: the fields that are used here; others are ignored.

Ids are checked against the queue's pattern, because they become parts of paths.
"""

from typing import Annotated, Any, Generic, TypeVar

import msgspec
from msgspec import Meta, Struct, field

from io_benchmark.results.format import SLUG_PATTERN
from io_benchmark.sources.requests import TransientError
from io_benchmark.text import clean, clean_name, ending_in_words

T = TypeVar("T")
Slug = Annotated[str, Meta(pattern=f"^{SLUG_PATTERN}$")]
# A page of a group has 1000 tasks, each with a script of hundreds of braces.
_MAXIMUM_OBJECTS = 1_500_000
RESOLVED = ("completed", "failed", "exception")


class QueueRun(Struct, frozen=True, rename="camel"):
    run_id: Annotated[int, Meta(ge=0, le=999_999_999)]
    state: str
    reason_resolved: str | None = None
    worker_group: str | None = None
    worker_id: str | None = None
    scheduled: str | None = None
    started: str | None = None
    resolved: str | None = None

    @property
    def is_resolved(self) -> bool:
        return self.state in RESOLVED

    @property
    def ending(self) -> str:
        """`was preempted (worker-shutdown)`."""
        return clean(ending_in_words(self.state, self.reason_resolved), 100)


class TaskStatus(Struct, frozen=True, rename="camel"):
    task_id: Slug
    task_group_id: Slug
    state: str
    task_queue_id: str = ""
    scheduler_id: str = ""
    runs: list[QueueRun] = []

    @property
    def queue(self) -> str:
        """Return PROVISIONER/WORKERTYPE."""
        return clean_name(self.task_queue_id)

    @property
    def is_resolved(self) -> bool:
        return self.state in RESOLVED


class _TaskMetadata(Struct, frozen=True, rename="camel"):
    name: str = ""
    source: str = ""


class _TaskPayload(Struct, frozen=True, rename="camel"):
    """The payload of a task. Worker implementations differ, so any field may be anything."""

    image: Any = None
    command: Any = None
    artifacts: Any = None
    log: Any = None  # docker-worker's and d2g's
    logs: Any = None  # generic-worker's


class _Tags(Struct, frozen=True, rename="camel"):
    label: str | None = None
    kind: str | None = None
    os: str | None = None  # as taskgraph tags a task: of its worker


class _Comparing(Struct, frozen=True):
    baseline: str | None = None


class _Extra(Struct, frozen=True):
    """What a task's `extra` has of this project: other tools put anything there."""

    io_benchmark: _Comparing = field(default=_Comparing(), name="io-benchmark")


class TaskDefinition(Struct, frozen=True, rename="camel"):
    """The definition of a task. Its payload, which may be large, is decoded when it is used."""

    metadata: _TaskMetadata = _TaskMetadata()
    tags: _Tags = _Tags()
    created: str | None = None
    expires: str | None = None
    payload: msgspec.Raw = msgspec.Raw(b"{}")
    routes: tuple[str, ...] = ()
    extra: msgspec.Raw = msgspec.Raw(b"{}")

    def decoded_payload(self) -> _TaskPayload:
        """Return the payload; an empty one where it is invalid."""
        try:
            return decode(bytes(self.payload), _TaskPayload)
        except ValueError:
            return _TaskPayload()

    @property
    def baseline(self) -> str | None:
        """Return the pool that the task's kind names as the baseline."""
        try:
            named = decode(bytes(self.extra), _Extra).io_benchmark.baseline
        except ValueError:
            return None
        return clean_name(named) if named else None


class StatusAnswer(Struct, frozen=True):
    status: TaskStatus


class GroupMember(Struct, frozen=True, rename="camel"):
    status: TaskStatus
    task: TaskDefinition


class NamedDefinition(Struct, frozen=True, rename="camel"):
    """One of the definitions that were requested together."""

    task_id: Slug
    task: TaskDefinition


class IndexedTask(Struct, frozen=True, rename="camel"):
    task_id: Slug
    namespace: str = ""  # the full path, with its name


class _Namespace(Struct, frozen=True):
    name: str


class NamespacesPage(Struct, frozen=True, rename="camel"):
    namespaces: list[_Namespace]
    continuation_token: str | None = None


class TasksPage(Struct, Generic[T], frozen=True, rename="camel"):
    """A page of tasks, in one of the forms above."""

    tasks: list[T]
    continuation_token: str | None = None


class StatusesPage(Struct, frozen=True, rename="camel"):
    statuses: list[StatusAnswer]
    continuation_token: str | None = None


class WorkersPage(Struct, frozen=True, rename="camel"):
    """Workers that asked the queue for work, until some time after they were last seen."""

    workers: list[msgspec.Raw]
    continuation_token: str | None = None


class _RecentTask(Struct, frozen=True, rename="camel"):
    task_id: str


class SeenWorker(Struct, frozen=True, rename="camel"):
    """A worker by its claims."""

    first_claim: str | None = None
    recent_tasks: list[_RecentTask] = []  # the newest 20, the first of them first


class MadeWorker(Struct, frozen=True, rename="camel"):
    """A worker as its provisioner made it."""

    created: str | None = None


class ArtifactContent(Struct, frozen=True, rename="camel"):
    """The location of an artifact's content, or the reason why there is none."""

    storage_type: str
    url: str | None = None
    reason: str | None = None
    message: str | None = None


class LandingJob(Struct, frozen=True):
    status: str
    commit_id: str | None = None  # empty before it has landed
    error: str | None = None


def decode(data: bytes, kind: type[T]) -> T:
    """Decode an answer of a deployment; raise a ValueError where it has another form.

    An answer that ends in the middle is a TransientError.
    """
    if data.count(b"{") > _MAXIMUM_OBJECTS:
        raise ValueError(f"more than {_MAXIMUM_OBJECTS:,} objects in one answer")
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        if "truncated" in str(error):
            raise TransientError("the deployment sent only a part of its answer") from None
        raise ValueError(str(error)) from None
