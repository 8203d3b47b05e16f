# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What comes from outside, made fit to stand in one line of a message."""

import re

LINE_LENGTH = 500
NAME_LENGTH = 200
_NOT_PRINTABLE = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)


def one_line(text: str, length: int = LINE_LENGTH) -> str:
    """No control characters, no terminal escapes, no reversal of the text's direction."""
    shown = _NOT_PRINTABLE.sub("?", text).encode("utf-8", "replace").decode("utf-8")
    return shown if len(shown) <= length else shown[: length - 1] + "…"


def name(text: str) -> str:
    """A task's label, a worker's name: as above, and short."""
    return one_line(text, NAME_LENGTH)
