# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The value of --image in the form of a docker-worker payload."""

import re

from io_benchmark.errors import UsageError
from io_benchmark.sources.taskcluster.addresses import IndexAddress, TaskAddress, parse
from io_benchmark.text import clean

IMAGE_ARTIFACT = "public/image.tar.zst"  # where taskgraph's docker-image tasks leave theirs
# Registry, path, tag and digest; Docker itself judges the details.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@-]{0,254}")

Image = str | dict[str, str]


def parse_image(text: str) -> Image:
    """Parse `NAME[:TAG]` of a registry, `task:ID` or `index:NAMESPACE` of a task with an image."""
    if text.startswith(("task:", "index:")):
        # No environment: which deployment it is does not matter for the payload.
        meaning = parse(text, {})
        if isinstance(meaning, TaskAddress) and meaning.run_id is None:
            return {"type": "task-image", "taskId": meaning.task_id, "path": IMAGE_ARTIFACT}
        if isinstance(meaning, IndexAddress):
            return {"type": "indexed-image", "namespace": meaning.route, "path": IMAGE_ARTIFACT}
    elif _NAME.fullmatch(text):
        return text
    raise UsageError(
        f"--image {clean(text, 200)}: is not an image; give a registry's NAME:TAG, or task:ID or "
        "index:NAMESPACE of a task that built one"
    )
