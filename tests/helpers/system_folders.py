# SPDX-License-Identifier: MPL-2.0
"""Where a distribution puts what root uses: Debian's default PATH for a user has none of it."""

import os

FOLDERS = ("/usr/local/sbin", "/usr/sbin", "/sbin")


def with_system_folders(path: str) -> str:
    """The PATH, and after it these folders where it lacks them."""
    folders = path.split(os.pathsep)
    return os.pathsep.join([*folders, *(one for one in FOLDERS if one not in folders)])
