# SPDX-License-Identifier: MPL-2.0
"""Build an image only if a selected task runs in it.

By default every push builds every image, so that later pushes find them. The report's image contains
this project's code, so nearly every push would build it.
"""

from typing import Any

from taskgraph.transforms.base import TransformSequence

from io_benchmark_taskgraph.transforms import Tasks


def _leave_out(_config: Any, tasks: Tasks) -> Tasks:
    for task in tasks:
        task["always-target"] = False
        yield task


transforms = TransformSequence()
transforms.add(_leave_out)
