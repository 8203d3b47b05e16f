# SPDX-License-Identifier: MPL-2.0
"""A clock that is turned by whoever sleeps, for tests of waiting."""

from collections.abc import Callable

from io_benchmark.sources.taskcluster.task_watch import WaitClock


class Turned:
    """Time passes by sleeping alone; `steps` happen after each sleep."""

    def __init__(self, *steps: Callable[[], object]) -> None:
        self.now_s = 0.0
        self.slept: list[float] = []
        self._steps = list(steps)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now_s += seconds
        if self._steps:
            self._steps.pop(0)()

    @property
    def clock(self) -> WaitClock:
        return WaitClock(lambda: self.now_s, self.sleep)
