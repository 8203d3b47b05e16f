# SPDX-License-Identifier: MPL-2.0
"""How often a request is repeated, and the pauses between."""

import asyncio

import pytest
from msgspec.structs import replace

from io_benchmark.errors import GaveUpError
from io_benchmark.sources.requests import RequestPolicy, TransientError


def attempt(failures, retry_after_s=None):
    """Fail this often, then return the number of calls."""
    calls = 0

    async def call():
        nonlocal calls
        calls += 1
        if calls <= failures:
            raise TransientError("host answers 503", retry_after_s)
        return calls

    return call


def test_it_goes_on_until_it_works(policy, waits):
    """Nine failures are tolerated; the pauses double up to their maximum."""
    assert asyncio.run(policy.retry(attempt(9))) == 10
    assert waits == [0.1875, 0.375, 0.75, 1.5, 3.0, 3.75, 3.75, 3.75, 3.75]
    with pytest.raises(GaveUpError, match=r"^host answers 503, 10 times; try again later$"):
        asyncio.run(policy.retry(attempt(10)))
    assert len(waits) == 2 * 9


def test_retry_after(policy, waits):
    """It counts where it is longer than the policy's pause; over the limit it is an error."""
    assert asyncio.run(policy.retry(attempt(2, retry_after_s=60.0))) == 3
    assert asyncio.run(policy.retry(attempt(1, retry_after_s=0.0))) == 2
    with pytest.raises(
        GaveUpError, match=r"^host answers 503; it demands a pause of 61 s; try again then$"
    ):
        asyncio.run(policy.retry(attempt(1, retry_after_s=61.0)))
    assert waits == [60.0, 60.0, 0.1875]


@pytest.mark.parametrize(("dice", "delay_s"), [(0.0, 0.5), (1.0, 1.0)])
def test_waits_are_spread(dice, delay_s):
    """The dice choose between half of the pause and all of it."""
    assert replace(RequestPolicy(), dice=lambda: dice).delay_s(3) == delay_s


def test_all_tries_together_have_a_limit():
    """The limit includes all tries and pauses."""

    async def main():
        await RequestPolicy(object_s=0.05).retry(asyncio.Event().wait)

    with pytest.raises(GaveUpError, match=r"^no complete answer within 0\.05 s; try again later$"):
        asyncio.run(main())
