# SPDX-License-Identifier: MPL-2.0
"""A task's command on Windows: one line of a .bat file, which cmd.exe reads.

taskgraph's run-task, and Firefox's, join a command that is a list with spaces, in all versions. So
the words are quoted here. A text would be for bash, within quotes that its own quotes would end.
cmd.exe expands each `%`, and refuses longer lines. A worker writes the file as UTF-8 and does not
tell cmd.exe, so that only ASCII can be relied on.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from io_benchmark_taskgraph.mistakes import BadKeyError
from io_benchmark_taskgraph.worker_program import EmbeddedProgram

LONGEST = 8_191  # characters
# As run-task is started, with standard streams that take every character.
PYTHON = ("C:/mozilla-build/python3/python3.exe", "-X", "utf8", "-u", "-B")
_PLAIN = re.compile(r"[A-Za-z0-9_.,:;=/+$@{}-]+")


def word(text: str) -> str:
    """Return a word for the line; `"`, a backslash and what is not ASCII become `_`."""
    if _PLAIN.fullmatch(text):
        return text
    safe = re.sub(r'["\\]|[^ -~]', "_", text)
    return '"{}"'.format(safe.replace("%", "%%"))


def url_word(url: str) -> str:
    """Return a URL as a word; two characters that no URL should have become their escapes."""
    return word(url.replace('"', "%22").replace("\\", "%5C"))


def starting(file: str, program: EmbeddedProgram, arguments: Sequence[str]) -> list[str]:
    """Return the words that start the mounted file, which checks and starts the program."""
    return [*PYTHON, file, program.sha256, *arguments]


def check(command: object) -> None:
    """Refuse a line of a payload that cmd.exe would refuse."""
    if isinstance(command, str) and len(command) > LONGEST:
        raise BadKeyError(
            "run.command",
            f"the command has {len(command):,} characters, and cmd.exe takes {LONGEST:,}; shorten "
            "it, or put it into a file",
        )
