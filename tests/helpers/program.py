# SPDX-License-Identifier: MPL-2.0
"""Call the program: in this process, which is quick, or as a process, where that is the subject."""

import io
import json
import logging
import math
import os
import signal
import sys
import warnings
from collections.abc import Mapping
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from io_benchmark import cli, context
from io_benchmark.commands.options.parsers import command_parser
from io_benchmark.process import ERRORS

# The command of the real program, for tests of its process: signals, broken streams, start-up.
PROGRAM = [sys.executable, "-m", "io_benchmark.cli"]


@dataclass(frozen=True)
class Finished:
    """How a call ended."""

    exit_code: int
    stdout: str
    stderr: str


class _Stream(io.TextIOWrapper):
    """Encodes as the program's own streams do."""

    def __init__(self, content: str = "", *, is_terminal: bool = False) -> None:
        self._is_terminal = is_terminal
        data = io.BytesIO(content.encode())
        super().__init__(data, encoding="utf-8", errors=ERRORS, newline="\n")

    def isatty(self) -> bool:
        return self._is_terminal

    def content(self) -> str:
        self.flush()
        written = self.buffer.getvalue()  # type: ignore[attr-defined]
        return str(written.decode())


def run(
    *arguments: str | Path,
    folder: Path | None = None,
    expected: int | None = 0,
    environment: Mapping[str, str] | None = None,
    stdin: str = "",
    on_terminal: bool = False,
) -> Finished:
    """Call the program in this process and expect this exit code; None: any.

    `environment` is added to that of the tests. Everything global is as before afterwards.
    """
    streams = (
        _Stream(stdin, is_terminal=on_terminal),
        _Stream(is_terminal=on_terminal),
        _Stream(is_terminal=on_terminal),
    )
    variables = {**os.environ, **(environment or {})}
    before = _global_state()
    # numpy changes the filters when it is first imported.
    with (
        chdir(folder or Path.cwd()),
        warnings.catch_warnings(),
        # On a slow machine as well, no line of progress comes between.
        patch.object(context, "QUIET_S", math.inf),
    ):
        exit_code = cli.main([str(one) for one in arguments], context.Context(*streams, variables))
    after = _global_state()
    changed = {name: after[name] for name in before if after[name] != before[name]}
    assert not changed, f"the call left {changed}"
    finished = Finished(exit_code, streams[1].content(), streams[2].content())
    assert expected in (None, exit_code), finished.stderr + finished.stdout
    return finished


def parse(command: str, *arguments: str) -> dict[str, Any]:
    """Return what a command line gives, without running the command."""
    streams = context.Context(None, _Stream(), _Stream(), {})
    return vars(command_parser(command, streams).parse_args(arguments))


def _global_state() -> dict[str, Any]:
    """Return what a call could leave behind."""
    umask = os.umask(0o077)
    os.umask(umask)
    program_log = logging.getLogger("io_benchmark")
    return {
        "folder": Path.cwd(),
        "environment": dict(os.environ),
        "handlers": {number: signal.getsignal(number) for number in signal.valid_signals()},
        "streams": (sys.stdin, sys.stdout, sys.stderr),
        "path": list(sys.path),
        "logging": (list(logging.getLogger().handlers), program_log.level, program_log.handlers),
        "umask": umask,
    }


def document(*arguments: str | Path, **options: Any) -> dict[str, Any]:
    """Return the report that a call prints as JSON."""
    report: dict[str, Any] = json.loads(run(*arguments, "--json", **options).stdout)
    return report


def compare(*results: Path | str, expected: int = 0) -> dict[str, Any]:
    """Return the comparison of these result files; options come last."""
    return document("compare", *results, expected=expected)
