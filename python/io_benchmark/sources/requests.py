# SPDX-License-Identifier: MPL-2.0
"""Run requests: several at a time, until a signal, and again while they fail temporarily."""

import asyncio
import random
import signal
import sys
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from types import FrameType
from typing import Any, TypeVar

from msgspec import Struct, field

from io_benchmark.errors import GaveUpError
from io_benchmark.process import TERMINATING

T = TypeVar("T")

CONNECTIONS = 64  # at once, of a command


def run_coroutine(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine; SIGTERM and SIGHUP end it as Ctrl-C does: it closes everything first."""
    handlers = {}
    for number in TERMINATING:
        handler = signal.getsignal(number)
        if callable(handler):
            handlers[number] = handler
    if threading.current_thread() is not threading.main_thread() or not handlers:
        return asyncio.run(main)
    terminated: list[signal.Signals] = []

    async def stoppable() -> T:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None  # noqa: S101 - this is a task

        def stop(number: int, _frame: FrameType | None) -> None:
            terminated.append(signal.Signals(number))
            loop.call_soon_threadsafe(task.cancel)

        for number in handlers:
            signal.signal(number, stop)
        return await main

    try:
        with suppress(asyncio.CancelledError):
            return asyncio.run(stoppable())
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        if terminated:
            handlers[terminated[0]](terminated[0], None)
    raise KeyboardInterrupt


async def run_all(
    coroutines: Iterable[Coroutine[Any, Any, T]], at_once: int = sys.maxsize
) -> list[T]:
    """Return all results, in order; the first failure cancels the others and is raised."""
    free = asyncio.Semaphore(at_once)

    async def limited(coroutine: Coroutine[Any, Any, T]) -> T:
        try:
            async with free:
                return await coroutine
        finally:
            coroutine.close()

    running = [asyncio.ensure_future(limited(coroutine)) for coroutine in coroutines]
    try:
        return await asyncio.gather(*running)
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


class TransientError(Exception):
    """A request failed temporarily: overload, a broken transfer, silence."""

    def __init__(self, reason: str, retry_after_s: float | None = None) -> None:
        super().__init__(reason)
        self.retry_after_s = retry_after_s


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Return the pause in seconds; None where it is not a number: the usual pause counts."""
    pause = headers.get("Retry-After", "").strip()
    return float(pause[:12]) if pause.isascii() and pause.isdigit() else None


class RequestPolicy(Struct, frozen=True):
    """Limits, repetition and pauses of requests; tests replace the clock and the dice."""

    connections: int = CONNECTIONS
    attempts: int = 10  # one of 6,000 answers is lost at 30 % failures with a chance of 4 %
    first_delay_s: float = 0.25
    maximum_delay_s: float = 5
    maximum_retry_after_s: float = 60
    connect_s: float = 15
    silence_s: float = 30  # the longest pause within an answer
    answer_s: float = 120  # for a complete answer
    object_s: float = 180  # for an object or an answer, all attempts and pauses together
    redirects: int = 5
    sleep: Callable[[float], Awaitable[None]] = field(default=asyncio.sleep)
    dice: Callable[[], float] = field(default=random.random)
    now: Callable[[], datetime] = field(default=lambda: datetime.now(UTC))

    def delay_s(self, failures: int) -> float:
        """Return a pause that doubles each time; random, so that clients do not retry together."""
        whole_s = min(self.first_delay_s * 2.0 ** (failures - 1), self.maximum_delay_s)
        return whole_s * (0.5 + 0.5 * self.dice())

    async def retry(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """Return the result of `attempt`; for a limited time, repeat what fails temporarily."""
        try:
            async with asyncio.timeout(self.object_s):
                return await self._repeat(attempt)
        except TimeoutError:
            raise GaveUpError(
                f"no complete answer within {self.object_s:g} s; try again later"
            ) from None

    async def _repeat(self, attempt: Callable[[], Awaitable[T]]) -> T:
        failures = 0
        while True:
            try:
                return await attempt()
            except TransientError as error:
                failures += 1
                if failures >= self.attempts:
                    raise GaveUpError(f"{error}, {failures} times; try again later") from None
                pause_s = error.retry_after_s
                if pause_s is not None and pause_s > self.maximum_retry_after_s:
                    raise GaveUpError(
                        f"{error}; it demands a pause of {pause_s:.0f} s; try again then"
                    ) from None
                await self.sleep(max(self.delay_s(failures), pause_s or 0.0))
