# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Reads a child's output by line without ever waiting past a deadline."""

import os
import selectors
import time
from collections.abc import Iterator
from typing import IO

CHUNK_BYTES = 65536

# A child that never ends its line must not fill this program's memory.
LINE_LIMIT_BYTES = 1 << 20


def read_lines(stream: IO[bytes] | None, deadline_s: float | None) -> Iterator[bytes]:
    """Lines with their ends, until the other side closes.

    Raises TimeoutError when `time.monotonic()` passes `deadline_s`, even while output keeps coming.
    """
    if stream is None:
        return
    descriptor = stream.fileno()
    pending = b""
    with selectors.DefaultSelector() as selector:
        selector.register(descriptor, selectors.EVENT_READ)
        while True:
            remaining_s = None if deadline_s is None else deadline_s - time.monotonic()
            if (remaining_s is not None and remaining_s <= 0) or not selector.select(remaining_s):
                if pending:
                    yield pending
                raise TimeoutError
            chunk = os.read(descriptor, CHUNK_BYTES)
            if not chunk:
                break
            *lines, pending = (pending + chunk).split(b"\n")
            for line in lines:
                yield line + b"\n"
            if len(pending) > LINE_LIMIT_BYTES:
                yield pending
                pending = b""
    if pending:
        yield pending
