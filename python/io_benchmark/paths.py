# SPDX-License-Identifier: MPL-2.0
"""Paths that a user named: made absolute, refused in one line, written completely or not at all.

The folder that results are put into is a new one, which is removed when the work is interrupted. A
regular file is replaced in one step, and keeps its mode. A link, a device or a pipe is written to.
"""

import os
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from io_benchmark.errors import IoBenchmarkError, UsageError
from io_benchmark.files import replace_file
from io_benchmark.text import clean_name

DEFAULT_FOLDER = "io-benchmark-results"


@contextmanager
def refuse_unreadable(subject: str, advice: str) -> Iterator[None]:
    """Turn the system's refusal of a path into a usage error that begins with `subject`."""
    try:
        yield
    except (OSError, RuntimeError, ValueError) as error:
        # pathlib raises the others: a loop of links, `~` of an unknown user, a null byte.
        reason = getattr(error, "strerror", None) or error
        problem = f"cannot read this path ({reason})"
        raise UsageError(f"{clean_name(subject)}: {problem}; {advice}") from None


@contextmanager
def explain_refusal(subject: str, advice: str) -> Iterator[None]:
    """Turn the system's refusal into an error: what it refuses, its reason, and what to do."""
    try:
        yield
    except OSError as error:
        raise IoBenchmarkError(f"{subject}: {error.strerror}; {advice}") from error


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


def default_output_folder(kind: str) -> Path:
    """Return a name from the kind of work and the time, which no other command chooses."""
    name = time.strftime(f"{kind}-%Y%m%dT%H%M%SZ", time.gmtime())
    return Path(DEFAULT_FOLDER) / f"{name}-{secrets.token_hex(4)}"


@contextmanager
def new_output_folder(path: Path) -> Iterator[Path]:
    """Yield a new folder; undo everything after an error or an interruption."""
    folder = resolve_path(path, f"--output {path}")
    missing = [parent for parent in folder.parents if not parent.exists()]
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        problem = f"cannot be created ({error.strerror}); name a new folder"
        raise UsageError(f"--output {path}: {problem}") from None
    try:
        yield folder
    except BaseException:
        shutil.rmtree(folder)
        for parent in missing:
            # Another run may have created a folder next to this one meanwhile: then this one stays.
            with suppress(OSError):
                parent.rmdir()
        raise


def write_file(path: Path, data: bytes) -> None:
    """Write a file; raise an OSError where that fails, which leaves a regular file unchanged."""
    if path.is_symlink() or (path.exists() and not path.is_file()):
        path.write_bytes(data)
    else:
        replace_file(path, data)
