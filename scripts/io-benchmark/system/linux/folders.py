# SPDX-License-Identifier: MPL-2.0
"""Folders and files as they are made, owned, locked, replaced and removed."""

import errno
import fcntl
import os
import stat
from contextlib import suppress

# What a place on the command line looks like, and what the message says of it.
PLACE_PATTERN = r"/[^\x00-\x1f\x7f]*"
PLACE_TEXT = "NAME=/absolute/path"
OPEN_TO_ALL = (
    "every user can write there and replace what this run writes; "
    "run `chmod o-w` on it or use another path"
)
# Marks a place that a run made, so that the last run that leaves it removes it.
MADE_HERE = 0o1700
OF_ANOTHER = (
    "belongs to another user (uid %d), who could redirect what this run writes; "
    "run as that user or use another path"
)
TAKEN = "another run writes its result there; wait for it, or use another --output"


def make_marked(path):
    """Make a folder of which is_made_here() is true; FileExistsError if it is there."""
    os.mkdir(path, MADE_HERE)


def is_made_here(path):
    return stat.S_IMODE(os.stat(path).st_mode) == MADE_HERE


def check_owner(path, job):
    """Refuse a folder or link of another user, who could redirect what is written there."""
    for status in (os.lstat(path), os.stat(path)):
        if status.st_uid not in (0, os.geteuid()) and not _is_of_job(path, job):
            raise OSError(errno.EPERM, OF_ANOTHER % status.st_uid, path)


def check_not_open_to_all(path, job):
    """Refuse a folder in which every user can replace what this run writes."""
    mode = os.stat(path).st_mode
    is_open = stat.S_ISDIR(mode) and mode & stat.S_IWOTH and not mode & stat.S_ISVTX
    if is_open and not _is_of_job(path, job):
        raise OSError(errno.EPERM, OPEN_TO_ALL)


def _is_of_job(path, job):
    """Return whether the CI system gave the job this folder.

    Who can write there decides what the job runs. In a container it often belongs to a user of the
    host, or every user can write to it.
    """
    if job is None or job.folder is None:
        return False
    folder, path = os.path.realpath(job.folder), os.path.realpath(path)
    return folder != "/" and os.path.commonpath([folder, path]) == folder


def lock(folder):
    """Return a descriptor by which this run alone holds the folder, until the process ends."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(descriptor)
        raise OSError(error.errno, TAKEN, folder) from None
    except OSError:
        pass  # a file system without locks
    return descriptor


def free_space_bytes(path):
    """Return the free space where the path is, or will be made; 0 where it cannot be read."""
    while not os.path.exists(path) and path != os.path.dirname(path):
        path = os.path.dirname(path)
    try:
        space = os.statvfs(path)
    except OSError:
        return 0
    return space.f_bavail * space.f_frsize


def keep_mode(descriptor, path):
    """Give an open file the mode of the regular file that it will replace, if there is one."""
    with suppress(FileNotFoundError):
        earlier = os.lstat(path)
        if stat.S_ISREG(earlier.st_mode):
            os.fchmod(descriptor, stat.S_IMODE(earlier.st_mode))


replace = os.replace
rename = os.rename
remove = os.unlink


def sharing_violations():
    """Return None: an open file may be removed and replaced."""


def long_path(path):
    """Return a path in which this run can make folders, and find out whether they are there."""
    return path


def remove_tree(path):
    import shutil  # noqa: PLC0415 - measure must not load it

    shutil.rmtree(path)
