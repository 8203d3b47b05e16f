# SPDX-License-Identifier: MPL-2.0
"""A Taskcluster deployment's queue and index, through the taskcluster client.

The client signs requests and knows the routes. It gets a session that sends them through the web
client, which adds what the client lacks: timeouts, limits, retries of 429 and of broken transfers,
Retry-After. A temporary failure leaves the client as a TransientError; each try is signed again.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Self, TypeVar

from taskcluster.aio import Index, Queue, WorkerManager
from taskcluster.exceptions import TaskclusterAuthFailure, TaskclusterRestFailure

from io_benchmark.errors import (
    GaveUpError,
    MissingError,
    NoArtifactError,
    RequestRefusedError,
    ResultError,
)
from io_benchmark.sources.requests import run_coroutine
from io_benchmark.sources.silence import Notice
from io_benchmark.sources.taskcluster.access import Access
from io_benchmark.sources.taskcluster.addresses import (
    DECISION,
    REVISION,
    IndexAddress,
    LandingAddress,
)
from io_benchmark.sources.taskcluster.api_answers import (
    ArtifactContent,
    GroupMember,
    IndexedTask,
    LandingJob,
    MadeWorker,
    NamedDefinition,
    NamespacesPage,
    QueueRun,
    SeenWorker,
    StatusAnswer,
    StatusesPage,
    TasksPage,
    TaskStatus,
    WorkersPage,
    decode,
)
from io_benchmark.sources.taskcluster.client_session import ClientSession
from io_benchmark.sources.taskcluster.tasks import QueueTask
from io_benchmark.sources.web_client import WebClient
from io_benchmark.text import clean, clean_name

T = TypeVar("T")

_MAXIMUM_IDS, _MAXIMUM_PAGES = 1000, 1000
_MAXIMUM_LANDING_BYTES = 1024 * 1024


class Deployment:
    """The services of one root URL."""

    def __init__(self, access: Access, http: WebClient) -> None:
        self.access = access
        self.http = http
        credentials, session = dict(access.credentials), ClientSession(http)
        options = {"rootUrl": access.api_root_url, "maxRetries": 0, "credentials": credentials}
        self._queue = Queue(options, session=session)
        self._index = Index(options, session=session)
        self._workers = WorkerManager(options, session=session)

    @classmethod
    def run(
        cls,
        root_urls: Iterable[str],
        environment: Mapping[str, str],
        use: Callable[[Mapping[str, Self]], Awaitable[T]],
        limit_s: float | None = None,
        notice: Notice = lambda *_: None,
    ) -> T:
        """Return the result of `use`, which gets the deployments by root URL.

        Raise a TimeoutError at the limit. `notice` gets to know of hosts that do not answer.
        """
        # Mistakes in the environment are reported before the first request.
        accesses = [Access.of(root_url, environment) for root_url in dict.fromkeys(root_urls)]

        async def main() -> T:
            async with asyncio.timeout(limit_s), WebClient(notice=notice) as client:
                return await use({access.root_url: cls(access, client) for access in accesses})

        return run_coroutine(main())

    async def create_task(self, task_id: str, definition: Mapping[str, Any]) -> None:
        """Create a task; asking again after a lost answer creates it only once."""
        await self._ask(StatusAnswer, lambda: self._queue.createTask(task_id, dict(definition)))

    async def cancel_task(self, task_id: str) -> bool:
        """Cancel a task; return False where it was resolved before, which does not change it."""
        runs = (await self._ask(StatusAnswer, lambda: self._queue.cancelTask(task_id))).status.runs
        return bool(runs) and runs[-1].reason_resolved == "canceled"

    async def knows_worker_pool(self, pool_id: str) -> bool | None:
        """Return whether a worker pool exists; None where the credentials do not permit to know."""
        try:
            await self._retry(lambda: self._workers.workerPool(pool_id))
        except TaskclusterRestFailure as error:
            return False if error.status_code == 404 else None
        except TaskclusterAuthFailure:
            return None
        return True

    async def has_workers(self, queue: str) -> bool | None:
        """Return whether the queue has seen a worker of a pool lately; None if it does not tell."""
        provisioner_id, _, worker_type = queue.partition("/")
        pages = self._pages(WorkersPage, self._queue.listWorkers, provisioner_id, worker_type)
        try:
            async for page in pages:
                if page.workers:
                    return True
        except (MissingError, RequestRefusedError):
            return None
        return False

    async def worker(self, queue: str, group: str, name: str) -> tuple[SeenWorker, MadeWorker]:
        """Return what is known of a worker by its claims, and as it was made."""
        names = (*queue.split("/", 1), group, name)
        return (
            await self._ask(SeenWorker, lambda: self._workers.getWorker(*names)),
            await self._ask(MadeWorker, lambda: self._workers.worker(queue, group, name)),
        )

    async def find(self, route: str) -> str | None:
        try:
            return (await self._ask(IndexedTask, lambda: self._index.findTask(route))).task_id
        except MissingError:
            return None

    async def landed(self, landing: LandingAddress) -> IndexAddress | None:
        """Return the decision task's route of a push of Lando's; None where it has not landed."""

        async def read_job() -> LandingJob:
            content = await self.http.download(landing.job_url, _MAXIMUM_LANDING_BYTES)
            return decode(content, LandingJob)

        try:
            job = await self.http.retry(landing.job_url, read_job)
        except ValueError as error:
            raise ResultError(
                f"Lando's answer is not understood ({clean(str(error), 150)})"
            ) from None
        if job.status in ("FAILED", "CANCELLED"):
            why = f"{clean(job.status, 50)}: {clean_name(job.error or 'no reason given')}"
            raise ResultError(f"Lando did not land it ({why}); push again")
        if not job.commit_id:
            return None
        if not REVISION.fullmatch(job.commit_id):
            raise ResultError(f"Lando's commit {clean(job.commit_id, 50)!r} is not a revision")
        return IndexAddress(landing.root_url, f"{landing.push_route}.{job.commit_id}{DECISION}")

    async def indexed(self, namespace: str) -> dict[str, str]:
        """Return the ids of the tasks directly in a namespace, by name; a missing one has none."""
        pages = self._pages(TasksPage[IndexedTask], self._index.listTasks, namespace)
        return {
            task.namespace.rpartition(".")[2]: task.task_id
            async for page in pages
            for task in page.tasks
        }

    async def namespaces(self, namespace: str) -> list[str]:
        """Return the names of the namespaces directly in a namespace; a missing one has none."""
        pages = self._pages(NamespacesPage, self._index.listNamespaces, namespace)
        return [inner.name async for page in pages for inner in page.namespaces]

    async def group(
        self, group_id: str, on_tasks: Callable[[int], None] = lambda _count: None
    ) -> list[QueueTask]:
        """Return all tasks of a group; `on_tasks` gets the number of tasks on each page."""
        members: dict[str, QueueTask] = {}
        pages = self._pages(TasksPage[GroupMember], self._queue.listTaskGroup, group_id)
        async for page in pages:
            for member in page.tasks:
                members[member.status.task_id] = QueueTask.of(member.task, member.status)
            on_tasks(len(page.tasks))
            page.tasks.clear()  # its 100 MB, before the next page arrives
        return list(members.values())

    async def tasks(self, task_ids: Sequence[str]) -> dict[str, QueueTask]:
        """Return those of the named tasks that exist, with two requests per 1000."""
        statuses = await self.statuses(task_ids)
        tasks: dict[str, QueueTask] = {}
        kind = TasksPage[NamedDefinition]
        for ids in _payloads(task_ids):
            async for page in self._pages(kind, self._queue.tasks, payload=ids):
                tasks |= {
                    task.task_id: QueueTask.of(task.task, statuses[task.task_id])
                    for task in page.tasks
                    if task.task_id in statuses
                }
        return tasks

    async def statuses(self, task_ids: Sequence[str]) -> dict[str, TaskStatus]:
        """Return the states of those named tasks that exist, with a request per 1000."""
        return {
            answer.status.task_id: answer.status
            for ids in _payloads(task_ids)
            async for page in self._pages(StatusesPage, self._queue.statuses, payload=ids)
            for answer in page.statuses
        }

    @property
    def requests(self) -> int:
        """Return how many requests were sent so far, repetitions included."""
        return self.http.sent

    def has_expired(self, task: QueueTask) -> bool:
        """Return whether a task's artifact is too old to be kept."""
        expires = task.artifact_expires
        return expires is not None and expires < self.http.policy.now()

    async def definition(self, task_id: str) -> dict[str, Any]:
        """Return a task's whole definition; raise a MissingError without such a task."""
        return await self._ask(dict[str, Any], lambda: self._queue.task(task_id))

    async def result(
        self, task: QueueTask, run: QueueRun, maximum_bytes: int, artifact: str
    ) -> bytes:
        """Return an artifact of a resolved run; a NoArtifactError says why there is none."""
        try:
            content = await self.content(task, run, artifact)
        except MissingError:
            raise self._absent(task, run, f"left no {artifact.rpartition('/')[2]}") from None
        if content.storage_type == "error":
            why = clean(content.reason or "no reason given", 100)
            if content.message:
                why += f", {clean_name(content.message)!r}"
            raise NoArtifactError(
                f"has an error artifact instead of a result ({why}): the script wrote none; look "
                "at the task's log"
            )
        url = content.url
        if not url or not WebClient.can_request(url):
            kind = clean(content.storage_type, 50)
            raise ResultError(f"its artifact of type {kind!r} has no http(s) address")
        try:
            return await self.http.retry(
                url, lambda: self.http.download(url, maximum_bytes, self.access.root_url)
            )
        except MissingError as error:
            raise self._absent(task, run, f"lost its artifact's content: {error}") from None
        except GaveUpError as error:
            # The queue answers; a person would look there.
            raise GaveUpError(f"the store that holds its artifact fails: {error}") from None

    async def content(self, task: QueueTask, run: QueueRun, artifact: str) -> ArtifactContent:
        """Return where an artifact's content is; raise a MissingError without such an artifact."""
        return await self._ask(
            ArtifactContent,
            lambda: self._queue.artifact(task.task_id, str(run.run_id), artifact),
            f"the scope queue:get-artifact:{artifact}",
        )

    def _absent(self, task: QueueTask, run: QueueRun, problem: str) -> NoArtifactError:
        """Explain an absent artifact: it expired, or never existed."""
        expires, advice = task.artifact_expires, task.advice_on_run(run)
        if expires is not None and self.has_expired(task):
            advice = f"it expired on {expires.date()}; run the {task.work} again"
        return NoArtifactError(f"{problem}: {advice}")

    async def _pages(
        self, kind: type[Any], ask: Callable[..., Awaitable[Any]], *names: str, **payload: object
    ) -> AsyncIterator[Any]:
        """Yield all pages. Each is requested separately, so a failure repeats only one page."""
        query: dict[str, str] = {}
        for _ in range(_MAXIMUM_PAGES):
            page = await self._ask(kind, lambda: ask(*names, query=dict(query), **payload))
            yield page
            token = page.continuation_token
            if not token:
                return
            query["continuationToken"] = token
        raise ResultError(f"{self.access.root_url} gives more than {_MAXIMUM_PAGES} pages")

    async def _retry(self, ask: Callable[[], Awaitable[T]]) -> T:
        return await self.http.retry(self.access.api_root_url, ask)

    async def _ask(self, kind: type[T], ask: Callable[[], Awaitable[Any]], needs: str = "") -> T:
        """Call the client, repeat that where it may help, and return the decoded answer.

        Raise a ResultError that explains a refusal; `needs` is the scope that the request needs.
        """

        async def attempt() -> T:
            body = await ask()
            return decode(body if isinstance(body, bytes) else b"", kind)

        try:
            return await self._retry(attempt)
        except ValueError as error:
            raise ResultError(
                f"{self.access.root_url} does not answer like a Taskcluster deployment "
                f"({clean(str(error), 150)}); check the address"
            ) from None
        except (TaskclusterRestFailure, TaskclusterAuthFailure) as error:
            status, message = error.status_code, str(error)
            if status == 404:
                raise MissingError(clean_name(message.strip().partition("\n")[0])) from None
            raise RequestRefusedError(status, self.access.refusal(status, message, needs)) from None


def _payloads(task_ids: Sequence[str]) -> list[dict[str, list[str]]]:
    """Return the payloads of requests that name all these tasks."""
    starts = range(0, len(task_ids), _MAXIMUM_IDS)
    return [{"taskIds": list(task_ids[start : start + _MAXIMUM_IDS])} for start in starts]
