# SPDX-License-Identifier: MPL-2.0
"""The sha256 of the program where it runs from its folder; a task's zip application has it."""

import hashlib
import os


def read():
    """Return the sha256 of each module's path, length and contents."""
    folder = os.path.dirname(os.path.abspath(__file__))
    paths = [os.path.join(parent, name) for parent, _, names in os.walk(folder) for name in names]
    digest = hashlib.sha256()
    for path in sorted(path for path in paths if path.endswith(".py")):
        with open(path, "rb") as file:
            module = file.read()
        name = os.fsencode(os.path.relpath(path, folder))
        digest.update(b"%s %d\n" % (name, len(module)) + module)
    return digest.hexdigest()
