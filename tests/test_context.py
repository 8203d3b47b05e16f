# SPDX-License-Identifier: MPL-2.0
"""What is shown while results are read."""

import io

from io_benchmark.context import Context


class Terminal(io.StringIO):
    def isatty(self):
        return True


def displayed(stream, steps):
    """Return what is written when these steps come at these times."""
    now_s = 0.0
    with Context(None, stream, stream, {}).progress(lambda: now_s) as progress:
        for now_s, *step in steps:  # noqa: B007 - the clock reads it
            progress(*step)
    return stream.getvalue()


LONG = [
    (0.1, "listing tasks", 0, None),
    (1.5, "listing tasks", 1000, None),
    (2.0, "reading results", 0, 300),
    (2.05, "reading results", 2, 300),
    (18.0, "reading results", 300, 300),
]


def test_one_line_on_a_terminal():
    """Overwritten in place, and gone at the end; a log gets nothing."""
    *lines, last, end = displayed(Terminal(), LONG).split("\r")[1:]
    assert [line.rstrip() for line in lines] == [
        "listing tasks: 1000",
        *(f"reading results: {done} of 300" for done in (0, 300)),
    ]
    assert (last, end) == (" " * len(lines[-1]), "")
    assert displayed(io.StringIO(), LONG) == ""


def test_a_long_line(monkeypatch):
    """It is cut at the end of the terminal's row, where another row would stay."""
    monkeypatch.setenv("COLUMNS", "20")
    shown = displayed(
        Terminal(), [(0, "a" * 10, 0, None), (2, "a" * 15, 12, None), (4, "b" * 16, 1, 2)]
    )
    assert shown.split("\r")[1:3] == ["a" * 15 + ": 12", "b" * 16 + ": …"]


def test_what_is_over_at_once_shows_nothing():
    """A quick command stays quiet."""
    assert displayed(Terminal(), [(0.1, "reading results", 1, 1)]) == ""
