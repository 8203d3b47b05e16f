# SPDX-License-Identifier: MPL-2.0
"""What a command reads and writes: the streams, the environment, and the person behind them."""

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple, TextIO

from io_benchmark.text import clean_lines

if TYPE_CHECKING:
    from io_benchmark.sources.protocol import ReadProgress

MESSAGE_LENGTH = 4000  # some messages list every valid value
# What is over sooner is not worth a line.
QUIET_S = 1.0
# Between lines where they stay, as in a task's log.
LINES_EVERY_S = 5.0
# Time left is a guess until some results are in.
GUESS_AFTER = 3


class Context(NamedTuple):
    """Commands read and write these streams, never those of the process."""

    stdin: TextIO | None
    stdout: TextIO
    stderr: TextIO
    environment: Mapping[str, str]

    def print(self, text: str) -> None:
        """Write a line of the command's result to stdout."""
        self.stdout.write(f"{text}\n")

    def tell(self, text: str) -> None:
        """Write progress or a message to stderr: stdout is for what a program may read."""
        # Names in it come from anywhere, and must not control the terminal.
        lines = [
            line if len(line) <= MESSAGE_LENGTH else line[:MESSAGE_LENGTH] + "…"
            for line in clean_lines(text).split("\n")
        ]
        # In one piece, so that another writer's text cannot come before the line's end.
        self.stderr.write("\n".join(lines) + "\n")
        self.stderr.flush()

    def tell_errors(self, problems: Sequence[str]) -> None:
        """Write a line for each problem that did not end the command."""
        for problem in problems:
            self.tell(f"error: {problem}")

    @contextmanager
    def progress(
        self, clock: Callable[[], float] = time.monotonic
    ) -> Iterator[Callable[["ReadProgress"], None]]:
        """Yield what shows each step of reading; its line is removed from a terminal afterwards."""
        display = _ProgressDisplay(self.stderr, clock)
        try:
            yield display.show
        finally:
            display.close()

    @property
    def is_interactive(self) -> bool:
        """Return whether a person can answer a question."""
        return self.stdin is not None and self.stdin.isatty()

    def confirm(self, question: str) -> bool:
        """Ask on stderr, as stdout is for the report; only a yes is a yes."""
        self.stderr.write(f"{question} [y/N] ")
        self.stderr.flush()
        answer = self.stdin.readline() if self.stdin is not None else ""
        return answer.strip().lower() in ("y", "yes")


class _ProgressDisplay:
    """A bar on a terminal, lines elsewhere."""

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

    def show(self, progress: "ReadProgress") -> None:
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

    def _text(self, progress: "ReadProgress", spent_s: float) -> str:
        if progress.total is None:
            return f"{progress.activity}: {progress.done}"
        left = ""
        if GUESS_AFTER <= progress.done < progress.total:
            left_s = spent_s * (progress.total - progress.done) / progress.done
            left = f", about {math.ceil(left_s)} s left"
        width = len(str(progress.total))
        return f"[{progress.done:>{width}}/{progress.total}] {progress.activity}{left}"
