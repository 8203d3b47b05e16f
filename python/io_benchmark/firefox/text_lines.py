# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Text as lines that keep their own ends, so that what is not edited stays as it is."""

import re
from collections.abc import Sequence
from pathlib import Path

from io_benchmark.errors import IoBenchmarkError

_LINE = re.compile(r"[^\n]*\n|[^\n]+")


def decode(data: bytes, path: Path | str) -> str:
    """Return the text of a file; raise an IoBenchmarkError where it is not UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise IoBenchmarkError(
            f"{path}: is not UTF-8 at byte {error.start}; save it as UTF-8"
        ) from None


def split(text: str) -> list[str]:
    """Split into lines with their ends. `str.splitlines` would also split at form feeds and the like."""
    return _LINE.findall(text)


def _end(lines: Sequence[str], at: int) -> str:
    """Return the line end in use around a place."""
    near = [*reversed(lines[:at]), *lines[at:]]
    return next(("\r\n" if line.endswith("\r\n") else "\n" for line in near if "\n" in line), "\n")


def replace_lines(lines: Sequence[str], start: int, stop: int, new: Sequence[str]) -> str:
    """Return the text with `new` (lines without ends) in place of lines `start` to `stop`."""
    end = _end(lines, start)
    before = list(lines[:start])
    if new and before and not before[-1].endswith("\n"):
        before[-1] += end
    return "".join([*before, *(line + end for line in new), *lines[stop:]])


def normalize_line_ends(data: bytes) -> bytes:
    """Convert line ends to LF; a checkout may have converted them."""
    return data.replace(b"\r\n", b"\n")
