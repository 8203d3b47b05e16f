# SPDX-License-Identifier: MPL-2.0
"""What ends a command in order, and what does not end it."""

import signal

import pytest

from io_benchmark.process import Terminated, interruptions


@pytest.mark.parametrize(
    ("number", "code"),
    [
        pytest.param(signal.SIGTERM, 143, id="SIGTERM"),
        pytest.param(signal.SIGHUP, 129, id="SIGHUP"),
    ],
)
def test_raises_as_ctrl_c_does(number: signal.Signals, code: int) -> None:
    """It names the exit code that a shell shows for that signal; the handler is back after it."""
    before = signal.getsignal(number)
    with pytest.raises(Terminated) as caught, interruptions():
        signal.raise_signal(number)
    assert caught.value.exit_code == code
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


@pytest.mark.parametrize("first", [signal.SIGTERM, signal.SIGHUP])
def test_a_closing_terminal_does_not_cut_cleaning_up_short(first: signal.Signals) -> None:
    """SIGHUP comes from the shell and from the kernel, or just after SIGTERM: once is enough."""
    cleaned = []

    def work() -> None:
        try:
            signal.raise_signal(first)
        finally:
            signal.raise_signal(signal.SIGHUP)
            cleaned.append(True)

    with pytest.raises(Terminated), interruptions():
        work()
    assert cleaned == [True]
