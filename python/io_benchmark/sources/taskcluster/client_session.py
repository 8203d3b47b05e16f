# SPDX-License-Identifier: MPL-2.0
"""The session of the taskcluster client, which sends its requests through the web client.

So they share its connections, timeouts and limits. A temporary failure leaves the taskcluster
client as a TransientError, and an answer leaves it undecoded.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Self

import aiohttp
import msgspec

from io_benchmark.errors import ResultError
from io_benchmark.sources.web.web_client import WebAnswer, WebClient
from io_benchmark.text import clean

# A page of a group has up to 1000 definitions, each with a script of about 100 kB inside.
_MAXIMUM_ANSWER_BYTES = 128 * 1024 * 1024


class ClientSession:
    """Has the method of an aiohttp session that the client calls."""

    def __init__(self, http: WebClient) -> None:
        self._http = http

    @asynccontextmanager
    async def request(
        self, method: str, url: Any, *, headers: Any = None, data: Any = None, **_options: Any
    ) -> AsyncIterator["_Response"]:
        """Send the request and read the answer."""
        answer = await self._http.exchange(
            method, str(url), maximum_bytes=_MAXIMUM_ANSWER_BYTES, headers=headers, data=data
        )
        if 300 <= answer.status < 400:
            location = clean(answer.headers.get("Location", ""), 200)
            raise ResultError(f"{clean(str(url), 200)} redirects to {location}; use that host")
        yield _Response(answer)


class _Response:
    """Has the parts of an aiohttp response that the client reads; leaves a good answer undecoded."""

    def __init__(self, answer: WebAnswer) -> None:
        self.status = answer.status
        self.headers = answer.headers
        self._body = answer.body

    async def text(self) -> str:
        return ""

    async def release(self) -> Self:
        return self

    async def json(self) -> Any:
        return self._body if self.status < 400 else msgspec.json.decode(self._body)

    def raise_for_status(self) -> None:
        if self.status >= 400:
            raise aiohttp.ClientResponseError(None, (), status=self.status)  # type: ignore[arg-type]
