# SPDX-License-Identifier: MPL-2.0
"""What only the profile of a command needs: counts of syncs, and pipes to write it into."""

import errno
import os

from system.linux.kernel import first_int
from system.linux.storage import mount_table

NO_READER = "no program reads this pipe; start one before, or use a file"


def requested_commits(place):
    """Return how many commits of the place's journal were requested, by syncs for the most part."""
    for device in place.get("devices", [])[:1]:
        return first_int(r"\((\d+) requested\)", "/proc/fs/jbd2/%s-8/info" % device["name"])
    return None


def is_without_barriers(place):
    options = [place["mount"]["super_options"]]
    numbers = [device["number"] for device in place["devices"]]
    options += [mount.super_options for mount in mount_table() if mount.device in numbers]
    return any({"nobarrier", "barrier=0"} & set(words.split(",")) for words in options)


def is_stream(target):
    """Return whether this is a pipe or device; OSError for a file that may not be changed."""
    if os.path.isfile(target):
        os.close(os.open(target, os.O_WRONLY))  # the kernel decides whether it may be changed
        return False
    return os.path.lexists(target)


def write_to_stream(target, path, data):
    """Write to a pipe or device, which the message calls `path`."""
    try:
        descriptor = os.open(target, os.O_WRONLY | os.O_NONBLOCK)
    except OSError as error:
        if error.errno != errno.ENXIO:
            raise
        raise OSError(error.errno, NO_READER, path) from None
    os.set_blocking(descriptor, True)
    with open(descriptor, "wb") as file:
        file.write(data)
