# SPDX-License-Identifier: MPL-2.0
"""Run several coroutines, with a limit on how many at a time."""

import asyncio
import sys
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

T = TypeVar("T")


async def run_all(
    coroutines: Iterable[Coroutine[Any, Any, T]], at_once: int = sys.maxsize
) -> list[T]:
    """Return all results, in order. The first failure cancels the others and is raised unchanged."""
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
