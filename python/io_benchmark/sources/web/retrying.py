# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""When a request is worth another try, how many, and how long to wait between them."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TypeVar

from io_benchmark.errors import GaveUpError

T = TypeVar("T")


class TransientError(Exception):
    """A request failed in a way that may pass: overload, a broken transfer, silence."""

    def __init__(self, reason: str, retry_after_s: float | None = None) -> None:
        super().__init__(reason)
        self.retry_after_s = retry_after_s


@dataclass(frozen=True)
class RequestPolicy:
    """How a deployment is asked. Tests put in clocks and dice of their own."""

    connections: int = 64
    attempts: int = 10  # one of 6,000 answers is lost at 30 % failures with a chance of 4 %
    first_delay_s: float = 0.25
    maximum_delay_s: float = 5
    maximum_retry_after_s: float = 60
    connect_s: float = 15
    silence_s: float = 30  # the longest pause within an answer
    answer_s: float = 120  # for a whole answer, however slowly it comes
    object_s: float = 180  # for an object or an answer, all tries and pauses together
    redirects: int = 5
    sleep: Callable[[float], Awaitable[None]] = field(default=asyncio.sleep)
    dice: Callable[[], float] = field(default=random.random)
    now: Callable[[], datetime] = field(default=lambda: datetime.now(UTC))

    def delay_s(self, failures: int) -> float:
        """Doubling, and somewhere between half of it and all, so that clients do not march in step."""
        whole_s = min(self.first_delay_s * 2.0 ** (failures - 1), self.maximum_delay_s)
        return whole_s * (0.5 + 0.5 * self.dice())


async def retry(policy: RequestPolicy, attempt: Callable[[], Awaitable[T]]) -> T:
    """What `attempt` gives, tried again while it fails in passing, within a limit of time."""
    try:
        async with asyncio.timeout(policy.object_s):
            return await _try_again(policy, attempt)
    except TimeoutError:
        raise GaveUpError(
            f"no whole answer within {policy.object_s:g} s; try again later"
        ) from None


async def _try_again(policy: RequestPolicy, attempt: Callable[[], Awaitable[T]]) -> T:
    failures = 0
    while True:
        try:
            return await attempt()
        except TransientError as error:
            failures += 1
            if failures >= policy.attempts:
                raise GaveUpError(f"{error}, {failures} times; try again later") from None
            asked_s = error.retry_after_s
            if asked_s is not None and asked_s > policy.maximum_retry_after_s:
                raise GaveUpError(f"{error}; it asks to wait {asked_s:.0f} s") from None
            await policy.sleep(max(policy.delay_s(failures), asked_s or 0.0))
