# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The session that the taskcluster client is given: its requests go through the web client.

So they share its pool, its timeouts and its limits; a failure that may pass comes out of the
client as a TransientError, and an answer comes out undecoded.
"""

from types import TracebackType
from typing import Any, Self

import aiohttp
import msgspec

from io_benchmark.errors import ResultError
from io_benchmark.sources.web.web_client import WebAnswer, WebClient
from io_benchmark.text import clean

# A page of a group has up to 1000 definitions, each with a script of about 100 kB inside.
MAXIMUM_ANSWER_BYTES = 128 * 1024 * 1024


class ClientSession:
    """What the client takes for an aiohttp session."""

    def __init__(self, http: WebClient) -> None:
        self._http = http

    def request(self, method: str, url: Any, **given: Any) -> "_Exchange":
        return _Exchange(self._http, method, str(url), given)


class _Exchange:
    """`async with session.request(…)`; the whole exchange happens on entering."""

    def __init__(self, http: WebClient, method: str, url: str, given: dict[str, Any]) -> None:
        self._http = http
        self._method = method
        self._url = url
        self._given = given

    async def __aenter__(self) -> "_Response":
        answer = await self._http.exchange(
            self._method,
            self._url,
            maximum_bytes=MAXIMUM_ANSWER_BYTES,
            headers=self._given.get("headers"),
            data=self._given.get("data"),
        )
        if 300 <= answer.status < 400:
            location = clean(answer.headers.get("Location", ""), 200)
            raise ResultError(f"{clean(self._url, 200)} redirects to {location}; use that host")
        return _Response(answer)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        pass


class _Response:
    """What the client reads of an aiohttp response. A good answer is handed on undecoded."""

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
