# SPDX-License-Identifier: MPL-2.0
"""Write to a path that a user named: a file completely or not at all.

A regular file is replaced in one step, and keeps its mode and its owner. A link stays, and its
target is replaced. A device, a named pipe or a file that this process has already opened, such as
/dev/stdout, is opened and written.
"""

import errno
import fcntl
import os
import stat
import time
from contextlib import suppress
from pathlib import Path

_DESCRIPTORS = Path("/proc/self/fd")
# The reader of a named pipe may start after this program.
_READER_WITHIN_S = 2.0
_POLL_INTERVAL_S = 0.02


def write_file(path: Path, data: bytes) -> None:
    """Write a file; raise an OSError where that fails, which leaves a regular file unchanged."""
    try:
        status = path.stat()
    except FileNotFoundError:
        _create(path, data)
        return
    descriptor = _opened_descriptor(status)
    if descriptor is None and stat.S_ISREG(status.st_mode):
        # The kernel decides whether it may be changed, and whether a link to it may be followed.
        os.close(os.open(path, os.O_WRONLY | os.O_CLOEXEC))
        _replace(Path(os.path.realpath(path)), data, status)
        return
    if descriptor is None:
        descriptor = _open(path, status)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)


def _opened_descriptor(status: os.stat_result) -> int | None:
    """Return a copy of the descriptor through which this process already writes to the file."""
    for descriptor in [int(path.name) for path in _DESCRIPTORS.iterdir()]:
        with suppress(OSError):  # the descriptor that listed the folder is closed
            mode = fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE
            if mode != os.O_RDONLY and os.path.samestat(os.fstat(descriptor), status):
                return os.dup(descriptor)
    return None


def _open(path: Path, status: os.stat_result) -> int:
    if not stat.S_ISFIFO(status.st_mode):
        return os.open(path, os.O_WRONLY | os.O_NOCTTY | os.O_CLOEXEC)
    until_s = time.monotonic() + _READER_WITHIN_S
    while True:
        try:
            # Without O_NONBLOCK this would wait for ever.
            descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            if time.monotonic() > until_s:
                raise OSError(error.errno, "no program reads this named pipe") from None
            time.sleep(_POLL_INTERVAL_S)
        else:
            os.set_blocking(descriptor, True)
            return descriptor


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
