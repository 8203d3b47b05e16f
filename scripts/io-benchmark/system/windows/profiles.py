# SPDX-License-Identifier: MPL-2.0
"""What only the profile of a command needs; Windows counts no syncs."""

import os


def requested_commits(_place):
    """Return None: no file system here counts what its syncs requested."""


def is_without_barriers(_place):
    """Return None: whether a disk may keep what was flushed is not known."""


def is_stream(target):
    """Return whether this is a pipe or device; OSError for a file that may not be changed."""
    if os.path.isfile(target):
        os.close(os.open(target, os.O_WRONLY))  # the system decides whether it may be changed
        return False
    return os.path.lexists(target)


def write_to_stream(_target, path, data):
    with open(path, "wb") as file:
        file.write(data)
