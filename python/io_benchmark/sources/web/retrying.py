# SPDX-License-Identifier: MPL-2.0
"""Repeat requests that failed temporarily: how often, and how long to wait between them."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import TypeVar

from msgspec import Struct, field

from io_benchmark.errors import GaveUpError

T = TypeVar("T")


class TransientError(Exception):
    """A request failed temporarily: overload, a broken transfer, silence."""

    def __init__(self, reason: str, retry_after_s: float | None = None) -> None:
        super().__init__(reason)
        self.retry_after_s = retry_after_s


class RequestPolicy(Struct, frozen=True):
    """Limits, repetition and pauses of requests; tests replace the clock and the dice."""

    connections: int = 64
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
        """Return the result of `attempt`; repeat it while it fails temporarily, within a time limit."""
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
