# SPDX-License-Identifier: MPL-2.0
"""Standard streams that take everything, whatever becomes of it."""

import os
import threading

import pytest

from io_benchmark.process import ERRORS, _Output


def test_the_first_failure_is_kept() -> None:
    """A full device fails once; what comes after is dropped, and nothing is raised."""
    descriptor = os.open("/dev/full", os.O_WRONLY)
    try:
        output = _Output(descriptor)
        assert output.write(b"first") == 5
        failure = output.failure
        assert output.write(b"second") == 6
        assert failure is not None
        assert (failure.strerror, output.failure) == ("No space left on device", failure)
    finally:
        os.close(descriptor)


def test_a_pipe_that_does_not_block() -> None:
    """Another program has set it so: everything arrives all the same."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    data, received = b"x" * 1_000_000, bytearray()

    def read() -> None:
        while chunk := os.read(reader, 65536):
            received.extend(chunk)

    thread = threading.Thread(target=read)
    thread.start()
    output, left = _Output(writer), memoryview(data)
    while left:
        left = left[output.write(left) :]
    os.close(writer)
    thread.join()
    os.close(reader)
    assert (bytes(received), output.failure) == (data, None)


@pytest.mark.parametrize(
    ("encoding", "expected"),
    [
        pytest.param("ascii", b"1.92? \xff", id="ascii"),
        pytest.param("utf-8", "1.92× ".encode() + b"\xff", id="UTF-8"),
        pytest.param("latin-1", b"1.92\xd7 ?", id="Latin-1"),
        pytest.param("utf-16-le", "1.92× ?".encode("utf-16-le"), id="UTF-16"),
    ],
)
def test_what_the_encoding_has_not(encoding: str, expected: bytes) -> None:
    """A question mark; the bytes of a file's name stay what they are where that is possible."""
    assert "1.92× \udcff".encode(encoding, ERRORS) == expected
