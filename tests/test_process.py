# SPDX-License-Identifier: MPL-2.0
"""What ends a command in order, what does not end it, and streams that take everything."""

import os
import signal
import threading

import pytest

from io_benchmark.process import Terminated, _Output, hold_interrupts, interruptions


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_raises_as_ctrl_c_does(number: signal.Signals, code: int) -> None:
    """It names the exit code that a shell shows for that signal; the handler is back after it.

    SIGHUP comes from the shell and from the kernel, or just after SIGTERM: once is enough.
    """
    before, cleaned = signal.getsignal(number), []

    def work() -> None:
        try:
            signal.raise_signal(number)
        finally:
            signal.raise_signal(signal.SIGHUP)
            cleaned.append(True)

    with pytest.raises(Terminated) as caught, interruptions():
        work()
    assert (caught.value.exit_code, cleaned) == (code, [True])
    assert signal.getsignal(number) is before


def test_nohup() -> None:
    """A signal that the caller had ignored stays ignored."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with interruptions():
            signal.raise_signal(signal.SIGHUP)
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_waits_for_the_end_of_the_block(number: signal.Signals) -> None:
    """The block is done to its end, then the interruption comes, and the old handler is back."""
    done: list[str] = []

    def work() -> None:
        with hold_interrupts():
            signal.raise_signal(number)
            signal.raise_signal(number)
            done.append("done")

    with interruptions():
        handler = signal.getsignal(number)
        with pytest.raises(KeyboardInterrupt):
            work()
        assert done == ["done"]
        assert signal.getsignal(number) is handler


def test_the_first_failure_is_kept() -> None:
    """A full device fails once; what comes after is dropped, and nothing is raised."""
    descriptor = os.open("/dev/full", os.O_WRONLY)
    try:
        output = _Output(descriptor)
        assert output.fileno() == descriptor
        assert output.write(b"first") == 5
        failure = output.failure
        assert output.write(b"second") == 6
        assert failure is not None
        assert (failure.strerror, output.failure) == ("No space left on device", failure)
    finally:
        os.close(descriptor)


def test_a_pipe_that_does_not_block() -> None:
    """Another program has set it so: everything arrives all the same."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    data, received = b"x" * 1_000_000, bytearray()

    def read() -> None:
        while chunk := os.read(reader, 65536):
            received.extend(chunk)

    thread = threading.Thread(target=read)
    thread.start()
    output, left = _Output(writer), memoryview(data)
    while left:
        left = left[output.write(left) :]
    os.close(writer)
    thread.join()
    os.close(reader)
    assert (bytes(received), output.failure) == (data, None)
