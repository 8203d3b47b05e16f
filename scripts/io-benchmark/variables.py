# SPDX-License-Identifier: MPL-2.0
"""Variables in arguments: a task on Windows is started without a shell that replaces them."""

import os
import re

_VARIABLE = re.compile(r"\$\{(IO_BENCHMARK_[A-Z0-9_]+):-([^}]*)\}")


def replace(arguments):
    """Replace each `${NAME:-default}` as a shell does; leave out an option without a value."""
    replaced = []
    for argument in arguments:
        text = _VARIABLE.sub(lambda match: os.environ.get(match[1]) or match[2], argument)
        if text == argument or not text.endswith("="):
            replaced.append(text)
    return replaced
