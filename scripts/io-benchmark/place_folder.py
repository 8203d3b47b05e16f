# SPDX-License-Identifier: MPL-2.0
"""The folder of one run in a place: checked, made if it is missing, removed at the end."""

import errno
import os
import shutil
import stat
import tempfile

import ci

# Marks a place that a run made, so that the last run that leaves it removes it.
MADE_HERE = 0o1700
OPEN_TO_ALL = (
    "every user can write there and replace what this run writes; "
    "run `chmod o-w` on it or use another path"
)
NO_FOLDERS = "no folder can be made there; use a path on a disk"
OF_ANOTHER = (
    "belongs to another user (uid %d), who could redirect what this run writes; "
    "run as that user or use another path"
)


def claim(path, attempts=10):
    """Make a new folder in the place, for this run alone; return its path."""
    try:
        os.mkdir(path, MADE_HERE)
    except FileExistsError:
        check_owner(path)
        mode = os.stat(path).st_mode
        is_open = stat.S_ISDIR(mode) and mode & stat.S_IWOTH and not mode & stat.S_ISVTX
        if is_open and not _is_of_job(path):
            raise OSError(errno.EPERM, OPEN_TO_ALL) from None
    try:
        return tempfile.mkdtemp(prefix="io-benchmark-", dir=path)
    except FileNotFoundError:
        if not attempts:
            raise OSError(errno.ENOENT, NO_FOLDERS) from None
        return claim(path, attempts - 1)  # another run has just removed the place
    except OSError:
        _remove_if_made_here(path)
        raise


def leave(folder, path):
    shutil.rmtree(folder)
    _remove_if_made_here(path)


def _remove_if_made_here(path):
    try:
        if stat.S_IMODE(os.stat(path).st_mode) == MADE_HERE:
            os.rmdir(path)
    except OSError as error:
        # Another run works there, or has removed it.
        if error.errno not in (errno.ENOTEMPTY, errno.ENOENT):
            raise


def check_owner(path):
    """Refuse a folder or link of another user, who could redirect what is written there."""
    for status in (os.lstat(path), os.stat(path)):
        if status.st_uid not in (0, os.geteuid()) and not _is_of_job(path):
            raise OSError(errno.EPERM, OF_ANOTHER % status.st_uid, path)


def _is_of_job(path):
    """Return whether the CI system gave the job this folder: who can write there decides what the job runs.

    In a container it often belongs to a user of the host, or every user can write to it.
    """
    folder = ci.work_folder()
    if folder is None:
        return False
    folder, path = os.path.realpath(folder), os.path.realpath(path)
    return folder != "/" and os.path.commonpath([folder, path]) == folder
