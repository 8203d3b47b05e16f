# SPDX-License-Identifier: MPL-2.0
"""Shows the progress of reading results: a bar on a terminal, lines elsewhere."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from io_benchmark.sources.protocol import ReadProgress

# What is over sooner is not worth a line.
QUIET_S = 1.0
# Between lines where they stay, as in a task's log.
LINES_EVERY_S = 5.0
# Time left is a guess until some results are in.
GUESS_AFTER = 3


@contextmanager
def show_progress(
    stream: TextIO, clock: Callable[[], float] = time.monotonic
) -> Iterator[Callable[[ReadProgress], None]]:
    """Yield the function to call with each step; the bar is removed from a terminal afterwards."""
    display = _Display(stream, clock)
    try:
        yield display.show
    finally:
        display.close()


class _Display:
    def __init__(self, stream: TextIO, clock: Callable[[], float]) -> None:
        self._stream = stream
        self._clock = clock
        self._terminal = stream.isatty()
        self._every_s = 0.1 if self._terminal else LINES_EVERY_S
        # From the first step: loading a client before it is no progress.
        self._due: float | None = None
        self._what = ""
        self._what_began = 0.0
        self._width = 0

    def show(self, progress: ReadProgress) -> None:
        now = self._clock()
        if progress.activity != self._what:
            self._what, self._what_began = progress.activity, now
        if self._due is None:
            self._due = now + QUIET_S
        if now < self._due:
            return
        self._due = now + self._every_s
        text = self._text(progress, now - self._what_began)
        if self._terminal:
            self._stream.write("\r" + text.ljust(self._width))
            self._width = len(text)
        else:
            self._stream.write(text + "\n")
        self._stream.flush()

    def close(self) -> None:
        if self._width:
            self._stream.write("\r" + " " * self._width + "\r")
            self._stream.flush()

    def _text(self, progress: ReadProgress, spent_s: float) -> str:
        if progress.total is None:
            return f"{progress.activity}: {progress.done}"
        left = ""
        if GUESS_AFTER <= progress.done < progress.total:
            left_s = spent_s * (progress.total - progress.done) / progress.done
            left = f", about {math.ceil(left_s)} s left"
        width = len(str(progress.total))
        return f"[{progress.done:>{width}}/{progress.total}] {progress.activity}{left}"
