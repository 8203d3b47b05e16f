# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Paths as a user gives them, made absolute."""

import os
from pathlib import Path

from io_benchmark.errors import UsageError


def current_folder() -> Path:
    """The folder that this program was started in, or a UsageError where that is gone."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise UsageError("the current folder has been removed; go to another one") from None


def resolved(path: Path, option: str) -> Path:
    """Without links and ~; whether there is anything at it, the caller says.

    Raise a UsageError that begins with the option where nobody can look: a name that is too long,
    links in a circle, a folder that this user may not search.
    """
    # Path.expanduser and Path.resolve raise a RuntimeError for ~nobody and for a circle.
    given = Path(os.path.expanduser(path))  # noqa: PTH111
    whole = Path(os.path.realpath(given if given.is_absolute() else current_folder() / given))
    try:
        whole.stat()
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError as error:
        raise UsageError(f"{option}: {error.strerror}; name another folder") from None
    return whole
