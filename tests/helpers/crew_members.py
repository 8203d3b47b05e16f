# SPDX-License-Identifier: MPL-2.0
"""What members of a crew do in the tests, with the program's modules; Windows' Python runs it."""

from __future__ import annotations

import importlib
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def stamp(number: int, ready: Any, tell: Any, text: str) -> None:
    time.sleep(0.2 * number)
    begun_ns = time.time_ns()
    ready()
    tell([begun_ns, time.time_ns(), text])


def send_much(_number: int, ready: Any, tell: Any) -> None:
    ready()
    tell("x" * 3_000_000)


def fail(number: int, ready: Any, _tell: Any, how: str) -> None:
    ready()
    if number == 1:
        FAILURES[how]()
    time.sleep(1000)


def wait_forever(_number: int, ready: Any, tell: Any) -> None:
    ready()
    signal.raise_signal(signal.Signals["SIGBREAK"])  # members ignore it
    while True:
        tell("waiting")
        time.sleep(0.1)


def _raise(error: Exception) -> None:
    raise error


FAILURES: dict[str, Callable[[], object]] = {
    "named": lambda: Path("missing-ü").stat(),
    "own words": lambda: _raise(OSError(None, "said so")),
    "memory": lambda: _raise(MemoryError()),
    "ended": lambda: os._exit(0xC0000005 - (1 << 32)),
    "bug": lambda: _raise(KeyError("a bug")),
}


def remove_held(_number: int, ready: Any, _tell: Any, path: str) -> None:
    """Remove a file that is open here for a while."""
    ready()
    with Path(path).open() as held:
        threading.Timer(0.1, held.close).start()
        importlib.import_module("system.windows.folders").remove(path)
