# SPDX-License-Identifier: MPL-2.0
"""One download by HTTP, as the workload `download` times it: its redirects, steps and refusals.

A connection is new for each request. Nothing is sent but the request: no credentials, no cookies.
Redirects are followed as tasks follow them, to other hosts too, where object storage is; but never
from https to http or to another scheme, and to a private address only from a more private one.
"""

import encodings.idna  # noqa: F401 - what resolves names loads it, which is no part of a download
import http.client
import ipaddress
import re
import socket
from urllib.parse import urljoin, urlsplit

from errors import reason_of
from log import MIB, NS_PER_S
from result.files import SCRIPT_VERSION
from system import clock

BROKEN, SKIPPED, FAILED = "broken", "skipped", "failed"
AGENT = "io-benchmark/%s (https://github.com/mozilla-releng/io-benchmark)" % SCRIPT_VERSION
MOST_REDIRECTS = 5
REDIRECTS = (301, 302, 303, 307, 308)
RANGE_NOT_SATISFIABLE, TOO_MANY_REQUESTS, SERVER_ERROR = 416, 429, 500
SILENCE_S = 5  # without a byte, or an answer to a connection
READ_BYTES = 64 * 1024
WHOLE_URL = re.compile(r"https?://[\x21-\x7e]+")
# What tells which host, cache or region answered; no id of a request.
ANSWER_HEADERS = (
    "server",
    "via",
    "age",
    "content-encoding",
    "x-cache",
    "x-served-by",
    "x-amz-bucket-region",
    "x-amz-cf-pop",
    "x-goog-storage-class",
    "cf-ray",
    "cf-cache-status",
)
SHOWN_LENGTH = 100
NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
PUBLIC, PRIVATE, LOOPBACK, LINK_LOCAL = range(4)  # the higher, the fewer hosts can reach it


class FetchError(Exception):
    """A download that ended without its bytes; one that is BROKEN may be repeated."""

    def __init__(self, kind, reason):
        super().__init__(reason)
        self.kind, self.reason = kind, reason


def fetch(url, piece_bytes, limit_s, tls, take):
    """Download the first bytes of what is at the URL, for at most this time.

    Return its times and facts; take() gets the bytes. `tls` is the context of TLS.
    """
    start_ns = clock.now_ns()
    reach = None
    for redirects in range(MOST_REDIRECTS + 1):
        request_ns = clock.now_ns()
        stream, family, reach, steps = _connect(urlsplit(url), reach, tls)
        try:
            answer, steps["first_byte_ns"] = _ask(stream, url, piece_bytes)
            with answer:
                if answer.status not in REDIRECTS:
                    size = _size_of(answer, url)
                    facts = _facts(answer, url, stream, family, size)
                    facts["redirects"] = redirects
                    expected = piece_bytes if size is None else min(piece_bytes, size // MIB * MIB)
                    until_ns = start_ns + int(limit_s * NS_PER_S)
                    body = _receive(answer, expected, until_ns, take)
                    steps.update(body, redirect_ns=request_ns - start_ns)
                    times = {"start_ns": start_ns, "end_ns": steps.pop("whole_ns")}
                    return {**times, "bytes": steps.pop("bytes"), "steps": steps, "facts": facts}
                url = _target_of(answer, url)
        finally:
            stream.close()
    raise FetchError(FAILED, "more than %d redirects" % MOST_REDIRECTS)


def _connect(parts, most_reach, tls):
    """Return a connected stream, its address family and reach, and what its steps took."""
    started_ns = clock.now_ns()
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        addresses = socket.getaddrinfo(parts.hostname, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise _broken("%s cannot be resolved" % _printable(parts.hostname), error) from None
    resolved_ns = clock.now_ns()
    allowed = [
        address
        for address in addresses
        if most_reach is None or _reach(address[4][0]) <= most_reach
    ]
    if not allowed:
        target = (_printable(parts.hostname), addresses[0][4][0])
        raise FetchError(FAILED, "a redirect leads to %s (%s), a more private address" % target)
    stream, family, address = _open(allowed, parts.hostname)
    connected_ns = clock.now_ns()
    steps = {
        "resolve_ns": resolved_ns - started_ns,
        "connect_ns": connected_ns - resolved_ns,
        "tls_ns": None,
    }
    if parts.scheme == "https":
        stream = _encrypted(stream, parts.hostname, tls)
        steps["tls_ns"] = clock.now_ns() - connected_ns
    return stream, family, _reach(address[0]), steps


def _open(addresses, host):
    """Return a connected stream, its family and address; addresses are tried in their order."""
    problem = None
    for family, kind, protocol, _, address in addresses[:4]:
        stream = socket.socket(family, kind, protocol)
        try:
            stream.settimeout(SILENCE_S)
            stream.connect(address)
            stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError as error:
            stream.close()
            problem = error
        else:
            return stream, family, address
    raise _broken("%s cannot be reached" % _printable(host), problem)


def _encrypted(stream, host, tls):
    try:
        return tls.wrap_socket(stream, server_hostname=host)
    except OSError as error:
        stream.close()
        reason = getattr(error, "verify_message", None)
        if reason:
            problem = "the certificate of %s is refused: %s" % (
                _printable(host),
                _printable(reason),
            )
            raise FetchError(SKIPPED, problem) from None
        raise _broken("TLS with %s failed" % _printable(host), error) from None


def _ask(stream, url, piece_bytes):
    """Send the request; return the answer and the time to its first byte."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc)
    connection.sock = stream
    path = (parts.path or "/") + ("?" + parts.query if parts.query else "")
    headers = {"User-Agent": AGENT, "Range": "bytes=0-%d" % (piece_bytes - 1)}
    sent_ns = clock.now_ns()
    try:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise _broken("%s did not answer" % _printable(parts.hostname), error) from None
    return answer, clock.now_ns() - sent_ns


def _target_of(answer, url):
    """Return where a redirect leads."""
    host, target = _printable(urlsplit(url).hostname), answer.getheader("Location") or ""
    try:
        target = urljoin(url, target)
        parts = urlsplit(target)
        parts.port  # noqa: B018 - raises ValueError if it is not a number
        is_url = WHOLE_URL.fullmatch(target) and parts.hostname and "@" not in parts.netloc
    except ValueError:
        is_url = False
    if not is_url:
        raise FetchError(
            FAILED, "%s redirects to %r, which is not followed" % (host, _printable(target))
        )
    if url.startswith("https:") and parts.scheme != "https":
        raise FetchError(FAILED, "%s redirects from https to http, which is not followed" % host)
    return target


def _size_of(answer, url):
    """Return the size of the whole object, None where the server does not say it."""
    status, host = answer.status, _printable(urlsplit(url).hostname)
    size = re.fullmatch(r"bytes .*/([0-9]{1,18})", answer.getheader("Content-Range") or "")
    size_bytes = int(size.group(1)) if size else answer.length
    if status == RANGE_NOT_SATISFIABLE:
        size_bytes = 0
    elif status in (200, 206) and not size:
        size_bytes = answer.length
    elif status not in (200, 206):
        is_passing = status >= SERVER_ERROR or status in (408, TOO_MANY_REQUESTS)
        reason = "%s answered HTTP %d" % (host, status)
        raise FetchError(BROKEN if is_passing else SKIPPED, reason)
    if size_bytes is not None and size_bytes < MIB:
        problem = "the object of %s has %d bytes, and a download needs 1 MiB" % (host, size_bytes)
        raise FetchError(FAILED, problem)
    return size_bytes


def _facts(answer, url, stream, family, size):
    """Return which host answered, and how."""
    tls_version = getattr(stream, "version", None)
    headers = {name: answer.getheader(name) for name in ANSWER_HEADERS}
    answered = {name: _printable(value) for name, value in headers.items() if value}
    return {
        "address_family": "IPv6" if family == socket.AF_INET6 else "IPv4",
        "answered_by": {"host": _printable(urlsplit(url).hostname), **answered},
        "http_version": "1.0" if answer.version == 10 else "1.1",
        "object_bytes": size,
        "tls_version": tls_version() if tls_version else None,
    }


def _receive(answer, expected, until_ns, take):
    """Read the body; return its times, and its whole MiB with the time at which they were there."""
    begin_ns = now_ns = whole_ns = clock.now_ns()
    half_ns, received, whole = None, 0, 0
    view = memoryview(bytearray(READ_BYTES))
    while received < expected and now_ns < until_ns:
        try:
            count = answer.readinto(view[: expected - received])
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise _broken("the download broke off after %d bytes" % received, error) from None
        if not count:
            problem = "the answer ended after %d of %d bytes" % (received, expected)
            raise FetchError(BROKEN, problem)
        take(view[:count])
        received += count
        now_ns = clock.now_ns()
        if received // MIB > whole:
            whole, whole_ns = received // MIB, now_ns
        if half_ns is None and received >= expected // 2:
            half_ns = now_ns
    if not whole:
        raise FetchError(BROKEN, "only %d bytes came in time" % received)
    times = {"body_ns": whole_ns - begin_ns, "whole_ns": whole_ns, "bytes": whole * MIB}
    second_half_ns = None
    # Of a whole piece only: what a connection does when it no longer begins.
    if received == expected and half_ns is not None:
        second_half_ns = max(0, whole_ns - half_ns)
    return {**times, "second_half_ns": second_half_ns}


def _broken(problem, error):
    reason = reason_of(error) if str(error) else type(error).__name__
    return FetchError(BROKEN, "%s: %s" % (problem, _printable(reason)))


def _printable(words):
    """Return what a server sent as one short printable line."""
    return re.sub(r"[^\x20-\x7e]", "?", str(words))[:SHOWN_LENGTH]


def _reach(text):
    """Return how private an address is."""
    address = ipaddress.ip_address(text.partition("%")[0])
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if inner is None and address in NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return _reach(str(inner))
    if address.is_loopback:
        return LOOPBACK
    if address.is_link_local or address.is_multicast or address.is_unspecified:
        return LINK_LOCAL
    return PUBLIC if address.is_global else PRIVATE
