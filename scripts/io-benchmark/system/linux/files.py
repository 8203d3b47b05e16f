# SPDX-License-Identifier: MPL-2.0
"""How files are opened, written through and past the page cache, and unpacked."""

import os

DIRECT_METHOD = "python-o-direct"
DIRECT_REFUSED = "O_DIRECT is refused here: %s"
# Archives that tasks of this system unpack by Python, besides the workload's own tar.
ARCHIVES = ()
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL


def open_new(path):
    """Make a file that must not exist."""
    return os.open(path, _NEW, 0o600)


def open_to_append(path, *, is_synced):
    """Make a file; with is_synced, each write returns when the disk has it."""
    return os.open(path, _NEW | os.O_APPEND | (os.O_DSYNC if is_synced else 0), 0o600)


def open_synced(path):
    """Open a file of which each write returns when the disk has it."""
    return os.open(path, os.O_WRONLY | os.O_DSYNC)


def sync_block_bytes(_path):
    """Return how many bytes a synced write has."""
    return 512


sync = os.fsync
write_at = os.pwrite


def read_at(descriptor, buffer, offset):
    os.preadv(descriptor, (buffer,), offset)


def open_direct(path, *, writes):
    """Open a file past the page cache."""
    return os.open(path, (os.O_WRONLY if writes else os.O_RDONLY) | os.O_DIRECT)


def finish_unpacked(descriptor, mode, modified_s):
    """Give an open file its mode and its time."""
    os.fchmod(descriptor, mode)
    os.utime(descriptor, (modified_s, modified_s))
