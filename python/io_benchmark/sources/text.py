# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What comes from outside, made fit to stand in one line of a message."""

from io_benchmark.cleaning import printable

LINE_LENGTH = 500
NAME_LENGTH = 200


def one_line(text: str, length: int = LINE_LENGTH) -> str:
    """Printable, one line, and no longer than `length`."""
    shown = printable(text).replace("\n", "?").replace("\t", "?")
    return shown if len(shown) <= length else shown[: length - 1] + "…"


def name(text: str) -> str:
    """A task's label, a worker's name: as above, and short."""
    return one_line(text, NAME_LENGTH)
