# SPDX-License-Identifier: MPL-2.0
"""Values of options: an owner of tasks, and an image.

They need nothing of taskgraph, so that --help is quick.
"""

import re

from io_benchmark.errors import UsageError
from io_benchmark.sources.taskcluster.addresses import IndexAddress, TaskAddress, parse
from io_benchmark.text import clean_name

# What the queue takes as an owner: at most 255 characters in the form of an e-mail address.
OWNER_PATTERN = r"(?=.{3,255}$)[A-Za-z0-9._%+'-]{1,64}@[A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63})*"
IMAGE_ARTIFACT = "public/image.tar.zst"  # where taskgraph's docker-image tasks leave theirs
# Registry, path, tag and digest; Docker itself judges the details.
_IMAGE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@-]{0,254}")
# In the form of a docker-worker payload: a registry's name, or a task that built it.
Image = str | dict[str, str]


def parse_image(name: str) -> Image:
    """Parse --image: `NAME[:TAG]` of a registry, or `task:ID` or `index:NAMESPACE` of a task."""
    if name.startswith(("task:", "index:")):
        # Without an environment, because the payload does not depend on the deployment.
        address = parse(name, {})
        if isinstance(address, TaskAddress) and address.run_id is None:
            return {"type": "task-image", "taskId": address.task_id, "path": IMAGE_ARTIFACT}
        if isinstance(address, IndexAddress):
            return {"type": "indexed-image", "namespace": address.route, "path": IMAGE_ARTIFACT}
    elif _IMAGE_NAME.fullmatch(name):
        return name
    raise UsageError(
        f"--image {clean_name(name)}: is not an image; give a registry's NAME:TAG, or task:ID or "
        "index:NAMESPACE of a task that built one"
    )
