# SPDX-License-Identifier: MPL-2.0
"""What members of a crew do in the tests, with the program's modules; Windows' Python runs it."""

import os
import time
from pathlib import Path


def stamp(number, ready, tell, text):
    time.sleep(0.2 * number)
    begun_ns = time.time_ns()
    ready()
    tell([begun_ns, time.time_ns(), text])


def send_much(_number, ready, tell):
    ready()
    tell("x" * 3_000_000)


def fail(number, ready, _tell, how):
    ready()
    if number == 1:
        FAILURES[how]()
    time.sleep(1000)


def wait_forever(_number, ready, tell):
    ready()
    tell("waiting")
    time.sleep(1000)


def _raise(error):
    raise error


FAILURES = {
    "named": lambda: Path("missing-ü").stat(),
    "own words": lambda: _raise(OSError(None, "said so")),
    "memory": lambda: _raise(MemoryError()),
    "ended": lambda: os._exit(0xC0000005 - (1 << 32)),
    "bug": lambda: _raise(KeyError("a bug")),
}
