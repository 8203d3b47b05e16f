# SPDX-License-Identifier: MPL-2.0
"""A server of one object on loopback, which answers as a test says: whole, late, wrong or never."""

import socket
import ssl
import struct
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

MIB = 2**20
# Called with the connection, the request and its number; what it sends is the answer.
Answer = Callable[[socket.socket, bytes, int], None]


def head(status: int = 200, **headers: object) -> bytes:
    lines = [f"HTTP/1.1 {status} Some reason"]
    lines += (f"{name.replace('_', '-')}: {value}" for name, value in headers.items())
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def sending(*parts: bytes) -> Answer:
    """Send these, and end the connection."""

    def answer(stream: socket.socket, _request: bytes, _number: int) -> None:
        for part in parts:
            stream.sendall(part)

    return answer


def whole(size: int, status: int = 206, **headers: object) -> Answer:
    """Send so many bytes of an object of 100 MiB, as a server that knows ranges does."""
    if status == 206:
        headers["Content_Range"] = f"bytes 0-{size - 1}/{100 * MIB}"
    return sending(head(status, Content_Length=size, **headers), bytes(size))


def redirecting(target: str, then: Answer) -> Answer:
    """Lead the first request of two to this target."""

    def answer(stream: socket.socket, request: bytes, number: int) -> None:
        (then if number % 2 else sending(head(302, Location=target)))(stream, request, number)

    return answer


def reset(stream: socket.socket) -> None:
    """End a connection as a machine does that crashes."""
    stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    stream.close()


class ArtifactServer:
    def __init__(self, host: str) -> None:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.answer: Answer = whole(2 * MIB)
        self.requests: list[bytes] = []
        self.tls: ssl.SSLContext | None = None
        self._listener = socket.create_server((host, 0), family=family, backlog=64)
        self.port = self._listener.getsockname()[1]
        self.url = (
            f"http://[{host}]:{self.port}/a" if ":" in host else f"http://{host}:{self.port}/a"
        )

    def serve(self) -> None:
        while True:
            try:
                stream, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._handle, args=(stream,), daemon=True).start()

    def _handle(self, stream: socket.socket) -> None:
        with suppress(OSError), stream:
            if self.tls is not None:
                with self.tls.wrap_socket(stream, server_side=True) as encrypted:
                    self._respond(encrypted)
            else:
                self._respond(stream)

    def _respond(self, stream: socket.socket) -> None:
        request = b""
        while not request.endswith(b"\r\n\r\n"):
            data = stream.recv(4096)
            if not data:
                return
            request += data
        self.requests.append(request)
        self.answer(stream, request, len(self.requests) - 1)

    def close(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


@contextmanager
def artifact_server(host: str = "127.0.0.1") -> Iterator[ArtifactServer]:
    server = ArtifactServer(host)
    thread = threading.Thread(target=server.serve, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.close()
        thread.join(10)


def certificate(folder: Path, name: str = "DNS:localhost") -> Path:
    """Make a certificate of this name or address, with its key in the same file."""
    file = folder / "localhost.pem"
    words = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext"
    command = [*words.split(), f"subjectAltName={name}"]
    subprocess.run(
        [*command, "-keyout", file, "-out", folder / "c"], check=True, capture_output=True
    )
    file.write_bytes(file.read_bytes() + (folder / "c").read_bytes())
    return file
