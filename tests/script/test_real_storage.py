# SPDX-License-Identifier: MPL-2.0
"""The storage chain of a real file system, made of loop devices for the test."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from storage_lab import Lab, needs, opened, run
from worker import Worker

pytestmark = [pytest.mark.serial, pytest.mark.root]


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    with opened(tmp_path / "lab") as made:
        yield made


def test_btrfs_over_two_devices(worker: Worker, lab: Lab, tmp_path: Path) -> None:
    """Both members are seen, the profile is raid0, and cp's copies are reported as shared."""
    needs("mkfs.btrfs")
    one, two = lab.loop("a"), lab.loop("b")
    run("mkfs.btrfs", "-q", "-d", "raid0", "-m", "raid0", one, two)
    worker.workspace = lab.mount(one, tmp_path / "btrfs")
    worker.complete("--retrieves", "20", "--sizes", "4x1", "--fidelity", "real")
    (found,) = worker.result().storage.places
    assert {f"/dev/{device.name}" for device in found.leaf_devices} == {one, two}
    assert worker.document()["storage"]["places"][0]["identified_by"] == "btrfs"
    assert found.filesystem is not None
    assert found.filesystem.btrfs_data_profiles == ["raid0"]
    (entry,) = worker.retrieves()
    assert (entry.copy_method, entry.shares_extents) == ("cp", True)
    assert found.probe is not None
    assert found.probe.written_bytes is not None
    assert {f"/dev/{name}" for name in found.probe.written_bytes} >= {one, two}
