# SPDX-License-Identifier: MPL-2.0
"""Files that anybody may have made: read if regular and small, written below one folder only.

Each refusal is an OSError: its `strerror` says why, as the system's own refusals do.
"""

import errno
import fcntl
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from io_benchmark.number_text import size

# Memory for the limit, which few files reach, takes longer than reading the file.
_LEAST_STEP_BYTES = 64 * 1024
_UNFINISHED = ".io-benchmark-unfinished-"
# A folder to write into need not be readable; only Linux knows this flag.
_FOLDER = os.O_DIRECTORY | getattr(os, "O_PATH", os.O_RDONLY)


class FileTooLargeError(OSError):
    """A file has more bytes than its reader takes."""


def read_file(path: Path, most_bytes: int) -> bytes:
    """Return what a regular file contains; raise an OSError for any other and for a larger one."""
    with open_regular(path) as descriptor:
        step = max(os.fstat(descriptor).st_size + 1, _LEAST_STEP_BYTES)
        content = bytearray()
        # One byte more than the limit shows that there is more.
        while chunk := os.read(descriptor, min(step, most_bytes + 1 - len(content))):
            content += chunk
            if len(content) > most_bytes:
                reason = f"is larger than {size(most_bytes)}"
                raise FileTooLargeError(errno.EFBIG, reason, str(path))
        return bytes(content)


@contextmanager
def open_regular(path: Path) -> Iterator[int]:
    """Yield the descriptor of a regular file to read; raise an OSError for any other.

    A pipe or a device might never end, and opening one may already do something.
    """
    _check_regular(path.stat(), path)
    # Another file may have taken its place: then a pipe is not waited for.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    try:
        _check_regular(os.fstat(descriptor), path)
        yield descriptor
    finally:
        os.close(descriptor)


def _check_regular(status: os.stat_result, path: Path) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "is not a regular file", str(path))


def find_link(folder: Path, path: str) -> Path | None:
    """Return the first link on the way from a folder to a file below it."""
    place = folder
    for part in PurePosixPath(path).parts:
        place /= part
        if place.is_symlink():
            return place
    return None


def write_below(folder: Path, path: str, data: bytes) -> None:
    """Write a file below a folder in one step, and make its folders; refuse a link on the way."""
    link = find_link(folder, path)
    if link is not None:
        raise OSError(errno.ELOOP, f"{link.name} is a link", str(link))
    *parents, name = PurePosixPath(path).parts
    with _open_below(folder, parents, is_made=True) as descriptor:
        _replace_in(descriptor, name, data)


def remove_below(folder: Path, path: str) -> None:
    """Remove a file below a folder, or a link in its place."""
    *parents, name = PurePosixPath(path).parts
    with _open_below(folder, parents, is_made=False) as descriptor:
        os.unlink(name, dir_fd=descriptor)


@contextmanager
def _open_below(folder: Path, parents: list[str], *, is_made: bool) -> Iterator[int]:
    """Yield the descriptor of a folder below another; follow no link, even one made meanwhile."""
    descriptor = os.open(folder, _FOLDER)
    try:
        for part in parents:
            if is_made:
                with suppress(FileExistsError):
                    os.mkdir(part, dir_fd=descriptor)
            below = os.open(part, _FOLDER | os.O_NOFOLLOW, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = below
        yield descriptor
    finally:
        os.close(descriptor)


def replace_file(path: Path, data: bytes) -> None:
    """Write a file in one step; one that is there keeps its mode.

    Raise an OSError where that fails, or where the path is not a regular file's.
    """
    folder = os.open(path.parent, _FOLDER)
    try:
        _replace_in(folder, path.name, data)
    finally:
        os.close(folder)


def _replace_in(folder: int, name: str, data: bytes) -> None:
    mode = None
    with suppress(FileNotFoundError):
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    if mode is not None:
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), name)
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "is not a regular file", name)
        # The kernel decides whether it may be changed.
        flags = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK
        os.close(os.open(name, flags, dir_fd=folder))
    _remove_unfinished(folder)
    temporary, descriptor = _new_file(folder)
    try:
        # The lock ends with the file, after it has its name.
        with open(descriptor, "wb") as file:  # noqa: PTH123
            file.write(data)
            file.flush()
            if mode is not None:
                os.fchmod(file.fileno(), stat.S_IMODE(mode))
            os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=folder)
        raise


def _new_file(folder: int) -> tuple[str, int]:
    """Return the name and the descriptor of a new file, locked as long as it is open."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    while True:
        # Not named after the target, whose name may be as long as names can be.
        name = f"{_UNFINISHED}{secrets.token_hex(8)}"
        descriptor = os.open(name, flags, 0o666, dir_fd=folder)
        with suppress(OSError):  # a file system without locks
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(descriptor).st_nlink:
            return name, descriptor
        # Another process took it, before it was locked, for one that a killed process left.
        os.close(descriptor)


def _remove_unfinished(folder: int) -> None:
    """Remove the files that killed processes left: nobody holds their locks."""
    names: list[str] = []
    with suppress(OSError):  # a folder that cannot be listed
        listed = os.open(".", os.O_RDONLY | os.O_DIRECTORY, dir_fd=folder)
        try:
            # A descriptor, which no Path takes.
            every_name = os.listdir(listed)  # noqa: PTH208
            names = [name for name in every_name if name.startswith(_UNFINISHED)]
        finally:
            os.close(listed)
    for name in names:
        with suppress(OSError):
            flags = os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK
            descriptor = os.open(name, flags, dir_fd=folder)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.unlink(name, dir_fd=folder)
            finally:
                os.close(descriptor)
