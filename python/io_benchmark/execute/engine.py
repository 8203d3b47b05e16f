# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Calls a container engine and turns its refusals into one line with a log to read."""

import shlex
import tempfile
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from io_benchmark.errors import ContainerError
from io_benchmark.execute.child import StartError, hold_interrupts, started
from io_benchmark.execute.stopping import Stopping, stop
from io_benchmark.execute.stream import read_lines

# A command line that stands in for the engine's name, for hosts where it needs more than that:
# `sudo podman`, `podman --remote`, a wrapper script.
COMMAND_VARIABLE = "IO_BENCHMARK_CONTAINER_ENGINE_COMMAND"

# An engine that takes longer for a small call hangs.
SMALL_CALL_LIMIT_S = 120.0

# Enough to see what a failed build did.
KEPT_LINES = 2000


@dataclass(frozen=True)
class Reply:
    """The output of a call, stdout and stderr together, and its exit code."""

    exit_code: int
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Engine:
    """`podman` or `docker`, or a command from the environment that replaces it."""

    name: str
    command: tuple[str, ...]
    # Where the output of a failed call is kept.
    log_directory: Path
    environment: Mapping[str, str]

    def call(self, *arguments: str) -> Reply:
        """A small call. It is never cut in two: a Ctrl-C meanwhile is obeyed after it."""
        try:
            with hold_interrupts():
                return self.follow(arguments, time.monotonic() + SMALL_CALL_LIMIT_S)
        except TimeoutError:
            raise ContainerError(
                f"{self.name} {arguments[0]}: no answer after {SMALL_CALL_LIMIT_S:g} s; "
                f"check that `{shlex.join((*self.command, 'info'))}` answers"
            ) from None

    def follow(
        self,
        arguments: tuple[str, ...],
        deadline_s: float | None = None,
        on_line: Callable[[bytes], None] = lambda _line: None,
        stopping: Stopping = stop,
    ) -> Reply:
        """A call whose output is handed on by line.

        A Ctrl-C ends it by `stopping`, and so does the deadline, which raises TimeoutError.
        """
        lines: deque[bytes] = deque(maxlen=KEPT_LINES)
        try:
            command = (*self.command, *arguments)
            with started(command, stopping, environment=self.environment) as process:
                for line in read_lines(process.stdout, deadline_s):
                    lines.append(line)
                    on_line(line)
                exit_code = process.wait()
        except StartError as error:
            raise ContainerError(
                f"{self.command[0]}: cannot be started: {error.strerror}; install {self.name}, "
                "or omit --container"
            ) from error
        return Reply(exit_code, tuple(line.decode("utf-8", "replace").rstrip() for line in lines))

    def refusal(self, what: str, reply: Reply, advice: str) -> ContainerError:
        """The error for a call that failed; the end of its output is kept in a file."""
        with tempfile.NamedTemporaryFile(
            mode="w",
            encoding="utf-8",
            dir=self.log_directory,
            prefix=f"io-benchmark-{self.name}-",
            suffix=".log",
            delete=False,
        ) as log:
            log.writelines(f"{line}\n" for line in reply.lines)
        last_line = next(
            (line for line in reversed(reply.lines) if line.strip()), "nothing"
        ).strip()
        return ContainerError(
            f"{what} (exit code {reply.exit_code}): {self.name} printed: {last_line}; {advice}; "
            f"the end of its output is in {log.name}"
        )


def find_engine(name: str, environment: Mapping[str, str], log_directory: Path | None) -> Engine:
    """Return the engine that the environment selects; raise where it does not answer."""
    command = tuple(shlex.split(environment.get(COMMAND_VARIABLE, ""))) or (name,)
    engine = Engine(name, command, log_directory or Path(tempfile.gettempdir()), environment)
    reply = engine.call("version")
    if reply.exit_code != 0:
        raise engine.refusal(
            f"{name} does not work",
            reply,
            f"check that `{shlex.join(command)} version` works for this user",
        )
    return engine
