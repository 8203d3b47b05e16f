# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Write to a path that a user named: a file completely or not at all.

A regular file is replaced in one step, and keeps its mode and its owner. A link stays, and its
target is replaced. A device or a pipe is written to. A regular file behind a name such as /dev/stdout
is refused: replacing it would lose what else is written there.
"""

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path

_DESCRIPTORS = ("/dev/fd/", "/dev/std", "/proc/")


def write_file(path: Path, data: bytes) -> None:
    """Write a file; raise an OSError where that fails, which leaves a regular file unchanged."""
    try:
        status = path.stat()
    except FileNotFoundError:
        _create(path, data)
        return
    if not stat.S_ISREG(status.st_mode):
        _write_to(path, data)
        return
    if str(path).startswith(_DESCRIPTORS):
        raise OSError(errno.EINVAL, "is an open file; give the file's own name, or print to stdout")
    # The kernel decides whether it may be changed, and whether a link to it may be followed.
    os.close(os.open(path, os.O_WRONLY | os.O_CLOEXEC))
    _replace(Path(os.path.realpath(path)), data, status)


def _write_to(path: Path, data: bytes) -> None:
    """Write to a device or a pipe; fail for a named pipe that no program reads."""
    descriptor = os.open(path, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    os.set_blocking(descriptor, True)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)


def _create(path: Path, data: bytes) -> None:
    if not path.is_symlink():
        _replace(path, data, None)
        return
    # A link to a missing file: again the kernel decides whether it may be followed.
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o666))
    target = Path(os.path.realpath(path))
    try:
        _replace(target, data, None)
    except BaseException:
        target.unlink(missing_ok=True)
        raise


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
