# SPDX-License-Identifier: MPL-2.0
"""Coroutines that a signal or a failure stops."""

import asyncio
import os
import signal

import pytest

from io_benchmark.process import interruptions
from io_benchmark.sources.event_loop import run_all


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_closes_everything_first(number):
    """A request closes its connections when a signal stops the command."""
    closed = []

    async def main():
        try:
            os.kill(os.getpid(), number)
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.01)
            closed.append(True)

    with pytest.raises(KeyboardInterrupt), interruptions():
        asyncio.run(main())
    assert closed == [True]


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
