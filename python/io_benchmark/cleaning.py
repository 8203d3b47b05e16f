# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What comes from outside, made fit to be printed: the only place that decides what is printed."""

import re

# A user's name and password in a URL, also where a slash in the password ends the host too soon.
_USER_INFORMATION = re.compile(r"(?<=//)(?:[^\s/?#@]*|[^\s/?#:@]*:[^\s@]*)@", re.ASCII)
_KEPT = frozenset("\n\t")


def printable(text: str) -> str:
    """Every control, every invisible and every direction character as '?'; no user information.

    Lines stay lines. What Python does not call printable has no shape of its own on a terminal:
    escapes, bidirectional controls, zero-width characters, lone surrogates, private characters.
    """
    if "@" in text:
        text = _USER_INFORMATION.sub("…@", text)
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() or character in _KEPT else "?" for character in text
    )
