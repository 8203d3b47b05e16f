# SPDX-License-Identifier: MPL-2.0
"""Texts that a file may hold: results are public, and a URL may hold a password."""

import re

_USER_INFO = re.compile(r"(?<=://)[^/?#\s]*(?=@)")


def has_password(text):
    """Return whether a URL in the text has a user or a password, or `***` in their place."""
    return _USER_INFO.search(text) is not None


def without_passwords(text):
    """Return the text with `***` in place of the user and the password of each URL."""
    return _USER_INFO.sub("***", text) if "@" in text else text
