# SPDX-License-Identifier: MPL-2.0
"""Explain connection errors: libraries only print their data structures."""

import os
import re
import socket

import aiohttp

from io_benchmark.text import clean

_NUMBER = re.compile(r"\[Errno ([0-9]+)\]")


def explain_connection_error(error: Exception, host: str) -> str:
    """Return one line, such as `cannot connect to HOST: connection refused`."""
    match error:
        case aiohttp.ClientConnectorCertificateError():
            why = _handshake(error.certificate_error)
            return f"cannot trust {host}: {why}; check the address, and SSL_CERT_FILE"
        case aiohttp.ClientSSLError():
            return f"cannot establish TLS with {host}: {_handshake(error)}; check the address"
        case aiohttp.ClientConnectorError(os_error=socket.gaierror() as cause):
            reason = _lower(cause.strerror or "unknown name")
            return f"cannot find the host {host}: {reason}"
        case aiohttp.ClientConnectorError():
            return f"cannot connect to {host}: {_reason(error.os_error)}"
        case aiohttp.ServerDisconnectedError():
            return f"{host} closed the connection without an answer"
        case aiohttp.ClientPayloadError():
            return f"{host} sent only a part of its answer"
        case _:
            return f"the connection to {host} failed: {_reason(error)}"


def _reason(error: BaseException) -> str:
    """Return the reason by the error's number; a text may contain several."""
    number = getattr(error, "errno", None)
    if number is None:
        match = _NUMBER.search(str(error))
        number = int(match[1]) if match else None
    if number is not None:
        return _lower(os.strerror(number))
    return clean(str(error) or type(error).__name__, 200)


def _handshake(error: Exception) -> str:
    cause: object = getattr(error, "os_error", error)
    # Only an error of a handshake has these.
    message = getattr(cause, "verify_message", None) or getattr(cause, "reason", None)
    return clean(str(message).replace("_", " ").lower() if message else str(cause), 200)


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:] if text[1:2].islower() else text.lower()
