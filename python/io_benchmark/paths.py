# SPDX-License-Identifier: MPL-2.0
"""Paths that a user named: made absolute, refused in one line, and written completely or not at all.

The folder that results are put into is a new one, which is removed when the work is interrupted.

A regular file is replaced in one step, and keeps its mode and its owner. A link stays, and its
target is replaced. A device, a pipe, or the file behind stdout or stderr is written to.
"""

import os
import secrets
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from io_benchmark.errors import UsageError
from io_benchmark.text import clean

DEFAULT_FOLDER = "io-benchmark-results"
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


def default_output_folder(kind: str) -> Path:
    """Return a name from the kind of work and the time, which no other command chooses."""
    name = time.strftime(f"{kind}-%Y%m%dT%H%M%SZ", time.gmtime())
    return Path(DEFAULT_FOLDER) / f"{name}-{secrets.token_hex(4)}"


@contextmanager
def new_output_folder(wanted: Path | None, kind: str) -> Iterator[Path]:
    """Yield a folder that only this command fills; undo everything after an error or an interruption."""
    folder = wanted if wanted is not None else default_output_folder(kind)
    shown, folder = folder, resolve_path(folder, f"--output {folder}")
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    in_use = folder / ".io-benchmark-in-use"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        filled = any(folder.iterdir())
        if not filled:
            in_use.mkdir()  # fails for the second of two commands
    except OSError as error:
        raise UsageError(
            f"--output {shown}: cannot be created ({error.strerror}); name another folder"
        ) from None
    if filled:
        raise UsageError(
            f"--output {shown}: is not empty, or another command uses it; name a new folder"
        )
    try:
        yield folder
    except BaseException:
        for path in folder.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        for path in missing:
            # Another run may have created a folder next to this one meanwhile: then this one stays.
            with suppress(OSError):
                path.rmdir()
        raise
    shutil.rmtree(in_use, ignore_errors=True)


def write_file(path: Path, data: bytes) -> None:
    """Write a file; raise an OSError where that fails, which leaves a regular file unchanged."""
    try:
        status = path.stat()
    except FileNotFoundError:
        if path.is_symlink():
            path.write_bytes(data)  # the kernel decides whether the link may be followed
        else:
            _replace(path, data, None)
        return
    descriptor = _standard_stream(status)
    if descriptor is None and stat.S_ISREG(status.st_mode):
        # The kernel decides whether it may be changed, and whether a link to it may be followed.
        os.close(os.open(path, os.O_WRONLY | os.O_CLOEXEC))
        _replace(Path(os.path.realpath(path)), data, status)
        return
    if descriptor is None:
        # Fails for a named pipe that no program reads.
        descriptor = os.open(path, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
        os.set_blocking(descriptor, True)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)


def _standard_stream(status: os.stat_result) -> int | None:
    """Return a copy of stdout or stderr if it is this file: its text goes on where data ends."""
    for descriptor in (1, 2):
        with suppress(OSError):  # it is closed
            if os.path.samestat(os.fstat(descriptor), status):
                return os.dup(descriptor)
    return None


def _replace(target: Path, data: bytes, before: os.stat_result | None) -> None:
    # Not named after the target, whose name may be as long as names can be.
    temporary = target.with_name(f".io-benchmark-{os.urandom(8).hex()}")
    # A new file gets the mode that the umask leaves.
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            if before is not None:
                with suppress(PermissionError):
                    os.fchown(descriptor, before.st_uid, before.st_gid)
                os.fchmod(descriptor, stat.S_IMODE(before.st_mode))
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
