# SPDX-License-Identifier: MPL-2.0
"""The session that the taskcluster client sends its requests through."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from msgspec import Struct

from io_benchmark.errors import ResultError
from io_benchmark.sources.web_client import WebAnswer, WebClient
from io_benchmark.text import clean_name

# A page of the queue has up to 1000 definitions, each with a script of about 100 kB inside.
_MAXIMUM_ANSWER_BYTES = 128 * 1024 * 1024


class ClientSession(Struct):
    """Has the method of an aiohttp session that the client calls."""

    http: WebClient

    @asynccontextmanager
    async def request(
        self, method: str, url: Any, *, headers: Any = None, data: Any = None, **_options: Any
    ) -> AsyncIterator[WebAnswer]:
        answer = await self.http.exchange(
            method, str(url), maximum_bytes=_MAXIMUM_ANSWER_BYTES, headers=headers, data=data
        )
        if 300 <= answer.status < 400:
            location = clean_name(answer.headers.get("Location", ""))
            raise ResultError(f"{clean_name(str(url))} redirects to {location}; use that host")
        yield answer
