# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Build an image only where a task that was asked for runs in it.

taskgraph has every push build every image, so that a later push finds them. The report's image
holds this project's own code, and would be built by nearly every push.
"""

from collections.abc import Iterator
from typing import Any

from taskgraph.transforms.base import TransformSequence


def leave_out(
    _config: Any, tasks: Iterator[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    for task in tasks:
        task["always-target"] = False
        yield task


transforms = TransformSequence()
transforms.add(leave_out)
