# SPDX-License-Identifier: MPL-2.0
"""The signals and standard streams of this process: neither ends a command without a clean-up.

Ctrl-C, SIGTERM and SIGHUP stop a command wherever it is. A stream may be closed, full, or left by
its reader: what cannot be printed is dropped, and the first reason is kept. A command then still
writes its files and ends as it should, and `cli` decides on the exit code.
"""

import io
import os
import select
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TextIO

# These ask for what Ctrl-C does: that the program cleans up on its way out.
TERMINATING = (signal.SIGTERM, signal.SIGHUP)
ERRORS = "replace"  # characters that the encoding does not have are question marks
_STDOUT, _STDERR = 1, 2


class Terminated(KeyboardInterrupt):
    """A signal other than Ctrl-C."""

    def __init__(self, number: int = signal.SIGTERM) -> None:
        super().__init__()
        self.exit_code = 128 + number  # as a shell shows it


@contextmanager
def _handled(
    numbers: Iterable[int], handler: Callable[[int, FrameType | None], None]
) -> Iterator[None]:
    """Handle signals in this block, but none that the program's parent ignores, as nohup does."""
    previous = {
        number: signal.signal(number, handler)
        for number in numbers
        if signal.getsignal(number) != signal.SIG_IGN
    }
    try:
        yield
    finally:
        for number, before in previous.items():
            signal.signal(number, before)


@contextmanager
def interruptions() -> Iterator[None]:
    """Let SIGTERM and SIGHUP raise as Ctrl-C does in this block."""
    stopping = False

    def terminate(number: int, _frame: FrameType | None) -> None:
        nonlocal stopping
        # A terminal that closes sends SIGHUP more than once, and a service manager sends both. A
        # second signal must not interrupt the clean-up.
        if number == signal.SIGHUP and stopping:
            return
        stopping = True
        raise Terminated(number)

    with _handled(TERMINATING, terminate):
        yield


@contextmanager
def hold_interrupts() -> Iterator[None]:
    """Deliver SIGINT, SIGTERM and SIGHUP after the block, which must not be left half done."""
    held: list[int] = []
    with _handled((signal.SIGINT, *TERMINATING), lambda number, _frame: held.append(number)):
        yield
    for number in held:
        signal.raise_signal(number)


class _Output(io.RawIOBase):
    """Writes to a descriptor until that fails; then it accepts everything and writes nothing."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.failure: OSError | None = None

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def isatty(self) -> bool:
        return os.isatty(self._descriptor)

    def write(self, data) -> int:  # type: ignore[no-untyped-def]  # noqa: ANN001 - any buffer
        while self.failure is None:
            try:
                return os.write(self._descriptor, data)
            except BlockingIOError:
                # Another program that has the same pipe open has made it non-blocking.
                select.select([], [self._descriptor], [])
            except OSError as error:
                self.failure = error
        return len(data)


def replace_standard_streams() -> _Output:
    """Make stdout and stderr such streams; return what is below stdout."""
    # Closed descriptors are opened, so that no later file gets their number; stdout still fails.
    for descriptor, flags in enumerate((os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(descriptor)
        except OSError:
            # The lowest number that is free is this one.
            os.set_inheritable(os.open(os.devnull, flags), True)
    output = _Output(_STDOUT)
    sys.stdout = _stream(sys.stdout, output)
    sys.stderr = _stream(sys.stderr, _Output(_STDERR))
    return output


def _stream(present: TextIO | None, output: _Output) -> TextIO:
    return io.TextIOWrapper(
        io.BufferedWriter(output),
        encoding="utf-8" if present is None else present.encoding,
        errors=ERRORS,
        line_buffering=output.fileno() == _STDERR or output.isatty(),
    )
