# SPDX-License-Identifier: MPL-2.0
"""What a user probably meant by a name that is not known."""

from collections.abc import Iterable
from itertools import islice

# Names come from anywhere: comparing more or longer ones would take long, and help nobody.
_MOST_NAMES, _LONGEST_NAME = 1000, 100


def did_you_mean(word: str, names: Iterable[str]) -> str:
    """Return the end of a message, `; did you mean intel?`, or nothing where no name is close."""
    name = closest(word, names)
    return f"; did you mean {name}?" if name else ""


def closest(word: str, names: Iterable[str]) -> str:
    """Return the name that is closest to a word, or nothing; dashes before a name do not count."""
    from difflib import get_close_matches  # noqa: PLC0415 - only mistakes need it

    known = [name for name in islice(names, _MOST_NAMES) if len(name) <= _LONGEST_NAME]
    by_form = {name.lstrip("-").lower(): name for name in reversed(known)}
    close = get_close_matches(word[:_LONGEST_NAME].lstrip("-").lower(), by_form, n=1)
    return by_form[close[0]] if close else ""
