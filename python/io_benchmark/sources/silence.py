# SPDX-License-Identifier: MPL-2.0
"""Hosts that do not answer, so that a person sees what a command waits for."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from msgspec import Struct

from io_benchmark.sources.protocol import Progress, Tell

# With half a second for the program's start, a person sees it before two seconds are over.
SILENT_S, _EVERY_S = 1.0, 0.25
Notice = Callable[[str, float], None]  # gets what is waited for, and for how many seconds

_now_s = time.monotonic  # tests replace it


class _Host(Struct):
    """A host with requests that are not answered yet."""

    since_s: float
    requests: int = 0
    reason: str = ""  # why the last request failed


class Silence:
    """What the requests of a command wait for, by host."""

    def __init__(self, notice: Notice) -> None:
        self._notice = notice
        self._hosts: dict[str, _Host] = {}

    @contextmanager
    def waiting(self, host: str) -> Iterator[None]:
        """Count a request until its answer is complete, with pauses and further attempts."""
        waited = self._hosts.setdefault(host, _Host(_now_s()))
        waited.requests += 1
        try:
            yield
        finally:
            waited.requests -= 1
            if not waited.requests:
                self._hosts.pop(host, None)

    def heard(self, host: str) -> None:
        """Note that a part of an answer arrived."""
        if host in self._hosts:
            self._hosts[host].since_s, self._hosts[host].reason = _now_s(), ""

    def failed(self, host: str, reason: str) -> None:
        if host in self._hosts:
            self._hosts[host].reason = reason

    async def watch(self) -> None:
        """Notice silent hosts until this is cancelled."""
        while True:
            await asyncio.sleep(_EVERY_S)
            self.look()

    def look(self) -> None:
        """Notice the hosts that are silent now."""
        for host, waited in self._hosts.items():
            silent_s = _now_s() - waited.since_s
            if silent_s >= SILENT_S:
                reason = waited.reason or f"{host} does not answer yet"
                self._notice(reason if host in reason else f"{host}: {reason}", silent_s)


def in_progress(progress: Progress) -> Notice:
    """Show silence in the line that shows the progress."""
    return lambda reason, silent_s: progress(f"waiting: {reason}; seconds", round(silent_s), None)


def in_lines(tell: Tell) -> Notice:
    """Tell each kind of silence once."""
    told: set[str] = set()

    def notice(reason: str, _silent_s: float) -> None:
        if reason not in told:
            told.add(reason)
            tell(f"still waiting: {reason}")

    return notice
