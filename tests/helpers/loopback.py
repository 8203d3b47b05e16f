# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""A Taskcluster on this machine's loopback, which answers as the recorded one did, or goes wrong.

The queue, the index and the object service answer on one port, the storage host on another, so that
a test can tell what was sent to which.
"""

import argparse
import asyncio
import hashlib
import json
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self
from urllib.parse import unquote

from aiohttp import web
from loopback_deployment import Artifact, Deployment, add_group, recorded

PRIVATE_SCOPE = "This request requires Taskcluster credentials that satisfy the following scope"


@dataclass(frozen=True)
class Request:
    """What arrived."""

    host: str  # "api" or "storage"
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]


@dataclass(frozen=True)
class Fault:
    """What goes wrong with an answer."""

    status: int | None = None
    headers: dict[str, str] = field(default_factory=dict)
    truncated: bool = False  # less of the body than was announced
    delay_s: float = 0.0  # before the answer begins
    hang_up: bool = False


# Which fault, if any, the n-th request of the same kind meets.
Faults = Callable[[Request, int], Fault | None]


def share_of(share: float, fault: Fault, seed: int = 1) -> Faults:
    """This share of all answers, whatever order they are asked in."""

    def choose(request: Request, number: int) -> Fault | None:
        name = f"{seed} {request.method} {request.path} {request.query} {number}"
        dice = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") / 2**64
        return fault if dice < share else None

    return choose


def first(count: int, fault: Fault, host: str | None = None, part: str = "") -> Faults:
    """The first so many requests of each kind, at one host, with this in the path."""

    def choose(request: Request, number: int) -> Fault | None:
        concerned = host in (None, request.host) and part in request.path
        return fault if concerned and number < count else None

    return choose


class Loopback:
    """Answers while its `with` block lasts."""

    def __init__(
        self,
        deployment: Deployment | None = None,
        faults: Faults = lambda _request, _number: None,
        latency_s: float = 0.0,
        private: bool = False,
    ) -> None:
        self.deployment = deployment if deployment is not None else recorded()
        self.faults = faults
        self.latency_s = latency_s
        self.private = private
        self.requests: list[Request] = []
        self.url = self.storage_url = ""
        self._counts: Counter[tuple[str, str, str, str]] = Counter()
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._stop: asyncio.Event | None = None
        self.most_at_once = 0
        self._at_once = 0

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        stop = self._stop
        assert stop is not None
        self._loop.call_soon_threadsafe(stop.set)
        self._thread.join(10)
        self._loop.close()

    def asked(self, host: str, part: str = "") -> list[Request]:
        return [one for one in self.requests if one.host == host and part in one.path]

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._main())

    async def _main(self) -> None:
        self._stop = asyncio.Event()
        runners = []
        ports = []
        for handler in (self._api, self._storage):
            server = web.Server(handler, access_log=None)
            runner = web.ServerRunner(server, shutdown_timeout=0.1)
            await runner.setup()
            site = web.TCPSite(runner, "127.0.0.1", 0, backlog=1024)
            await site.start()
            ports.append(runner.addresses[0][1])
            runners.append(runner)
        self.url, self.storage_url = (f"http://127.0.0.1:{port}" for port in ports)
        self._ready.set()
        await self._stop.wait()
        for runner in runners:
            await runner.cleanup()
        # Answers that nobody waits for any more.
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    async def _api(self, incoming: web.BaseRequest) -> web.StreamResponse:
        return await self._answer("api", incoming, self._api_answer)

    async def _storage(self, incoming: web.BaseRequest) -> web.StreamResponse:
        return await self._answer("storage", incoming, self._object)

    async def _answer(
        self,
        host: str,
        incoming: web.BaseRequest,
        answer: Callable[[Request, Any], "Reply"],
    ) -> web.StreamResponse:
        request = Request(
            host, incoming.method, incoming.raw_path, dict(incoming.query), dict(incoming.headers)
        )
        self.requests.append(request)
        key = (host, request.method, incoming.path, str(sorted(request.query.items())))
        number = self._counts[key]
        self._counts[key] += 1
        fault = self.faults(request, number) or Fault()
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            await asyncio.sleep(self.latency_s + fault.delay_s)
        finally:
            self._at_once -= 1
        sent = await incoming.json() if incoming.body_exists else None
        if fault.hang_up:
            assert incoming.transport is not None
            incoming.transport.abort()
        if fault.status is not None:
            return web.Response(status=fault.status, headers=fault.headers, text="<html>no")
        reply = answer(request, sent)
        if fault.truncated:
            return await _truncated(incoming, reply)
        return web.Response(status=reply.status, headers=reply.headers, body=reply.body)

    def _api_answer(self, request: Request, sent: Any) -> "Reply":
        path = request.path.partition("?")[0]
        _, _, service, _, *parts = path.split("/")
        route = [service, *(unquote(part) for part in parts)]
        match route:
            case ["queue", "task-group", group, "list"]:
                return self._group(group, request.query)
            case ["queue", "task", task] if request.method == "PUT":
                return self._create(task, sent)
            case ["queue", "task", task, "cancel"] if request.method == "POST":
                return self._task(task, "cancelTask", lambda: self._cancelled(task))
            case ["worker-manager", "worker-pool", pool]:
                return self._worker_pool(pool)
            case ["queue", "task", task, "status"]:
                return self._task(task, "status", lambda: {"status": self._statuses[task]})
            case ["queue", "task", task]:
                return self._task(task, "task", lambda: self._definitions[task])
            case ["queue", "tasks", "status"]:
                known = [one for one in sent["taskIds"] if one in self._statuses]
                statuses = [{"taskId": one, "status": self._statuses[one]} for one in known]
                return _json(200, {"statuses": statuses})
            case ["queue", "tasks"]:
                known = [one for one in sent["taskIds"] if one in self._definitions]
                tasks = [{"taskId": one, "task": self._definitions[one]} for one in known]
                return _json(200, {"tasks": tasks})
            case [
                "queue",
                "task",
                task,
                "runs",
                run,
                ("artifact-content" | "artifacts") as how,
                *name,
            ]:
                return self._artifact(task, int(run), "/".join(name), how, request)
            case ["queue", "task", task, ("artifact-content" | "artifacts") as how, *name] if name:
                newest = self._statuses[task]["runs"][-1]["runId"]
                return self._artifact(task, newest, "/".join(name), how, request)
            case ["index", "task", indexed]:
                return self._indexed(indexed)
            case ["index", "tasks", namespace]:
                inside = [
                    _indexed_task(one, task)
                    for one, task in self.deployment.index.items()
                    if one.rpartition(".")[0] == namespace
                ]
                return self._indexed_page("tasks", inside, request.query)
            case ["index", "namespaces", namespace]:
                below = f"{namespace}."
                names = {
                    one.removeprefix(below).partition(".")[0]
                    for one in self.deployment.index
                    if one.startswith(below) and "." in one.removeprefix(below)
                }
                found = [{"namespace": f"{below}{name}", "name": name} for name in sorted(names)]
                return self._indexed_page("namespaces", found, request.query)
            case ["object", "start-download", name]:
                return _json(200, self._object_download(name, request))
        return _failure(404, "ResourceNotFound", f"no such route here: {path}")

    @property
    def _statuses(self) -> dict[str, dict[str, Any]]:
        return self.deployment.statuses

    @property
    def _definitions(self) -> dict[str, dict[str, Any]]:
        return self.deployment.definitions

    def _task(self, task_id: str, method: str, body: Callable[[], Any]) -> "Reply":
        if task_id in self._statuses:
            return _json(200, body())
        message = (
            f"`{task_id}` does not correspond to a task that exists.\n"
            f"Are you sure this task exists?"
        )
        return _failure(404, "ResourceNotFound", message, method)

    def _create(self, task_id: str, definition: dict[str, Any]) -> "Reply":
        refusal = self.deployment.refuse(definition)
        if refusal is not None:
            return _failure(*refusal, "createTask")
        known = self._definitions.get(task_id)
        if known is None:
            self.deployment.create(task_id, definition)
        elif known != definition:
            message = f"taskId `{task_id}` already used by another task."
            return _failure(409, "RequestConflict", message, "createTask")
        return _json(200, {"status": self._statuses[task_id]})

    def _cancelled(self, task_id: str) -> dict[str, Any]:
        self.deployment.cancel(task_id)
        return {"status": self._statuses[task_id]}

    def _worker_pool(self, pool: str) -> "Reply":
        pools = self.deployment.worker_pools
        if pools is None:
            message = f"{PRIVATE_SCOPE} expression:\n\n```\n{{}}\n```"
            return _failure(403, "InsufficientScopes", message, "workerPool")
        if pool not in pools:
            return _failure(404, "ResourceNotFound", "Worker pool does not exist", "workerPool")
        return _json(200, {"workerPoolId": pool})

    def _group(self, group_id: str, query: dict[str, str]) -> "Reply":
        deployment = self.deployment
        members = deployment.groups.get(group_id)
        if members is None:
            message = f"No task-group with taskGroupId: `{group_id}`"
            return _failure(404, "ResourceNotFound", message, "listTaskGroup")
        starts = {token: at for at, token in deployment.tokens.items()}
        token = query.get("continuationToken", "")
        begin = starts[token] if token in starts else int(token.removeprefix("from-") or 0)
        end = begin + min(int(query.get("limit", 1000)), deployment.page_limit)
        body: dict[str, Any] = {
            "taskGroupId": group_id,
            "schedulerId": "dev",
            "expires": "2026-11-28T09:38:21.000Z",
            "tasks": [
                {"status": self._statuses[one], "task": self._definitions[one]}
                for one in members[begin:end]
            ],
        }
        if end < len(members):
            body["continuationToken"] = deployment.tokens.get(end, f"from-{end}")
        return _json(200, body)

    def _artifact(
        self, task_id: str, run_id: int, name: str, how: str, request: Request
    ) -> "Reply":
        if not name:
            return self._artifacts(task_id, run_id)
        private = self.private or not name.startswith("public/")
        if private and "Authorization" not in request.headers:
            scope = json.dumps({"AllOf": [f"queue:get-artifact:{name}"]}, indent=2)
            message = f"{PRIVATE_SCOPE} expression:\n\n```\n{scope}\n```"
            return _failure(403, "InsufficientScopes", message, "getArtifact")
        artifact = self.deployment.artifacts.get((task_id, run_id, name))
        if artifact is None:
            return _failure(404, "ResourceNotFound", "Artifact not found", "getArtifact")
        redirect = how == "artifacts"
        if artifact.storage_type == "error":
            said = {"reason": artifact.reason, "message": artifact.message}
            return _json(424, said) if redirect else _json(200, {"storageType": "error", **said})
        if artifact.storage_type == "object":
            credentials = {"clientId": "object-reader", "accessToken": "object-token"}
            body = {"storageType": "object", "name": f"{task_id}/{run_id}/{name}"}
            return _json(200, {**body, "credentials": credentials})
        url = artifact.url or f"{self.storage_url}/public-bucket/{task_id}/{run_id}/{name}"
        reply = _json(303 if redirect else 200, {"storageType": artifact.storage_type, "url": url})
        return Reply(reply.status, {**reply.headers, "Location": url}, reply.body)

    def _artifacts(self, task_id: str, run_id: int) -> "Reply":
        if run_id >= len(self._statuses[task_id]["runs"]):
            message = f"Task with taskId: `{task_id}` has no run with runId: {run_id}"
            return _failure(404, "ResourceNotFound", message, "listArtifacts")
        names = [
            {"storageType": artifact.storage_type, "name": name}
            for (task, run, name), artifact in self.deployment.artifacts.items()
            if (task, run) == (task_id, run_id)
        ]
        return _json(200, {"artifacts": names})

    def _indexed(self, route: str) -> "Reply":
        task_id = self.deployment.index.get(route)
        if task_id is None:
            return _failure(404, "ResourceNotFound", "Indexed task not found", "findTask")
        return _json(200, _indexed_task(route, task_id))

    def _indexed_page(self, what: str, found: list[Any], query: dict[str, str]) -> "Reply":
        begin = int(query.get("continuationToken", "from-0").removeprefix("from-"))
        end = begin + self.deployment.page_limit
        more = {"continuationToken": f"from-{end}"} if end < len(found) else {}
        return _json(200, {what: found[begin:end], **more})

    def _object_download(self, name: str, request: Request) -> dict[str, str]:
        assert 'id="object-reader"' in request.headers["Authorization"]
        url = f"{self.storage_url}/public-bucket/{name}"
        return {"method": "getUrl", "url": url, "expires": "2026-11-28T08:38:21.000Z"}

    def _object(self, request: Request, _sent: Any) -> "Reply":
        _, bucket, *parts = request.path.partition("?")[0].split("/")
        if bucket == "loop":
            return Reply(302, {"Location": request.path}, b"")
        if bucket == "to":  # wherever a test wants to lead
            return Reply(302, {"Location": unquote("/".join(parts))}, b"")
        task_id, run_id, *name = parts
        artifact = self.deployment.artifacts.get((task_id, int(run_id), "/".join(name)))
        if artifact is None or artifact.storage_type == "gone":
            return Reply(404, {"Content-Type": "application/xml"}, b"<Code>NoSuchKey</Code>")
        encoding = {"Content-Encoding": "gzip"} if artifact.gzipped else {}
        headers = {"Content-Type": "application/json", **encoding, **artifact.headers}
        return Reply(200, headers, artifact.stored)


@dataclass(frozen=True)
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes


def _json(status: int, body: Any) -> Reply:
    text = json.dumps(body).encode()
    return Reply(status, {"Content-Type": "application/json; charset=utf-8"}, text)


def _failure(status: int, code: str, message: str, method: str = "") -> Reply:
    text = (
        f"{message}\n\n---\n\n* method:     {method}\n* errorCode:  {code}\n* statusCode: {status}"
    )
    return _json(status, {"code": code, "message": text, "requestInfo": {"method": method}})


def _indexed_task(namespace: str, task_id: str) -> dict[str, Any]:
    expires = "2026-11-28T08:38:21.000Z"
    return {"namespace": namespace, "taskId": task_id, "rank": 0, "data": {}, "expires": expires}


async def _truncated(incoming: web.BaseRequest, reply: Reply) -> web.StreamResponse:
    """Half of what was announced, then the connection is cut."""
    headers = {**reply.headers, "Content-Length": str(len(reply.body))}
    response = web.StreamResponse(status=reply.status, headers=headers)
    await response.prepare(incoming)
    await response.write(reply.body[: len(reply.body) // 2])
    assert incoming.transport is not None
    incoming.transport.close()
    return response


def main() -> None:
    """A group of completed tasks in a process of its own, for benchmarks: prints where it is."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tasks", type=int, default=300)
    parser.add_argument("--latency-ms", type=float, default=50)
    parser.add_argument("--script-bytes", type=int, default=90_000)
    parser.add_argument("--retrieves", type=int, default=2000)
    given = parser.parse_args()
    deployment = Deployment()
    group_id = add_group(
        deployment, given.tasks, script_bytes=given.script_bytes, retrieves=given.retrieves
    )
    with Loopback(deployment, latency_s=given.latency_ms / 1000) as loopback:
        print(json.dumps({"url": loopback.url, "group": group_id}), flush=True)
        while True:
            time.sleep(60)


if __name__ == "__main__":
    main()


__all__ = ["Artifact", "Fault", "Faults", "Loopback", "Request", "first", "share_of"]
