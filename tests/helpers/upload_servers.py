# SPDX-License-Identifier: MPL-2.0
"""A server for the workload upload."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


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

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, *_: Any) -> None:
        """A client that has gone, or does not trust this server, is no fault of it."""

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
