# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""--image."""

import pytest

from io_benchmark.errors import UsageError
from io_benchmark.submit.images import parse_image

TASK = "Prp_WjpGRx26VH-wA8fjTA"
NAMED = {"type": "task-image", "taskId": TASK, "path": "public/image.tar.zst"}


@pytest.mark.parametrize(
    ("text", "image"),
    [
        pytest.param("debian:12", "debian:12", id="name"),
        pytest.param("ghcr.io/a/b@sha256:0f", "ghcr.io/a/b@sha256:0f", id="digest"),
        pytest.param("localhost:5000/b", "localhost:5000/b", id="port"),
        pytest.param(f"task:{TASK}", NAMED, id="task"),
        pytest.param(
            "index:a.v2.b.latest",
            {
                "type": "indexed-image",
                "namespace": "a.v2.b.latest",
                "path": "public/image.tar.zst",
            },
            id="index",
        ),
    ],
)
def test_forms(text, image):
    """As docker-worker's payload names them."""
    assert parse_image(text) == image


@pytest.mark.parametrize(
    "text", ["", "two words", "-rf", "task:short", f"task:{TASK}.1", "index:", "a\nb"]
)
def test_no_image(text):
    """Nothing is guessed."""
    with pytest.raises(UsageError):
        parse_image(text)
