# SPDX-License-Identifier: MPL-2.0
"""The storage chain and the limits of real file systems, made of loop devices for the test."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from storage_lab import Lab, joining, needs, needs_groups, opened, run
from worker import Worker

from io_benchmark.results.machine import StoragePlace

pytestmark = [pytest.mark.serial, pytest.mark.root]


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    with opened(tmp_path / "lab") as made:
        yield made


def measured(worker: Worker, place: Path, *extra: str) -> StoragePlace:
    worker.workspace = place
    worker.complete("--retrieves", "20", "--sizes", "4x1", *extra)
    (found,) = worker.result().storage.places
    return found


def test_btrfs_over_two_devices(worker: Worker, lab: Lab, tmp_path: Path) -> None:
    """Both members are seen, the profile is raid0, and cp's copies are reported as shared."""
    needs("mkfs.btrfs")
    one, two = lab.loop("a"), lab.loop("b")
    run("mkfs.btrfs", "-q", "-d", "raid0", "-m", "raid0", one, two)
    place = lab.mount(one, tmp_path / "btrfs")
    found = measured(worker, place, "--fidelity", "real")
    assert {f"/dev/{device.name}" for device in found.leaf_devices} == {one, two}
    assert worker.document()["storage"]["places"][0]["identified_by"] == "btrfs"
    assert found.filesystem is not None
    assert found.filesystem.btrfs_data_profiles == ["raid0"]
    (entry,) = worker.retrieves()
    assert (entry.copy_method, entry.shares_extents) == ("cp", True)
    assert found.probe is not None
    assert found.probe.written_bytes is not None
    assert {f"/dev/{name}" for name in found.probe.written_bytes} >= {one, two}


def test_ext4_on_one_device(worker: Worker, lab: Lab, tmp_path: Path) -> None:
    """One leaf, ext4's own options with auto_da_alloc, no reflink, copies that move their bytes."""
    device = lab.loop("a")
    run("mkfs.ext4", "-q", device)
    place = lab.mount(device, tmp_path / "ext4")
    found = measured(worker, place)
    assert [f"/dev/{one.name}" for one in found.leaf_devices] == [device]
    assert worker.document()["storage"]["places"][0]["identified_by"] == "mount"
    assert found.filesystem is not None
    assert found.filesystem.ext4_options is not None
    assert "auto_da_alloc" in found.filesystem.ext4_options
    (entry,) = worker.retrieves()
    assert entry.shares_extents is False
    assert entry.device_bytes is not None
    # A file that is rewritten is flushed at each close: nearly all of the 20 MiB arrive.
    assert entry.device_bytes[found.leaf_devices[0].name].written >= 15 * 1024 * 1024


def test_a_cgroups_limit_is_seen(worker: Worker, lab: Lab, tmp_path: Path) -> None:
    """A child group that may write 200 operations a second: named with its device."""
    needs_groups()
    device = lab.loop("a")
    run("mkfs.ext4", "-q", device)
    place = lab.mount(device, tmp_path / "ext4")
    group = lab.group("test")
    lab.cap_writes(group, device, 200)
    worker.workspace = place
    arguments = ("--retrieves", "20", "--sizes", "2x0.1")
    worker.complete(*arguments, prelude=joining(group))
    limits = worker.result().limits
    assert limits is not None
    # Whatever else is limited on this machine is no concern of the place's.
    name = Path(device).name
    found = [(one.kind, one.value) for one in limits.io if one.device_name == name]
    assert found == [("write_operations_per_s", 200)]
