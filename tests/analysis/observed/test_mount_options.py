# SPDX-License-Identifier: MPL-2.0
"""The file system of a place and its options, in whichever table they are."""

from typing import Any

import pytest
import seed_case
from seed_workers import SUBJECT, workers_of

from io_benchmark.analysis.observed.worker_view import View

MOUNT = {
    "filesystem": "ext4",
    "options": "rw,relatime",
    "super_options": "rw,data=writeback",
    "source": "/dev/x",
}


def view(mount: dict[str, Any] | None = MOUNT, **filesystem: Any) -> View:
    document = seed_case.documents(1, pools=("intel",))[0]
    (place,) = document["storage"]["places"]
    place["mount"] = None if mount is None else place["mount"] | mount
    place["filesystem"] = place["filesystem"] | filesystem if filesystem else None
    return View(workers_of([document])["intel"][0], SUBJECT)


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        pytest.param(view(), "ext4", id="mount-table-only"),
        pytest.param(view(type="xfs"), "xfs", id="what-the-place-itself-says-comes-first"),
        pytest.param(view(None, type="xfs"), "xfs", id="no-mount"),
        pytest.param(view(None), None, id="neither"),
    ],
)
def test_the_type(seen: View, expected: str | None) -> None:
    """From the file system itself, else from the mount table."""
    assert seen.filesystem_type == expected


def test_all_tables_together() -> None:
    """The mount's options, the super block's, and those that ext4 itself lists."""
    table = {"rw": "", "relatime": "", "data": "writeback"}
    seen = view(ext4_options=["rw", "", "auto_da_alloc", "commit=60"])
    assert seen.mount_table_options == table
    assert seen.mount_options == table | {"auto_da_alloc": "", "commit": "60"}
    assert view().mount_options == table
    assert (view(None).mount_table_options, view(None).mount_options) == ({}, {})


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        pytest.param("barrier=0", {"nobarrier": ""}, id="off"),
        pytest.param("barrier=1", {"barrier": ""}, id="on"),
        pytest.param("barrier=9", {"barrier": "9"}, id="nonsense-stays"),
        pytest.param("nobarrier", {"nobarrier": ""}, id="off-in-the-new-way"),
    ],
)
def test_barriers_by_either_name(option: str, expected: dict[str, str]) -> None:
    """Kernels write barrier=0 or nobarrier for the same thing."""
    assert view(MOUNT | {"options": "", "super_options": option}).mount_options == expected
