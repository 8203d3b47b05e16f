# SPDX-License-Identifier: MPL-2.0
"""Paths as a user gives them, made absolute; a path that cannot be read becomes one line."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from io_benchmark.errors import UsageError
from io_benchmark.text import clean

_SHOWN_LENGTH = 200


@contextmanager
def refuse_unreadable(subject: str, advice: str) -> Iterator[None]:
    """Turn the system's refusal of a path into a usage error that begins with `subject`."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
    except (RuntimeError, ValueError) as error:
        # pathlib: a loop of links, `~` of an unknown user, a null byte.
        reason = str(error)
    else:
        return
    raise UsageError(f"{clean(subject, _SHOWN_LENGTH)}: cannot read this path ({reason}); {advice}")


def current_folder() -> Path:
    """Return the folder that this program was started in; raise a UsageError if it was removed."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise UsageError("the current folder was removed; go to another folder") from None


def resolve_path(path: Path, subject: str) -> Path:
    """Return an absolute path without links and ~; it need not exist.

    Raise a UsageError that begins with `subject` where the system cannot follow the path: a name
    that is too long, links in a loop, a folder that this user may not search.
    """
    # Path.expanduser and Path.resolve raise a RuntimeError for ~nobody and for a loop.
    expanded = Path(os.path.expanduser(path))  # noqa: PTH111
    if not expanded.is_absolute():
        expanded = current_folder() / expanded
    target = Path(os.path.realpath(expanded))
    absent = suppress(FileNotFoundError, NotADirectoryError)
    with refuse_unreadable(subject, "name another folder"), absent:
        target.stat()
    return target
