# SPDX-License-Identifier: MPL-2.0
"""Explanations of failed connections."""

import asyncio
import errno
import re
import socket
import ssl

import aiohttp
import pytest
from aiohttp.client_reqrep import ConnectionKey

from io_benchmark.errors import ResultError
from io_benchmark.sources.web.connection_errors import explain_connection_error
from io_benchmark.sources.web.web_client import WebClient

KEY = ConnectionKey("tc.example", 443, True, True, None, None, None)


def no_tls(reason):
    """Return an error as a handshake raises it."""
    made = ssl.SSLError(1, f"[SSL: {reason}] x")
    made.reason = reason
    return made


def untrusted(message):
    """Return an error as a handshake raises it."""
    made = ssl.SSLCertVerificationError(1, "certificate verify failed")
    made.verify_message = message
    return made


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        pytest.param(
            aiohttp.ClientConnectorError(KEY, OSError(errno.ECONNREFUSED, "Connect call failed")),
            "cannot connect to h: connection refused",
            id="refused",
        ),
        pytest.param(
            aiohttp.ClientConnectorError(
                KEY, OSError("Multiple exceptions: [Errno 111] Connect call failed, [Errno 101] x")
            ),
            "cannot connect to h: connection refused",
            id="several addresses",
        ),
        pytest.param(
            aiohttp.ClientConnectorError(KEY, OSError(errno.ENETUNREACH, "x")),
            "cannot connect to h: network is unreachable",
            id="no network",
        ),
        pytest.param(
            aiohttp.ClientConnectorDNSError(
                KEY, socket.gaierror(socket.EAI_NONAME, "Name or service not known")
            ),
            "cannot find the host h: name or service not known",
            id="unknown host",
        ),
        pytest.param(
            aiohttp.ClientConnectorCertificateError(KEY, untrusted("self-signed certificate")),
            "cannot trust h: self-signed certificate; check the address, and SSL_CERT_FILE",
            id="certificate",
        ),
        pytest.param(
            aiohttp.ClientConnectorSSLError(KEY, no_tls("WRONG_VERSION_NUMBER")),
            "cannot establish TLS with h: wrong version number; check the address",
            id="no TLS",
        ),
        pytest.param(
            aiohttp.ServerDisconnectedError(),
            "h closed the connection without an answer",
            id="hangs up",
        ),
        pytest.param(
            aiohttp.ClientPayloadError("Response payload is not completed"),
            "h sent only a part of its answer",
            id="broken off",
        ),
        pytest.param(
            aiohttp.ClientOSError(errno.ECONNRESET, "Connection reset by peer"),
            "the connection to h failed: connection reset by peer",
            id="reset",
        ),
    ],
)
def test_in_words(error, expected):
    """The line names the host and the reason, without a library's structures."""
    assert explain_connection_error(error, "h") == expected


def test_a_host_that_speaks_no_tls(policy):
    """The error is permanent, and one line."""

    async def main():
        server = await asyncio.start_server(_greet, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        async with server, WebClient(policy) as http:
            return await http.download(f"https://127.0.0.1:{port}/x", 10)

    with pytest.raises(ResultError) as caught:
        asyncio.run(main())
    assert re.fullmatch(
        r"cannot establish TLS with 127\.0\.0\.1: [a-z ]+; check the address", str(caught.value)
    )


async def _greet(_reader, writer):
    writer.write(b"HTTP/1.1 400 no\r\n\r\n")
    writer.close()
