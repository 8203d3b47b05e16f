# SPDX-License-Identifier: MPL-2.0
"""Signals that wait, lines under a deadline, and children that do not stay behind."""

import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from io_benchmark.execute.child import (
    CHUNK_BYTES,
    LINE_LIMIT_BYTES,
    STEPS,
    Child,
    hold_interrupts,
)
from io_benchmark.process import interruptions

HERE: dict[str, Any] = {"folder": Path.cwd(), "environment": os.environ}


@pytest.mark.parametrize(
    ("number", "times", "expected"),
    [
        *((number, 2, ["done"]) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)),
        # Someone who presses it three times cannot wait.
        (signal.SIGINT, 3, []),
    ],
)
def test_a_signal_waits_for_the_end_of_the_block(number, times, expected):
    """The block is done to its end, then the interruption comes, and the old handler is back."""
    done = []

    def work():
        with hold_interrupts():
            for _ in range(times):
                signal.raise_signal(number)
            done.append("done")

    with interruptions():
        handler = signal.getsignal(number)
        with pytest.raises(KeyboardInterrupt):
            work()
        assert done == expected
        assert signal.getsignal(number) is handler


@pytest.mark.parametrize(
    ("written", "lines"),
    [
        ("", []),
        (r"one\n\ntwo\nlast", [b"one\n", b"\n", b"two\n", b"last"]),
        # A carriage return ends no line.
        (r"50 %%\r100 %%\n", [b"50 %\r100 %\n"]),
    ],
)
def test_lines(written, lines):
    """Lines keep their ends; what has none at the end of the output is a line too."""
    with Child.started(("printf", written), **HERE) as child:
        assert list(child.lines(time.monotonic() + 10)) == lines


def read_until(deadline_s, *command):
    """Return the lines that come before the deadline."""
    lines: list[bytes] = []

    def read():
        with Child.started(command, **HERE) as child:
            for line in child.lines(time.monotonic() + deadline_s):
                lines.append(line)  # noqa: PERF402 - the lines before the exception are wanted

    with pytest.raises(TimeoutError):
        read()
    return lines


def test_deadlines():
    """The beginning of a line is not lost, and an open pipe or endless output is not waited for."""
    begun = ("bash", "-c", r"printf 'one\nbegun'; exec sleep 1234.5")
    assert read_until(2, *begun) == [b"one\n", b"begun"]
    # Nor does a line without an end fill the memory.
    assert max(map(len, read_until(0.5, "cat", "/dev/zero"))) <= LINE_LIMIT_BYTES + CHUNK_BYTES


@pytest.mark.parametrize(
    ("script", "return_code"),
    [
        ("trap 'exit 7' INT", 7),
        # A child that has much to say after SIGINT is heard out: a full pipe does not hold it up.
        ("trap 'head -c 1000000 /dev/zero; exit 6' INT", 6),
        ("trap '' INT; trap 'exit 8' TERM", 8),
        ("trap '' INT TERM", -signal.SIGKILL),
    ],
)
def test_stopping_goes_from_gentle_to_hard(monkeypatch, script, return_code):
    """Each signal is tried in turn, and no longer than its grace."""
    if "head" not in script:
        steps = [(number, 0.5) for number, _ in STEPS]
        monkeypatch.setattr("io_benchmark.execute.child.STEPS", steps)
    body = f"{script}; echo ready; while :; do sleep 0.05; done"
    with Child.started(("bash", "-c", body), **HERE) as child:
        assert child.output.read(6) == b"ready\n"
        child.stop()
    assert child.process.returncode == return_code
