# SPDX-License-Identifier: MPL-2.0
"""What every command reads and writes: the streams, the environment, and the person behind them."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, NamedTuple, TextIO

from io_benchmark.text import clean_lines

if TYPE_CHECKING:
    from io_benchmark.sources.protocol import ReadProgress

MESSAGE_LENGTH = 4000  # some messages list every valid value
DEFAULT_COLUMNS = 80


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

    def progress(self) -> AbstractContextManager[Callable[["ReadProgress"], None]]:
        """Show the progress of reading in this block."""
        from io_benchmark.commands.progress_display import show_progress

        return show_progress(self.stderr)

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

    def columns(self, stream: TextIO) -> int:
        """Return the width of the terminal behind a stream, or COLUMNS where that is set."""
        columns = self.environment.get("COLUMNS", "")
        if columns.isdecimal() and int(columns[:9]) > 0:
            return int(columns[:9])
        try:
            return os.get_terminal_size(stream.fileno()).columns or DEFAULT_COLUMNS
        except (OSError, ValueError):  # not a terminal, or no descriptor at all
            return DEFAULT_COLUMNS
