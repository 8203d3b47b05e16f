# SPDX-License-Identifier: MPL-2.0
"""The streams and the environment that one call of the program works with."""

import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TextIO

from io_benchmark.report.formats import FORMATS
from io_benchmark.text import clean_lines

MESSAGE_LENGTH = 4000  # some messages list every valid value
DEFAULT_COLUMNS = 80
EXIT_FAILED = 1  # of every command


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

    def tell_unreadable(self, lines: Sequence[str], prefix: str, form: str) -> None:
        """Name the results that could not be read.

        Only count them where the report on the same terminal names each.
        """
        on_one_terminal = self.stdout.isatty() and self.stderr.isatty()
        if not (on_one_terminal and FORMATS[form].lists_unreadable):
            for line in lines:
                self.tell(f"{prefix}: {line}")
        elif lines:
            results = "1 result" if len(lines) == 1 else f"{len(lines)} results"
            self.tell(f"{prefix}: {results} could not be read; see the report for the reasons")

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
