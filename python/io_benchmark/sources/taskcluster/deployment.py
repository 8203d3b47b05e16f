# SPDX-License-Identifier: MPL-2.0
"""A Taskcluster deployment's queue and index, through the taskcluster client.

The client signs requests and knows the routes. This module adds what it lacks: timeouts, retries of
429 and of broken transfers, Retry-After, limits. The session that the client gets raises a
TransientError where another try is worth it; each try is signed again.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

import taskcluster.aio
from taskcluster.exceptions import (
    TaskclusterAuthFailure,
    TaskclusterFailure,
    TaskclusterRestFailure,
)

from io_benchmark.errors import MissingError, NoArtifactError, RequestRefusedError, ResultError
from io_benchmark.sources.taskcluster import api_answers
from io_benchmark.sources.taskcluster.access import ACCESS_TOKEN, CLIENT_ID, Access
from io_benchmark.sources.taskcluster.authorization_errors import (
    explain_unauthenticated,
    missing_scopes,
)
from io_benchmark.sources.taskcluster.client_session import ClientSession
from io_benchmark.sources.taskcluster.tasks import ARTIFACT, QueueTask
from io_benchmark.sources.web.retrying import TransientError
from io_benchmark.sources.web.web_client import WebClient, is_web_url
from io_benchmark.text import clean

T = TypeVar("T")

# The size of a page of the queue.
_MAXIMUM_IDS = 1000
_MAXIMUM_PAGES = 1000
_Ask = Callable[[], Awaitable[Any]]  # a call of the client


class Deployment:
    """The services of one root URL."""

    def __init__(self, access: Access, http: WebClient) -> None:
        self.access = access
        self._http = http
        self._session = ClientSession(http)
        options = self._options(access.api_root_url, access.credentials)
        self._queue = taskcluster.aio.Queue(options, session=self._session)
        self._index = taskcluster.aio.Index(options, session=self._session)
        self._workers = taskcluster.aio.WorkerManager(options, session=self._session)

    @staticmethod
    def _options(root_url: str, credentials: Mapping[str, str]) -> dict[str, Any]:
        return {"rootUrl": root_url, "maxRetries": 0, "credentials": dict(credentials)}

    async def create_task(self, task_id: str, definition: Mapping[str, Any]) -> None:
        """Create a task; repeating a lost answer creates the same task under the same id only once."""
        await self._change(lambda: self._queue.createTask(task_id, dict(definition)))

    async def cancel_task(self, task_id: str) -> bool:
        """Cancel a task; return False where it was resolved before, which does not change it."""
        status = (await self._change(lambda: self._queue.cancelTask(task_id))).status
        return bool(status.runs) and status.runs[-1].reason_resolved == "canceled"

    async def knows_worker_pool(self, pool_id: str) -> bool | None:
        """Return whether a worker pool exists; None where the credentials do not permit to know."""
        try:
            await self._http.policy.retry(lambda: self._workers.workerPool(pool_id))
        except TaskclusterRestFailure as error:
            return False if error.status_code == 404 else None
        except TaskclusterAuthFailure:
            return None
        return True

    async def _change(self, ask: _Ask) -> api_answers.StatusAnswer:
        try:
            return await self._answer(api_answers.StatusAnswer, ask)
        except (TaskclusterRestFailure, TaskclusterAuthFailure) as error:
            raise RequestRefusedError(error.status_code, str(error)) from None

    async def find(self, route: str) -> str | None:
        """Return the id of the task at a route of the index."""
        try:
            return (
                await self._ask(api_answers.IndexedTask, lambda: self._index.findTask(route))
            ).task_id
        except MissingError:
            return None

    async def indexed(self, namespace: str) -> dict[str, str]:
        """Return the ids of the tasks directly in a namespace, by name; none where it does not exist."""
        pages = self._pages(
            api_answers.TasksPage[api_answers.IndexedTask],
            lambda query: self._index.listTasks(namespace, query=query),
        )
        try:
            tasks = [task async for page in pages for task in page.tasks]
        except MissingError:
            return {}
        return {task.namespace.rpartition(".")[2]: task.task_id for task in tasks}

    async def namespaces(self, namespace: str) -> list[str]:
        """Return the names of the namespaces directly in a namespace; none where it does not exist."""
        pages = self._pages(
            api_answers.NamespacesPage,
            lambda query: self._index.listNamespaces(namespace, query=query),
        )
        try:
            return [namespace.name async for page in pages for namespace in page.namespaces]
        except MissingError:
            return []

    async def group(
        self, group_id: str, on_tasks: Callable[[int], None] = lambda _count: None
    ) -> list[QueueTask]:
        """Return all tasks of a group; `on_tasks` gets their number after each page."""
        members: dict[str, QueueTask] = {}
        pages = self._pages(
            api_answers.TasksPage[api_answers.GroupMember],
            lambda query: self._queue.listTaskGroup(group_id, query=query),
        )
        async for page in pages:
            for member in page.tasks:
                members[member.status.task_id] = QueueTask.of(member.task, member.status)
            on_tasks(len(members))
            page.tasks.clear()  # its 100 MB, before the next page arrives
        return list(members.values())

    async def tasks(self, task_ids: Sequence[str]) -> dict[str, QueueTask]:
        """Return those of the named tasks that exist, with two requests per 1000."""
        if len(task_ids) == 1:
            return await self._single_task(task_ids[0])
        tasks: dict[str, QueueTask] = {}
        for start in range(0, len(task_ids), _MAXIMUM_IDS):
            payload = {"taskIds": list(task_ids[start : start + _MAXIMUM_IDS])}
            tasks |= await self._many_tasks(payload)
        return tasks

    async def _many_tasks(self, payload: dict[str, list[str]]) -> dict[str, QueueTask]:
        pages = self._pages(
            api_answers.StatusesPage,
            lambda query: self._queue.statuses(payload=payload, query=query),
        )
        answers = [answer async for page in pages for answer in page.statuses]
        statuses = {answer.status.task_id: answer.status for answer in answers}
        pages = self._pages(
            api_answers.TasksPage[api_answers.NamedDefinition],
            lambda query: self._queue.tasks(payload=payload, query=query),
        )
        return {
            listed.task_id: QueueTask.of(listed.task, statuses[listed.task_id])
            async for page in pages
            for listed in page.tasks
            if listed.task_id in statuses
        }

    async def definition(self, task_id: str) -> dict[str, Any]:
        """Return a task's whole definition; raise a MissingError without such a task."""
        return await self._ask(dict[str, Any], lambda: self._queue.task(task_id))

    async def _single_task(self, task_id: str) -> dict[str, QueueTask]:
        """Return one task by the older methods, which every deployment has."""
        try:
            answer = await self._ask(api_answers.StatusAnswer, lambda: self._queue.status(task_id))
            definition = await self._ask(
                api_answers.TaskDefinition, lambda: self._queue.task(task_id)
            )
        except MissingError:
            return {}
        return {task_id: QueueTask.of(definition, answer.status)}

    async def result(
        self, task: QueueTask, run_id: int, maximum_bytes: int, artifact: str = ARTIFACT
    ) -> bytes:
        """Return the result file of a run; raise a NoArtifactError that says why there is none."""
        try:
            content = await self._ask(
                api_answers.ArtifactContent,
                lambda: self._queue.artifact(task.task_id, str(run_id), artifact),
                f"the scope queue:get-artifact:{artifact}",
            )
        except MissingError:
            raise self._absent(task, run_id, f"left no {artifact.rpartition('/')[2]}") from None
        if content.storage_type == "error":
            raise _error_artifact(content.reason, content.message)
        url = await self._object_url(content) if content.storage_type == "object" else content.url
        if not url or not is_web_url(url):
            kind = clean(content.storage_type, 50)
            raise ResultError(f"its artifact of type {kind!r} has no http(s) address")
        try:
            return await self._http.policy.retry(
                lambda: self._http.download(url, maximum_bytes, self.access.root_url)
            )
        except MissingError as error:
            raise self._absent(task, run_id, f"lost its artifact's content: {error}") from None

    def _absent(self, task: QueueTask, run_id: int, what: str) -> NoArtifactError:
        """Explain an absent artifact: it expired, or never existed."""
        expires = task.artifact_expires
        if expires is not None and expires < self._http.policy.now():
            date = expires.date().isoformat()
            return NoArtifactError(f"{what}: it expired on {date}; run the benchmark again")
        return NoArtifactError(f"{what}: {task.advice_on_run(run_id)}")

    async def _object_url(self, content: api_answers.ArtifactContent) -> str:
        """Return an address that is valid for an hour, by credentials for this object only."""
        payload = {"acceptDownloadMethods": {"getUrl": True}}
        options = self._options(self.access.root_url, content.credentials)
        try:
            service = taskcluster.aio.Object(options, session=self._session)
            service.makeHawkExt()
        except (TaskclusterFailure, ValueError):
            raise ResultError("its object comes with credentials that cannot be used") from None
        answer = await self._ask(
            api_answers.ObjectDownload, lambda: service.startDownload(content.name or "", payload)
        )
        return answer.url

    async def _pages(
        self, kind: type[Any], ask: Callable[[dict[str, str]], Awaitable[Any]]
    ) -> AsyncIterator[Any]:
        """Yield all pages. Each is requested separately, so a failure repeats only one page."""
        query: dict[str, str] = {}
        for _ in range(_MAXIMUM_PAGES):
            page = await self._ask(kind, lambda: ask(dict(query)))
            yield page
            token = page.continuation_token
            if not token:
                return
            if token == query.get("continuationToken"):
                raise ResultError(f"{self.access.root_url} returns the same page again and again")
            query["continuationToken"] = token
        raise ResultError(f"{self.access.root_url} gives more than {_MAXIMUM_PAGES} pages")

    async def _ask(self, kind: type[T], ask: _Ask, needs: str = "") -> T:
        """Return the decoded answer; raise a ResultError that explains a refusal."""
        try:
            return await self._answer(kind, ask)
        except TaskclusterAuthFailure as error:
            why = explain_unauthenticated(str(error), self.access.who)
            raise ResultError(f"{self.access.root_url} {why}") from None
        except TaskclusterRestFailure as error:
            raise self._refusal(error, needs) from None

    async def _answer(self, kind: type[T], ask: _Ask) -> T:
        """Call the client, repeat that where it may help, and return the decoded answer."""

        async def attempt() -> T:
            body = await ask()
            try:
                return api_answers.decode(body if isinstance(body, bytes) else b"", kind)
            except api_answers.IncompleteError:
                raise TransientError("the deployment sent only a part of its answer") from None

        try:
            return await self._http.policy.retry(attempt)
        except ValueError as error:
            raise ResultError(
                f"{self.access.root_url} does not answer like a Taskcluster deployment "
                f"({clean(str(error), 150)}); check the address"
            ) from None

    def _refusal(self, error: TaskclusterRestFailure, needs: str) -> ResultError:
        root_url = self.access.root_url
        first_line = clean(str(error).strip().partition("\n")[0], 200)
        if error.status_code == 404:
            return MissingError(first_line)
        if error.status_code == 424:
            body = error.body if isinstance(error.body, dict) else {}
            return _error_artifact(str(body.get("reason", "")), str(body.get("message", "")))
        if error.status_code != 403:
            return ResultError(f"{root_url}: {error.status_code}, {first_line}")
        advice = f"set {CLIENT_ID} and {ACCESS_TOKEN}"
        if self.access.api_root_url != root_url:
            advice = "give the task that scope"
        elif self.access.credentials:
            advice = "request that scope from the deployment's owners"
        scopes = needs or missing_scopes(str(error)) or "a scope"
        return ResultError(
            f"{root_url} refuses the request, which needs {scopes} and was made {self.access.who}; "
            f"{advice}"
        )


def _error_artifact(reason: str | None, message: str | None) -> NoArtifactError:
    why = clean(reason or "no reason given", 100) + (
        f", {clean(message, 200)!r}" if message else ""
    )
    return NoArtifactError(
        f"has an error artifact instead of a result ({why}): the script wrote none; look at the "
        "task's log"
    )
