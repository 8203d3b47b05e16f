# SPDX-License-Identifier: MPL-2.0
"""Lines of a task's log, and the prefixes and stamps that they begin with.

Anything may be in a log, so that a line has a bound, and what is no date is not a stamp.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from msgspec import Struct

# The command that a worker repeats may have 100 kB in one line; what matters is at its begin.
_LINE_BYTES = 64 * 1024
STAMP = (
    rb"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?"
    rb"(?:Z|[+-][0-9]{2}:[0-9]{2})"
)
# Colors, which a command on the terminal of a container may leave switched on.
ESCAPES = rb"(?:\x1b\[[0-9;?]*[A-Za-z])*"
_PREFIX = re.compile(
    rb"\[([a-z][a-z-]{0,30})(?::([a-z]{1,10}))? (" + STAMP + rb")\] ?(.*)", re.DOTALL
)
_ESCAPES = re.compile(ESCAPES)
_YEARS = range(2000, 2100)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_GO_DURATION = re.compile(rb"(?:[0-9]{1,9}(?:\.[0-9]{1,9})?(?:h|ms|m|s|\xc2\xb5s|us|ns)){1,6}")
_GO_PART = re.compile(rb"([0-9.]+)(h|ms|m|s|\xc2\xb5s|us|ns)")
_GO_UNITS_NS = {
    b"h": 3600 * 10**9,
    b"m": 60 * 10**9,
    b"s": 10**9,
    b"ms": 10**6,
    b"us": 10**3,
    b"\xc2\xb5s": 10**3,
    b"ns": 1,
}


class StampedLine(NamedTuple):
    writer: bytes  # taskcluster, setup, vcs, task, …
    level: bytes  # of the worker: warn, error; else empty
    time_ns: int
    has_space: bool  # within the stamp, as docker-worker writes it
    message: bytes


class LineSplitter(Struct):
    """Makes lines of a stream; what is too much of one is left out."""

    position: int = 0  # in the stream, behind the newest line
    size_bytes: int = 0  # of the stream so far
    _rest: bytes = b""

    def lines(self, part: bytes) -> Iterator[bytes]:
        """Yield the lines that end in this part of the stream, without their ends."""
        self.position = self.size_bytes
        self.size_bytes += len(part)
        *pieces, rest = part.split(b"\n")
        for piece in pieces:
            self.position += len(piece) + 1
            line, self._rest = self._rest + piece, b""
            yield _visible(line[:_LINE_BYTES])
        self._rest = (self._rest + rest)[:_LINE_BYTES]

    def last(self) -> bytes:
        """Return the line that the stream ended in."""
        rest, self._rest = self._rest, b""
        return _visible(rest)


def _visible(line: bytes) -> bytes:
    """Return what a terminal shows of a line at last: progress is written over itself."""
    line = line.rstrip(b"\r")
    if b"\r" in line:
        line = line[line.rfind(b"\r") + 1 :]
    if line.startswith(b"\x1b"):
        line = _ESCAPES.sub(b"", line, count=1)
    return line


def parse_line(line: bytes) -> StampedLine | None:
    """Return a line that begins with a writer and a stamp; None for any other."""
    match = _PREFIX.match(line)
    if match is None:
        return None
    time_ns = parse_stamp(match[3])
    if time_ns is None:
        return None
    return StampedLine(match[1], match[2] or b"", time_ns, match[3][10:11] == b" ", match[4])


def parse_stamp(stamp: bytes) -> int | None:
    """Return nanoseconds since 1970; None where it is not a date of a task."""
    try:
        moment = datetime.fromisoformat(stamp.decode("ascii"))
        if moment.year not in _YEARS:
            return None
        return (moment - _EPOCH) // timedelta(microseconds=1) * 1000
    except (ValueError, OverflowError):
        return None


def queue_text(time_ns: int) -> str:
    """Write a time as the queue does: UTC, milliseconds, Z."""
    moment = _EPOCH + timedelta(milliseconds=time_ns // 10**6)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse_go_duration(words: bytes) -> int | None:
    """Return the nanoseconds of a duration as Go writes it, such as 1m19.345s."""
    if not _GO_DURATION.fullmatch(words):
        return None
    return round(sum(float(value) * _GO_UNITS_NS[unit] for value, unit in _GO_PART.findall(words)))
