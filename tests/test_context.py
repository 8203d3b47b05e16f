# SPDX-License-Identifier: MPL-2.0
"""What is shown while results are read."""

import io

import pytest

from io_benchmark.context import Context
from io_benchmark.sources.protocol import ReadProgress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def shown(stream, steps):
    """What is written when these steps come at these times."""
    now = 0.0

    def clock():
        return now

    with Context(None, stream, stream, {}).progress(clock) as progress:
        for at, step in steps:
            now = at
            progress(step)
    return stream.getvalue()


LONG = [
    (0.1, ReadProgress("listing tasks", 0, None)),
    (1.5, ReadProgress("listing tasks", 1000, None)),
    (2.0, ReadProgress("reading results", 0, 300)),
    (6.0, ReadProgress("reading results", 2, 300)),
    (12.0, ReadProgress("reading results", 100, 300)),
    (13.0, ReadProgress("reading results", 120, 300)),
    (18.0, ReadProgress("reading results", 300, 300)),
]


def test_whole_lines_where_they_stay():
    """Counts and time left, every few seconds, as a log wants it."""
    assert shown(io.StringIO(), LONG) == (
        "listing tasks: 1000\n"
        "[100/300] reading results, about 20 s left\n"
        "[300/300] reading results\n"
    )


def test_one_line_on_a_terminal():
    """Overwritten in place, and gone at the end."""
    text = shown(Terminal(), LONG)
    assert "\n" not in text
    assert text.split("\r")[1] == "listing tasks: 1000"
    assert "[100/300] reading results, about 20 s left" in text
    assert "[  2/300] reading results" in text
    last = text.rpartition("\r")[0].rpartition("\r")[2]
    assert last.strip() == ""
    assert len(last) >= len("[300/300] reading results")


@pytest.mark.parametrize("stream", [io.StringIO(), Terminal()], ids=["lines", "terminal"])
def test_what_is_over_at_once_shows_nothing(stream):
    """A quick command stays quiet."""
    assert shown(stream, [(0.1, ReadProgress("reading results", 1, 1))]) == ""
