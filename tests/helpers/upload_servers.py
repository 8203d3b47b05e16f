# SPDX-License-Identifier: MPL-2.0
"""Servers for the workload upload: one in Python, over TLS too, and nghttpx before it for HTTP/2."""

import os
import shutil
import signal
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

# Debian's nghttp2-proxy.
NGHTTPX = shutil.which("nghttpx")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: "Sink"

    def handle_expect_100(self) -> bool:
        return super().handle_expect_100() if self.server.answers_expect else True

    def do_PUT(self) -> None:
        length = int(self.headers["Content-Length"])
        self.rfile.read(length)
        self.server.paths.append(self.path)
        self.server.lengths.add(length)
        self.server.respond(self)

    def answer(self, status: int) -> None:
        self.send_response(status)
        self.send_header("Content-Length", "0")
        if self.close_connection:
            # Said, so that nghttpx does not send the next object there.
            self.send_header("Connection", "close")
        self.end_headers()

    def break_off(self) -> None:
        """In the middle of the answer."""
        self.send_response(201)
        self.send_header("Content-Length", "10")
        self.end_headers()
        self.wfile.write(b"12345")
        self.close_connection = True

    def hang_up(self) -> None:
        """Without an answer."""
        self.close_connection = True

    def log_message(self, *_: Any) -> None:
        """Nothing: what arrived is kept."""


class Sink(ThreadingHTTPServer):
    """Takes objects; `answers_expect` as most servers do, `respond` as the test wants it."""

    daemon_threads = True
    # Where many connect at once and the queue is full, the kernel has them try again a second later.
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers_expect = True
        self.respond: Callable[[Handler], None] = lambda handler: handler.answer(201)
        self.paths: list[str] = []
        self.lengths: set[int] = set()
        self.scheme = "http"

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.server_port}"

    def handle_error(self, *_: Any) -> None:
        """A client that has gone, or does not trust this server, is no fault of it."""

    def speak_tls(self, certificate: "Certificate") -> None:
        """HTTP/1.1 alone, which is what a client that offers HTTP/2 is told."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate.path, certificate.key)
        context.set_alpn_protocols(["http/1.1"])
        # The handshake belongs to the connection's own thread.
        self.socket = context.wrap_socket(
            self.socket, server_side=True, do_handshake_on_connect=False
        )
        self.scheme = "https"

    @contextmanager
    def serving(self) -> Iterator["Sink"]:
        thread = threading.Thread(target=self.serve_forever)
        thread.start()
        try:
            yield self
        finally:
            self.shutdown()
            thread.join()
            self.server_close()


@dataclass(frozen=True)
class Certificate:
    """Of 127.0.0.1, signed by itself."""

    path: Path
    key: Path

    @property
    def trusted(self) -> dict[str, str]:
        """The environment in which curl and Python trust it."""
        return {"CURL_CA_BUNDLE": str(self.path), "SSL_CERT_FILE": str(self.path)}


def make_certificate(folder: Path) -> Certificate:
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl")
    made = Certificate(folder / "certificate.pem", folder / "key.pem")
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"),
            *("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"),
            *("-addext", "subjectAltName=IP:127.0.0.1"),
            *("-keyout", made.key, "-out", made.path),
        ],
        capture_output=True,
        check=True,
    )
    return made


@dataclass(frozen=True)
class Carried:
    """One object by nghttpx's log."""

    protocol: str  # by ALPN: "h2" or "http/1.1"
    connection: str  # the client's port
    status: int
    request: str


@dataclass
class Front:
    """nghttpx, which speaks TLS, HTTP/2 and HTTP/1.1 to the client, and HTTP/1.1 to a sink."""

    url: str
    process: "subprocess.Popen[bytes]"
    log: Path

    def stop(self) -> None:
        """At once, as a machine that fails; what it logged is there."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def carried(self) -> list[Carried]:
        """In the order of their answers; complete once it has stopped."""
        lines = [line.split(" ", 3) for line in self.log.read_text().splitlines()]
        return [Carried(alpn, port, int(status), request) for alpn, port, status, request in lines]


@contextmanager
def fronted(sink: Sink, certificate: Certificate) -> Iterator[Front]:
    """nghttpx before a sink that is serving."""
    if NGHTTPX is None:
        pytest.skip("needs nghttpx (nghttp2-proxy)")
    log = certificate.path.with_name("carried.log")
    # It is handed a socket that listens already: no port to guess, and nothing to wait for.
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listening:
        port = listening.getsockname()[1]
        process = subprocess.Popen(
            [
                NGHTTPX,
                *("--conf=/dev/null", "--no-ocsp", "--workers=1", "--single-process"),
                *(f"--frontend=127.0.0.1,{port}", f"--backend=127.0.0.1,{sink.server_port}"),
                *(f"--accesslog-file={log}", "--log-level=FATAL"),
                "--accesslog-format=$alpn $remote_port $status $request",
                *(str(certificate.key), str(certificate.path)),
            ],
            pass_fds=[listening.fileno()],
            env={**os.environ, "NGHTTPX_ACCEPT_1": f"tcp,{listening.fileno()}"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
    front = Front(f"https://127.0.0.1:{port}", process, log)
    try:
        yield front
    finally:
        front.stop()
