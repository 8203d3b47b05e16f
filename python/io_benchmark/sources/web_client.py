# SPDX-License-Identifier: MPL-2.0
"""Requests over one pool of connections, with timeouts and size limits.

A failure is a TransientError, which is worth another try, or a permanent ResultError.
"""

import asyncio
import os
import re
import socket
import zlib
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, Self, TypeVar
from urllib.parse import urljoin, urlsplit

import aiohttp
import msgspec
import yarl
from msgspec import Struct

from io_benchmark import __version__
from io_benchmark.errors import MissingError, ResultError, TooLargeError
from io_benchmark.sources.address_guard import AddressGuard
from io_benchmark.sources.requests import RequestPolicy, TransientError, retry_after_s
from io_benchmark.sources.silence import Notice, Silence
from io_benchmark.text import clean, clean_name

T = TypeVar("T")
Take = Callable[[bytes], bool]  # gets a part of a body; returns whether it wants more

_MAXIMUM_ERROR_BYTES = 1024 * 1024
CHUNK_BYTES = 256 * 1024


class WebAnswer(Struct, frozen=True):
    """The answer to a request, with the methods of aiohttp's that the taskcluster client calls."""

    status: int
    headers: Mapping[str, str]
    body: bytes  # decoded

    async def text(self) -> str:
        return ""

    async def release(self) -> None:
        return

    async def json(self) -> Any:
        """Return an error's content; a good answer is decoded by its type, later."""
        return self.body if self.status < 400 else msgspec.json.decode(self.body)

    def raise_for_status(self) -> None:
        if self.status >= 400:
            raise aiohttp.ClientResponseError(None, (), status=self.status)  # type: ignore[arg-type]


class WebClient:
    """One pool of connections for all requests of a command."""

    def __init__(
        self, policy: RequestPolicy | None = None, notice: Notice = lambda *_: None
    ) -> None:
        """Tell `notice` of hosts that do not answer."""
        self.policy = policy or RequestPolicy()
        self.sent = 0  # requests so far, repetitions included
        self._silence = Silence(notice)
        self._session = self._new_session(None)
        # For addresses in answers: one guard and session per deployment that gives them.
        self._guarded: dict[str, tuple[AddressGuard, aiohttp.ClientSession]] = {}

    async def __aenter__(self) -> Self:
        self._watching = asyncio.create_task(self._silence.watch())
        return self

    def _new_session(self, guard: AddressGuard | None) -> aiohttp.ClientSession:
        policy = self.policy
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=policy.connections, resolver=guard),
            timeout=aiohttp.ClientTimeout(
                total=policy.answer_s, sock_connect=policy.connect_s, sock_read=policy.silence_s
            ),
            # Decoded here, within a limit. No cookies, no .netrc: a storage host gets nothing
            # that was not meant for it.
            auto_decompress=False,
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=False,
            # A signature of Taskcluster covers the content type; a request without content has
            # none.
            skip_auto_headers=("Content-Type",),
            headers={"User-Agent": f"io-benchmark/{__version__}", "Accept-Encoding": "gzip"},
        )

    async def __aexit__(self, *_error: object) -> None:
        self._watching.cancel()
        with suppress(asyncio.CancelledError):
            await self._watching
        for _, session in self._guarded.values():
            await session.close()
        await self._session.close()

    async def retry(self, url: str, attempt: Callable[[], Awaitable[T]]) -> T:
        """Return the result of `attempt`, which asks a URL's host; repeat it if that may help."""
        host = _host(url)

        async def noted() -> T:
            try:
                return await attempt()
            except TransientError as error:
                self._silence.failed(host, str(error))
                raise

        with self._silence.waiting(host):
            return await self.policy.retry(noted)

    async def exchange(
        self,
        method: str,
        url: str,
        *,
        maximum_bytes: int,
        headers: Mapping[str, str] | None = None,
        data: str | bytes | None = None,
        guarded: aiohttp.ClientSession | None = None,
        take: Take | None = None,
    ) -> WebAnswer:
        """Send one request; return its complete answer, which may be a redirect.

        `guarded` has the connections for an address that an answer gave; else a user named the
        host. `take` gets the body of a good answer in parts.
        """
        host = _host(url)
        self.sent += 1
        try:
            # Already encoded: quoting it again would break signatures.
            target = yarl.URL(url, encoded=True)
            async with (guarded or self._session).request(
                method, target, headers=headers, data=data, allow_redirects=False
            ) as response:
                if response.status == 429 or response.status >= 500:
                    pause_s = retry_after_s(response.headers)
                    raise TransientError(f"{host} answers {response.status}", pause_s)
                if take is not None and response.status == 200:
                    await _hand_over(response, take, lambda: self._silence.heard(host))
                    return WebAnswer(response.status, response.headers, b"")
                limit = maximum_bytes if response.status < 400 else _MAXIMUM_ERROR_BYTES
                body = await _read_body(response, limit, lambda: self._silence.heard(host))
                if response.status == 200 and not body:
                    raise TransientError(f"{host} gives an empty answer")
                return WebAnswer(response.status, response.headers, body)
        except (aiohttp.InvalidURL, aiohttp.ClientSSLError) as error:
            # Caused by the address or the certificate: another try changes nothing.
            raise ResultError(_explained(error, host)) from None
        except TimeoutError:
            raise TransientError(f"{host} does not answer in time") from None
        except (aiohttp.ClientError, OSError) as error:
            raise TransientError(_explained(error, host)) from None
        except ValueError:
            raise ResultError(
                f"{clean_name(url)} is not an address that can be requested"
            ) from None

    @staticmethod
    def can_request(url: str) -> bool:
        try:
            parts = urlsplit(url)
            return parts.scheme in ("http", "https") and bool(parts.hostname)
        except ValueError:
            return False

    async def download(
        self, url: str, maximum_bytes: int, origin: str | None = None, take: Take | None = None
    ) -> bytes:
        """Read an object, following redirects; `origin` is the host that gave the address."""
        guard, session = self._session_for(origin or url)
        for _ in range(self.policy.redirects + 1):
            await guard.check(url)
            answer = await self.exchange(
                "GET", url, maximum_bytes=maximum_bytes, guarded=session, take=take
            )
            host = _host(url)
            if answer.status in (301, 302, 303, 307, 308):
                url = _next_url(url, answer)
            elif answer.status in (403, 404, 410):
                raise MissingError(f"{host} does not have the object ({answer.status})")
            elif answer.status != 200:
                raise ResultError(f"{host} answers {answer.status}")
            else:
                return answer.body
        raise ResultError(f"it redirects more than {self.policy.redirects} times, last to {host}")

    def _session_for(self, origin: str) -> tuple[AddressGuard, aiohttp.ClientSession]:
        """Return the connections for addresses that one host gives; no other host shares them."""
        parts = urlsplit(origin)
        root = f"{parts.scheme}://{parts.netloc}"
        if root not in self._guarded:
            guard = AddressGuard(root)
            self._guarded[root] = (guard, self._new_session(guard))
        return self._guarded[root]


def _host(url: str) -> str:
    return clean(urlsplit(url).hostname or "", 100)


def _next_url(url: str, answer: WebAnswer) -> str:
    location = answer.headers.get("Location", "")
    try:
        following = urljoin(url, location)
    except ValueError:
        following = ""
    if not WebClient.can_request(following):
        raise ResultError(f"it redirects to {clean(location, 100)!r}, which is not http(s)")
    return following


async def _hand_over(
    response: aiohttp.ClientResponse, take: Take, on_part: Callable[[], None]
) -> None:
    """Hand over a body, which may be encoded, until it ends or is enough."""
    async for chunk in response.content.iter_chunked(CHUNK_BYTES):
        on_part()
        if not take(chunk):
            return
        await asyncio.sleep(0)


async def _read_body(
    response: aiohttp.ClientResponse, limit: int, on_part: Callable[[], None]
) -> bytes:
    """Return the decoded body, of at most `limit` bytes before and after decoding."""
    on_part()
    encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding not in ("", "identity", "gzip", "x-gzip"):
        raise ResultError(f"it is encoded as {clean(encoding, 50)!r}; only gzip is read")
    if (response.content_length or 0) > limit:
        raise TooLargeError(f"it has {response.content_length:,} bytes, more than {limit:,}")
    decoder = zlib.decompressobj(wbits=31) if encoding in ("gzip", "x-gzip") else None
    parts: list[bytes] = []
    received = size = 0
    async for chunk in response.content.iter_chunked(CHUNK_BYTES):
        on_part()
        received += len(chunk)
        part = chunk if decoder is None else _gunzip(decoder, chunk, limit - size)
        size += len(part)
        if received > limit or size > limit:
            raise TooLargeError(f"it has more than {limit:,} bytes, gzip decoded")
        parts.append(part)
        # A large answer must not delay all others.
        await asyncio.sleep(0)
    if decoder is not None and received and not decoder.eof:
        raise TransientError("a transfer ended within its gzip data")
    body = b"".join(parts)
    if decoder is None and not _has_length(response) and _is_cut(body):
        raise TransientError("a transfer without a length ended within its JSON data")
    return body


def _has_length(response: aiohttp.ClientResponse) -> bool:
    """Return whether aiohttp notices that a body is not whole, because its length is known."""
    chunked = response.headers.get("Transfer-Encoding", "").lower().endswith("chunked")
    return response.content_length is not None or chunked


def _is_cut(body: bytes) -> bool:
    """Return whether JSON ends too early; what is not JSON has no known end."""
    try:
        msgspec.json.decode(body, type=msgspec.Raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return bool(body) and "truncated" in str(error)  # msgspec's word
    return False


def _gunzip(decoder: "zlib._Decompress", chunk: bytes, room: int) -> bytes:
    """Decode a chunk; one byte more than there is room for shows that it is too large."""
    try:
        part = decoder.decompress(chunk, room + 1)
    except zlib.error as error:
        raise ResultError(f"its gzip data are damaged ({error})") from None
    if decoder.eof and decoder.unused_data:
        raise ResultError("it has data after the end of its gzip data")
    return part


def _explained(error: Exception, host: str) -> str:
    """Return one line, such as `cannot connect to HOST: connection refused`."""
    match error:
        case aiohttp.ClientConnectorCertificateError():
            why = _handshake(error.certificate_error)
            return f"cannot trust {host}: {why}; check the address, and SSL_CERT_FILE"
        case aiohttp.ClientSSLError():
            return f"cannot establish TLS with {host}: {_handshake(error)}; check the address"
        case aiohttp.ClientConnectorError(os_error=socket.gaierror() as cause):
            return f"cannot find the host {host}: {(cause.strerror or 'unknown name').lower()}"
        case aiohttp.ClientConnectorError():
            return f"cannot connect to {host}: {_reason(error.os_error)}"
        case _:
            return f"the connection to {host} failed: {_reason(error)}"


def _reason(error: BaseException) -> str:
    """Return the reason by the error's number; a text may contain several."""
    number = getattr(error, "errno", None)
    if number is None:
        match = re.search(r"\[Errno ([0-9]+)\]", str(error))
        number = int(match[1]) if match else None
    if number is not None:
        return os.strerror(number).lower()
    return clean_name(str(error) or type(error).__name__)


def _handshake(error: Exception) -> str:
    cause: object = getattr(error, "os_error", error)
    # Only an error of a handshake has these.
    message = getattr(cause, "verify_message", None) or getattr(cause, "reason", None)
    return clean_name(str(message).replace("_", " ").lower() if message else str(cause))
