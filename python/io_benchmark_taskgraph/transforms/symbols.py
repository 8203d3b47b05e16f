# SPDX-License-Identifier: MPL-2.0
"""Check the form of the symbol in Treeherder; taskgraph itself checks that each task has its own.

In a project whose config.yml has no `treeherder`, tasks get no symbols: with one they could not depend on an
image's task, which has none there.
"""

import re
from typing import Any

from taskgraph.transforms.base import TransformSequence

from io_benchmark_taskgraph.mistakes import BadKeyError, in_task, quoted
from io_benchmark_taskgraph.transforms import Tasks

_SYMBOL = re.compile(r"[^()\s]{1,25}\([^()\s]{1,25}\)")


def _check_symbols(config: Any, tasks: Tasks) -> Tasks:
    for task in tasks:
        if "treeherder" not in config.graph_config:
            task.pop("treeherder", None)
        else:
            symbol = str(task.get("treeherder", {}).get("symbol"))
            if not _SYMBOL.fullmatch(symbol):
                problem = "is not a group and a symbol of at most 25 characters each"
                with in_task(config, task):
                    raise BadKeyError(
                        "treeherder.symbol", f"{quoted(symbol)} {problem}; write them as IOB(amd16)"
                    )
        yield task


transforms = TransformSequence()
transforms.add(_check_symbols)
