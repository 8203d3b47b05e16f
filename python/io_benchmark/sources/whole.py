# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""A deployment's answer, decoded and whole."""

from collections.abc import Awaitable, Callable
from typing import Any

from io_benchmark.sources import wire
from io_benchmark.sources.retrying import Policy, TransientError, persist


async def whole_answer(policy: Policy, kind: type[Any], ask: Callable[[], Awaitable[Any]]) -> Any:
    """The decoded answer; one that ends in the middle is a broken transfer, and asked for again."""

    async def attempt() -> Any:
        body = await ask()
        try:
            return wire.decode(body if isinstance(body, bytes) else b"", kind)
        except wire.IncompleteError:
            raise TransientError("the deployment broke off its answer") from None

    return await persist(policy, attempt)
