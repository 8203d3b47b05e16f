# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Lines from a pipe, under a deadline."""

import os
import time

import pytest

from io_benchmark.execute import stream
from io_benchmark.execute.child import started
from io_benchmark.execute.stopping import stop


@pytest.fixture
def pipe() -> tuple[int, int]:
    """Both ends; the reading one is closed by its stream."""
    return os.pipe()


@pytest.mark.parametrize(
    ("written", "lines"),
    [
        pytest.param(b"", [], id="nothing"),
        pytest.param(b"one\ntwo\n", [b"one\n", b"two\n"], id="whole lines"),
        pytest.param(b"one\n\nlast", [b"one\n", b"\n", b"last"], id="no end at the end"),
        pytest.param(b"50 %\r100 %\n", [b"50 %\r100 %\n"], id="carriage return is no end"),
    ],
)
def test_lines(pipe: tuple[int, int], written: bytes, lines: list[bytes]) -> None:
    """Lines keep their ends; what has none at the end of the output is a line too."""
    os.write(pipe[1], written)
    os.close(pipe[1])
    with os.fdopen(pipe[0], "rb", buffering=0) as reader:
        assert list(stream.read_lines(reader, None)) == lines


def test_nothing_comes_from_no_stream() -> None:
    """A child that was started without a pipe has no lines."""
    assert list(stream.read_lines(None, None)) == []


def test_deadline_gives_what_there_is_then_raises(pipe: tuple[int, int]) -> None:
    """The beginning of a line is not lost, and an open pipe is not waited for."""
    os.write(pipe[1], b"one\nbegun")
    lines = []

    def read() -> None:
        with os.fdopen(pipe[0], "rb", buffering=0) as reader:
            for line in stream.read_lines(reader, time.monotonic() + 0.1):
                lines.append(line)  # noqa: PERF402 - the lines before the exception are wanted

    with pytest.raises(TimeoutError):
        read()
    os.close(pipe[1])
    assert lines == [b"one\n", b"begun"]


def test_deadline_holds_against_endless_output() -> None:
    """A stream that always has something to read ends all the same."""
    lengths_bytes: list[int] = []

    def read() -> None:
        with started(("cat", "/dev/zero"), stop) as process:
            for line in stream.read_lines(process.stdout, time.monotonic() + 0.5):
                lengths_bytes.append(len(line))  # noqa: PERF401 - as above

    with pytest.raises(TimeoutError):
        read()
    # Nor does a line without an end fill the memory.
    assert max(lengths_bytes) <= stream.LINE_LIMIT_BYTES + stream.CHUNK_BYTES
