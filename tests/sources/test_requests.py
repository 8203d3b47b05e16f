# SPDX-License-Identifier: MPL-2.0
"""Coroutines that signals or a failure stop, and requests that are repeated."""

import asyncio
import os
import signal

import pytest
from msgspec.structs import replace

from io_benchmark.errors import GaveUpError
from io_benchmark.process import Terminated, interruptions
from io_benchmark.sources.requests import RequestPolicy, run_all, run_coroutine


@pytest.mark.parametrize(
    ("number", "expected"), [(signal.SIGTERM, Terminated), (signal.SIGINT, KeyboardInterrupt)]
)
def test_a_signal_ends_it_in_order(number, expected):
    """Everything is closed first; the handler is restored."""
    closed = []

    async def main():
        try:
            os.kill(os.getpid(), number)
            await asyncio.sleep(60)
        finally:
            closed.append(True)

    with interruptions():
        handler = signal.getsignal(number)
        with pytest.raises(expected):
            run_coroutine(main())
        assert (closed, signal.getsignal(number)) == ([True], handler)


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


@pytest.mark.parametrize(("dice", "delay_s"), [(0.0, 0.5), (1.0, 1.0)])
def test_waits_are_spread(dice, delay_s):
    """The dice choose between half of the pause and all of it."""
    assert replace(RequestPolicy(), dice=lambda: dice).delay_s(3) == delay_s


def test_all_tries_together_have_a_limit():
    """The limit includes all tries and pauses."""
    with pytest.raises(GaveUpError, match=r"^no complete answer within 0\.05 s; try again later$"):
        asyncio.run(RequestPolicy(object_s=0.05).retry(asyncio.Event().wait))
