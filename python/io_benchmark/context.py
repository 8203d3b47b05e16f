# SPDX-License-Identifier: MPL-2.0
"""What a command reads and writes: the streams, the environment, and the person behind them."""

import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple, TextIO

from io_benchmark.errors import UsageError
from io_benchmark.text import clean, clean_lines

MESSAGE_LENGTH = 4000  # some messages list every valid value
# What is over sooner is not worth a line. Chosen, as is the time between two updates.
QUIET_S = 1.0
_EVERY_S = 0.1


class Context(NamedTuple):
    """Commands read and write these streams, never those of the process."""

    stdin: TextIO | None
    stdout: TextIO
    stderr: TextIO
    environment: Mapping[str, str]

    def print(self, line: str) -> None:
        """Write a line of the command's result to stdout."""
        self.stdout.write(f"{line}\n")

    def write_bytes(self, data: bytes, subject: str) -> None:
        """Write a file to stdout; raise a UsageError about `subject` where that is a terminal."""
        if self.stdout.isatty():
            raise UsageError(f"{subject}: stdout is a terminal; redirect it into a file")
        self.stdout.flush()
        self.stdout.buffer.write(data)

    def tell(self, message: str) -> None:
        """Write progress or a message to stderr: stdout is for what a program may read."""
        # Names in it come from anywhere, and must not control the terminal. In one piece, so that
        # another writer's text cannot come before the line's end.
        self.stderr.write(f"{clean_lines(message)}\n")
        self.stderr.flush()

    def tell_errors(self, problems: Sequence[str]) -> None:
        """Write a line for each problem that did not end the command."""
        for problem in problems:
            self.tell(f"error: {problem}")

    @contextmanager
    def progress(
        self, clock: Callable[[], float] = time.monotonic
    ) -> Iterator[Callable[[str, int, int | None], None]]:
        """Yield what shows each step of reading in a line of the terminal, and remove the line."""
        stream = self.stderr
        # Set at the first step: loading a client before it is no progress.
        due_s: float | None = None
        width = 0

        def show(activity: str, done: int, total: int | None) -> None:
            nonlocal due_s, width
            now_s = clock()
            if due_s is None:
                due_s = now_s + QUIET_S
            if now_s < due_s or not stream.isatty():
                return
            due_s = now_s + _EVERY_S
            line = f"{activity}: {done}" + ("" if total is None else f" of {total}")
            # A longer one would go on in the next row, which nothing overwrites.
            line = clean(line, max(1, shutil.get_terminal_size().columns - 1))
            stream.write("\r" + line.ljust(width))
            stream.flush()
            width = len(line)

        try:
            yield show
        finally:
            if width:
                stream.write("\r" + " " * width + "\r")
                stream.flush()

    @property
    def is_interactive(self) -> bool:
        """Return whether a person can answer a question."""
        return self.stdin is not None and self.stdin.isatty()

    def confirm(self, question: str) -> bool:
        """Ask on stderr, as stdout is for the report; only a yes is a yes."""
        self.stderr.write(f"{question} [y/N] ")
        self.stderr.flush()
        return self.stdin is not None and self.stdin.readline().strip().lower() in ("y", "yes")
