# SPDX-License-Identifier: MPL-2.0
"""Signals that wait, lines under a deadline, and children that do not stay behind."""

import signal
import time

import pytest

from io_benchmark.execute.child import (
    CHUNK_BYTES,
    LINE_LIMIT_BYTES,
    STEPS,
    Child,
    hold_interrupts,
)
from io_benchmark.process import interruptions


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_waits_for_the_end_of_the_block(number: signal.Signals) -> None:
    """The block is done to its end, then the interruption comes, and the old handler is back."""
    done = []

    def work() -> None:
        with hold_interrupts():
            signal.raise_signal(number)
            signal.raise_signal(number)
            done.append("all of it")

    with interruptions():
        handler = signal.getsignal(number)
        with pytest.raises(KeyboardInterrupt):
            work()
        assert done == ["all of it"]
        assert signal.getsignal(number) is handler


def test_the_third_ctrl_c_gets_through() -> None:
    """Someone who cannot wait is not made to."""
    done = []

    def work() -> None:
        with hold_interrupts():
            for _ in range(3):
                signal.raise_signal(signal.SIGINT)
            done.append("not reached")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == []


@pytest.mark.parametrize(
    ("written", "lines"),
    [
        pytest.param("", [], id="nothing"),
        pytest.param(r"one\ntwo\n", [b"one\n", b"two\n"], id="whole lines"),
        pytest.param(r"one\n\nlast", [b"one\n", b"\n", b"last"], id="no end at the end"),
        pytest.param(r"50 %%\r100 %%\n", [b"50 %\r100 %\n"], id="carriage return is no end"),
    ],
)
def test_lines(written: str, lines: list[bytes]) -> None:
    """Lines keep their ends; what has none at the end of the output is a line too."""
    with Child.started(("printf", written)) as child:
        assert list(child.lines(None)) == lines


def test_deadline_gives_what_there_is_then_raises() -> None:
    """The beginning of a line is not lost, and an open pipe is not waited for."""
    lines = []

    def read() -> None:
        with Child.started(("bash", "-c", r"printf 'one\nbegun'; exec sleep 1234.5")) as child:
            for line in child.lines(time.monotonic() + 2):
                lines.append(line)  # noqa: PERF402 - the lines before the exception are wanted

    with pytest.raises(TimeoutError):
        read()
    assert lines == [b"one\n", b"begun"]


def test_deadline_holds_against_endless_output() -> None:
    """A child that always has something to say is left all the same."""
    lengths_bytes: list[int] = []

    def read() -> None:
        with Child.started(("cat", "/dev/zero")) as child:
            for line in child.lines(time.monotonic() + 0.5):
                lengths_bytes.append(len(line))  # noqa: PERF401 - as above

    with pytest.raises(TimeoutError):
        read()
    # Nor does a line without an end fill the memory.
    assert max(lengths_bytes) <= LINE_LIMIT_BYTES + CHUNK_BYTES


@pytest.mark.parametrize(
    ("script", "return_code"),
    [
        pytest.param("trap 'exit 7' INT", 7, id="SIGINT"),
        pytest.param("trap '' INT; trap 'exit 8' TERM", 8, id="SIGTERM"),
        pytest.param("trap '' INT TERM", -signal.SIGKILL, id="SIGKILL"),
    ],
)
def test_stopping_goes_from_gentle_to_hard(
    monkeypatch: pytest.MonkeyPatch, script: str, return_code: int
) -> None:
    """Each signal is tried in turn, and no longer than its grace."""
    steps = [(number, 0.5) for number, _ in STEPS]
    monkeypatch.setattr("io_benchmark.execute.child.STEPS", steps)
    body = f"{script}; echo ready; while :; do sleep 0.05; done"
    with Child.started(("bash", "-c", body)) as child:
        assert child.output.read(6) == b"ready\n"
        child.stop()
    assert child.process.returncode == return_code


def test_a_full_pipe_does_not_hold_the_end_up() -> None:
    """A child that has much to say after SIGINT is heard out, not killed."""
    script = (
        "trap 'head -c 1000000 /dev/zero; exit 7' INT; echo ready; while :; do sleep 0.05; done"
    )
    with Child.started(("bash", "-c", script)) as child:
        assert child.output.read(6) == b"ready\n"
        child.stop()
    assert child.process.returncode == 7
