# SPDX-License-Identifier: MPL-2.0
"""A Taskcluster on this machine's loopback, which answers as the recorded one did, or goes wrong.

The queue and the index answer on one port, the storage host on another, so that a test can tell
what was sent to which.
"""

import asyncio
import socket
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Self
from urllib.parse import unquote

from aiohttp import web
from loopback_api import ME, Api, Reply
from loopback_auth import ANONYMOUS, PUBLIC_ARTIFACTS, Client, Request
from loopback_deployment import Deployment, recorded


@dataclass(frozen=True)
class Fault:
    """A fault of an answer."""

    status: int | None = None
    headers: dict[str, str] = field(default_factory=dict)
    truncated: bool = False  # less of the body than was announced
    without_length: bool = False  # the connection's end ends the body
    delay_s: float = 0.0  # before the answer begins


# Which fault, if any, the n-th request of the same kind meets.
Faults = Callable[[Request, int], Fault | None]


def first(count: int, fault: Fault, host: str | None = None, part: str = "") -> Faults:
    """Choose the first requests of each kind at one host, with this in the path."""

    def choose(request: Request, number: int) -> Fault | None:
        concerned = host in (None, request.host) and part in request.path
        return fault if concerned and number < count else None

    return choose


class Loopback:
    """A server that answers while its `with` block lasts."""

    def __init__(
        self,
        deployment: Deployment | None = None,
        faults: Faults = lambda _request, _number: None,
        private: bool = False,
        clients: Sequence[Client] = (ME,),
        anonymous: Sequence[str] = ANONYMOUS,
    ) -> None:
        """With `private` nobody reads artifacts anonymously."""
        self.deployment = deployment if deployment is not None else recorded()
        self.faults = faults
        self._anonymous = (*anonymous,) if private else (*anonymous, PUBLIC_ARTIFACTS)
        self._clients = clients
        self.requests: list[Request] = []
        self.url = self.storage_url = ""
        self._counts: Counter[tuple[str, str, str, str]] = Counter()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self._stop = asyncio.Event()

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(self, *_error: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    @property
    def environment(self) -> dict[str, str]:
        """Return the variable that leads commands here."""
        return {"TASKCLUSTER_ROOT_URL": self.url}

    def asked(self, host: str, part: str = "") -> list[Request]:
        return [
            request for request in self.requests if request.host == host and part in request.path
        ]

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        runners, listening = [], []
        for host, answer in (("api", self._api), ("storage", self._object)):
            server = web.Server(partial(self._answer, host, answer), access_log=None)
            runner = web.ServerRunner(server, shutdown_timeout=0.1)
            await runner.setup()
            listening.append(socket.create_server(("127.0.0.1", 0), backlog=1024))
            await web.SockSite(runner, listening[-1], backlog=1024).start()
            runners.append(runner)
        ports = (server_socket.getsockname()[1] for server_socket in listening)
        self.url, self.storage_url = (f"http://127.0.0.1:{port}" for port in ports)
        self._ready.set()
        await self._stop.wait()
        # What is accepted becomes a connection a few steps later. After its server is closed, that
        # fails, and nobody closes it.
        for server_socket in listening:
            self._loop.remove_reader(server_socket)
        for _ in range(5):
            await asyncio.sleep(0)
        for runner in runners:
            await runner.cleanup()

    async def _answer(
        self, host: str, answer: Callable[[Request], Reply], incoming: web.BaseRequest
    ) -> web.StreamResponse:
        query, body = dict(incoming.query), await incoming.read()
        request = Request(host, incoming.method, incoming.raw_path, query, incoming.headers, body)
        self.requests.append(request)
        key = (host, request.method, incoming.path, str(sorted(request.query.items())))
        number = self._counts[key]
        self._counts[key] += 1
        fault = self.faults(request, number) or Fault()
        await asyncio.sleep(fault.delay_s)
        if fault.status is not None:
            return web.Response(status=fault.status, headers=fault.headers, text="<html>no")
        reply = answer(request)
        if fault.truncated or fault.without_length:
            return await _closed(incoming, reply, fault)
        return web.Response(status=reply.status, headers=reply.headers, body=reply.body)

    def _api(self, request: Request) -> Reply:
        api = Api(self.deployment, self.storage_url, self._clients, self._anonymous)
        return api.answer(request)

    def _object(self, request: Request) -> Reply:
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


async def _closed(incoming: web.BaseRequest, reply: Reply, fault: Fault) -> web.StreamResponse:
    """Send the body, or half of it, with its length or without one, and close the connection."""
    body = reply.body[: len(reply.body) // 2] if fault.truncated else reply.body
    headers = {**reply.headers, "Connection": "close"}
    if not fault.without_length:
        headers["Content-Length"] = str(len(reply.body))
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    assert incoming.transport is not None
    incoming.transport.write(f"HTTP/1.1 {reply.status} x\r\n{head}\r\n".encode() + body)
    incoming.transport.close()
    return web.Response()


__all__ = ["ME", "Client", "Fault", "Faults", "Loopback", "Request", "first"]
