# SPDX-License-Identifier: MPL-2.0
"""Run one coroutine until a signal ends it, or several with a limit on how many at a time."""

import asyncio
import signal
import sys
import threading
from collections.abc import Coroutine, Iterable
from contextlib import suppress
from types import FrameType
from typing import Any, TypeVar

from io_benchmark.process import TERMINATING

T = TypeVar("T")


def run_coroutine(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine; SIGTERM and SIGHUP end it as Ctrl-C does: it closes everything first."""
    previous = {number: signal.getsignal(number) for number in TERMINATING}
    handlers = {int(number): handler for number, handler in previous.items() if callable(handler)}
    if threading.current_thread() is not threading.main_thread() or not handlers:
        return asyncio.run(main)
    terminated: list[int] = []

    async def stoppable() -> T:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None  # noqa: S101 - this is a task

        def stop(number: int, _frame: FrameType | None) -> None:
            terminated.append(number)
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
