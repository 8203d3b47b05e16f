# SPDX-License-Identifier: MPL-2.0
"""Requests to a host with every kind of fault."""

import asyncio
import errno
import gzip
import json
import re
import ssl

import aiohttp
import pytest
from aiohttp.client_reqrep import ConnectionKey
from loopback import Fault, first
from loopback_deployment import AMD_16, ARTIFACT, Artifact
from msgspec.structs import replace

from io_benchmark.errors import GaveUpError, MissingError, ResultError
from io_benchmark.sources.web_client import WebClient, _explained

LIMIT = 100_000
OBJECT = f"/public-bucket/{AMD_16}/0/{ARTIFACT}"


def download(policy, url, limit=LIMIT):
    async def main():
        async with WebClient(policy) as http:
            return await policy.retry(lambda: http.download(url, limit))

    return asyncio.run(main())


def store(loopback, body, **artifact):
    loopback.deployment.set_result(AMD_16, 0, Artifact(body, **artifact))
    return loopback.storage_url + OBJECT


# Sent as it is, and said to be packed.
PACKED = {"gzipped": False, "headers": {"Content-Encoding": "gzip"}}
TWO_IN_ONE = gzip.compress(b"a") + gzip.compress(b"b")
OTHER_ENCODING = {"gzipped": False, "headers": {"Content-Encoding": "br"}}


@pytest.mark.parametrize(
    ("tries", "body", "artifact", "message"),
    [
        # No valid answer is empty, or ends before its data do: it is requested again.
        (10, b"", {"gzipped": False}, "127.0.0.1 gives an empty answer, 10 times"),
        (10, b"", {"gzipped": True}, "127.0.0.1 gives an empty answer, 10 times"),
        (10, b"", PACKED, "127.0.0.1 gives an empty answer, 10 times"),
        (10, gzip.compress(b"{}")[:-4], PACKED, "a transfer ended within its gzip data, 10 times"),
        # Another try would give the same.
        (1, b"x" * (LIMIT + 1), {"gzipped": False}, "it has 100,001 bytes, more than 100,000"),
        (1, bytes(LIMIT + 1), {}, "it has more than 100,000 bytes, gzip decoded"),
        (1, TWO_IN_ONE, PACKED, "it has data after the end of its gzip data"),
        (1, b"{}", PACKED, "its gzip data are damaged (Error -3 while decompressing data: incor"),
        (1, b"{}", OTHER_ENCODING, "it is encoded as 'br'; only gzip is read"),
    ],
    ids=range(9),
)
def test_objects_that_cannot_be_read(loopback, policy, tries, body, artifact, message):
    """Each is one line."""
    with pytest.raises(ResultError, match=f"^{re.escape(message)}"):
        download(policy, store(loopback, body, **artifact))
    assert len(loopback.requests) == tries


@pytest.mark.parametrize("artifact", [{"gzipped": False}, {}], ids=["plain", "packed"])
def test_the_largest_object(loopback, policy, artifact):
    """The limit itself is allowed, before and after decoding."""
    assert download(policy, store(loopback, bytes(LIMIT), **artifact)) == bytes(LIMIT)


@pytest.mark.parametrize("fault", [Fault(status=503), Fault(status=429), Fault(truncated=True)])
def test_what_passes_is_tried_again(loopback, policy, waits, fault):
    """Nine failures are tolerated; the pauses double up to their maximum."""
    loopback.faults = first(9, fault)
    assert download(policy, store(loopback, b"x" * 5000)) == b"x" * 5000
    assert waits == [0.1875, 0.375, 0.75, 1.5, 3.0, 3.75, 3.75, 3.75, 3.75]
    assert len(loopback.requests) == 10


CUT = Fault(truncated=True, without_length=True)
WHOLE = json.dumps({"é": ["x" * 5000]}).encode()


@pytest.mark.parametrize("gzipped", [False, True])
@pytest.mark.parametrize("fault", [CUT, Fault(without_length=True)])
def test_answers_without_a_length(loopback, policy, gzipped, fault):
    """One that was cut is requested again; a whole one is read."""
    loopback.faults = first(9, fault)
    assert download(policy, store(loopback, WHOLE, gzipped=gzipped)) == WHOLE
    assert len(loopback.requests) == (10 if fault.truncated else 1)


def test_a_text_without_a_length(loopback, policy):
    """What is not JSON has no known end, and is left to its reader."""
    loopback.faults = first(1, Fault(without_length=True))
    assert download(policy, store(loopback, b"<html>", gzipped=False)) == b"<html>"


def test_a_file_that_was_cut_before(loopback, policy):
    """A file that is shorter than its writer meant, and arrives whole, is not requested again."""
    assert download(policy, store(loopback, WHOLE[:100], gzipped=False)) == WHOLE[:100]
    assert len(loopback.requests) == 1


@pytest.mark.parametrize("status", [400, 418, 403, 404, 410])
def test_refusals_are_not_tried_again(loopback, policy, status):
    """Storage hosts have different answers for expired objects.

    Their text may be longer than one.
    """
    loopback.faults = first(1, Fault(status=status))
    message = f"127.0.0.1 answers {status}"
    if status in (403, 404, 410):
        message = f"127.0.0.1 does not have the object ({status})"
    with pytest.raises(ResultError) as raised:
        download(policy, store(loopback, b"x"), limit=1)
    assert str(raised.value) == message
    assert isinstance(raised.value, MissingError) is (status in (403, 404, 410))
    assert len(loopback.requests) == 1


def test_a_slow_drip_ends(policy, loopback):
    """A complete answer has a time limit, however it arrives."""
    impatient = replace(policy, answer_s=0.2, attempts=2)
    loopback.faults = first(5, Fault(delay_s=60))
    with pytest.raises(GaveUpError, match=r"127\.0\.0\.1 does not answer in time, 2 times"):
        download(impatient, store(loopback, b"x"))


DATE, PAUSES = "Sat, 21 Nov 2026 12:00:05 GMT", [0.1875, 0.375, 0.75, 1.5]


@pytest.mark.parametrize(
    ("header", "expected"),
    [("60", [60] * 4), ("1", [1, 1, 1, 1.5]), ("0", PAUSES), (DATE, PAUSES), ("-1", PAUSES)],
)
def test_retry_after(loopback, policy, waits, header, expected):
    """A number of seconds counts where it is longer than the policy's pause."""
    loopback.faults = first(4, Fault(status=429, headers={"Retry-After": header}))
    assert download(policy, store(loopback, b"x")) == b"x"
    assert waits == expected


def test_a_pause_over_the_limit(loopback, policy, waits):
    """It is an error that names the pause."""
    loopback.faults = first(1, Fault(status=429, headers={"Retry-After": "61"}))
    message = r"^127\.0\.0\.1 answers 429; it demands a pause of 61 s; try again then$"
    with pytest.raises(GaveUpError, match=message):
        download(policy, store(loopback, b"x"))
    assert waits == []


def test_redirects_are_followed(loopback, policy):
    """To another port, relative ones too."""
    for target in (store(loopback, b"there"), OBJECT):
        url = f"{loopback.storage_url}/to/{target.replace('/', '%2F')}"
        assert download(policy, url) == b"there"


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/loop", "it redirects more than 5 times, last to 127.0.0.1"),
        ("/to/file:%2F%2F%2Fetc%2Fpasswd", "it redirects to 'file:///etc/passwd', which is not"),
        ("/to/http:%2F%2F[", "it redirects to 'http://[', which is not"),
    ],
)
def test_redirects_to_nowhere(loopback, policy, path, message):
    """Redirects are limited, and stay on http(s)."""
    with pytest.raises(ResultError) as raised:
        download(policy, loopback.storage_url + path)
    assert str(raised.value).startswith(message)
    assert len(loopback.requests) == (6 if path == "/loop" else 1)


KEY = ConnectionKey("tc.example", 443, True, True, None, None, None)
REFUSED = OSError(errno.ECONNREFUSED, "Connect call failed")
SEVERAL = OSError("Multiple exceptions: [Errno 111] Connect call failed, [Errno 101] x")
UNTRUSTED = ssl.SSLCertVerificationError(1, "certificate verify failed")
UNTRUSTED.verify_message = "self-signed certificate"


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (aiohttp.ClientConnectorError(KEY, REFUSED), "cannot connect to h: connection refused"),
        (aiohttp.ClientConnectorError(KEY, SEVERAL), "cannot connect to h: connection refused"),
        (
            aiohttp.ClientConnectorCertificateError(KEY, UNTRUSTED),
            "cannot trust h: self-signed certificate; check the address, and SSL_CERT_FILE",
        ),
        (aiohttp.ServerDisconnectedError(), "the connection to h failed: Server disconnected"),
    ],
)
def test_failed_connections(error, expected):
    """The line names the host and the reason, without a library's structures."""
    assert _explained(error, "h") == expected
