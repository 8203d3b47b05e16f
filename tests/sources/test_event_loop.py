# SPDX-License-Identifier: MPL-2.0
"""Coroutines that signals or a failure stop."""

import asyncio
import os
import signal

import pytest

from io_benchmark.process import TERMINATING
from io_benchmark.sources.requests import run_all, run_coroutine


class TerminatedError(KeyboardInterrupt):
    pass


@pytest.fixture
def on_sigterm():
    """Do what the command line does on SIGTERM and SIGHUP."""

    def terminate(_number, _frame):
        raise TerminatedError

    previous = {number: signal.signal(number, terminate) for number in TERMINATING}
    yield terminate
    for number, handler in previous.items():
        signal.signal(number, handler)


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (signal.SIGTERM, TerminatedError),
        (signal.SIGHUP, TerminatedError),
        (signal.SIGINT, KeyboardInterrupt),
    ],
)
def test_a_signal_ends_it_in_order(on_sigterm, number, expected):
    """Everything is closed first; the handler is restored."""
    closed = []

    async def main():
        try:
            os.kill(os.getpid(), number)
            await asyncio.sleep(60)
        finally:
            closed.append(True)

    with pytest.raises(expected):
        run_coroutine(main())
    assert closed == [True]
    assert {signal.getsignal(number) for number in TERMINATING} == {on_sigterm}


def test_the_first_failure_ends_the_others():
    """The failure is raised unchanged, when the others have closed what they use."""
    closed = []

    async def waits():
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.01)
            closed.append(True)

    async def fails():
        await asyncio.sleep(0)
        raise KeyError("x")

    async def main():
        with pytest.raises(KeyError):
            await run_all([waits(), fails(), waits()])
        return list(closed)

    assert asyncio.run(main()) == [True, True]


def test_so_many_at_a_time():
    """All run, never more at once than allowed."""
    running = most = done = 0

    async def work():
        nonlocal running, most, done
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.001)
        running -= 1
        done += 1

    asyncio.run(run_all([work() for _ in range(20)], 3))
    assert (most, done) == (3, 20)
    asyncio.run(run_all([], 3))
