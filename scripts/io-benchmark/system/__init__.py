# SPDX-License-Identifier: MPL-2.0
"""The operating system, as the program asks it: a folder for each, with the same modules.

`from system import host` gives the module of this system. Its modules import only each other,
`log`, `errors` and `system.probes`. What a system cannot tell is None. Another system would be
another folder; CONTRIBUTING.md says what it needs.
"""

import importlib
import sys

_FOLDER = "windows" if sys.platform == "win32" else "linux"


def __getattr__(name):
    # Only when it is asked for: a task's program has only the modules that it uses.
    return importlib.import_module("system.%s.%s" % (_FOLDER, name))
