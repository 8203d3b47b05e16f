# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The storage chain and the limits of real file systems, made of loop devices for the test."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from worker import Worker

from io_benchmark.results.format import StoragePlace

pytestmark = [pytest.mark.serial, pytest.mark.root]

BLKIO = Path("/sys/fs/cgroup/blkio")


def run(*command: object) -> str:
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


class Disks:
    """Loop devices over files in memory, and mounts on them; undone in reverse."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._folder = folder
        self._stack = stack

    def loop(self, name: str, size_mib: int = 300) -> str:
        image = self._folder / "images" / name
        if not image.parent.exists():
            image.parent.mkdir()
            self.mount("none", image.parent, "-t", "tmpfs")
        with image.open("wb") as file:
            file.truncate(size_mib * 1024 * 1024)
        device = run("losetup", "-f", "--show", image)
        self._stack.callback(run, "losetup", "-d", device)
        return device

    def mount(self, what: object, point: Path, *options: object) -> Path:
        point.mkdir(exist_ok=True)
        run("mount", *options, what, point)
        self._stack.callback(run, "umount", point)
        return point


@pytest.fixture
def disks(tmp_path: Path) -> Iterator[Disks]:
    if os.geteuid() != 0:
        pytest.skip("needs root: loop devices and mounts")
    if not Path("/dev/loop-control").exists():
        pytest.skip("needs loop devices")
    with ExitStack() as stack:
        yield Disks(tmp_path, stack)


def needs(program: str) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"needs {program}")


def measured(worker: Worker, place: Path, *extra: str) -> StoragePlace:
    worker.workspace = place
    code, output = worker.run("--retrieves", "20", "--sizes", "4x1", *extra)
    assert code == 0, output
    (found,) = worker.result().storage.places
    return found


def test_btrfs_over_two_devices(worker: Worker, disks: Disks, tmp_path: Path) -> None:
    """Both members are seen, the profile is raid0, and cp's copies are told as shared."""
    needs("mkfs.btrfs")
    one, two = disks.loop("a"), disks.loop("b")
    run("mkfs.btrfs", "-q", "-d", "raid0", "-m", "raid0", one, two)
    place = disks.mount(one, tmp_path / "btrfs")
    found = measured(worker, place, "--fidelity", "real")
    assert {f"/dev/{device.name}" for device in found.leaf_devices} == {one, two}
    assert found.identified_by == "btrfs"
    assert found.filesystem is not None
    assert found.filesystem.btrfs_data_profiles == ["raid0"]
    assert found.reflink is True
    (entry,) = worker.retrieves()
    assert (entry.copy_method, entry.shares_extents) == ("cp", True)
    assert found.probe is not None
    assert found.probe.written_bytes is not None
    assert {f"/dev/{name}" for name in found.probe.written_bytes} >= {one, two}


def test_ext4_on_one_device(worker: Worker, disks: Disks, tmp_path: Path) -> None:
    """One leaf, ext4's own options with auto_da_alloc, no reflink, copies that move their bytes."""
    device = disks.loop("a")
    run("mkfs.ext4", "-q", device)
    place = disks.mount(device, tmp_path / "ext4")
    found = measured(worker, place)
    assert [f"/dev/{one.name}" for one in found.leaf_devices] == [device]
    assert found.identified_by == "mount"
    assert found.filesystem is not None
    assert found.filesystem.ext4_options is not None
    assert "auto_da_alloc" in found.filesystem.ext4_options
    assert found.reflink is False
    (entry,) = worker.retrieves()
    assert entry.shares_extents is False
    assert entry.device_bytes is not None
    # A file that is rewritten is flushed at each close: nearly all of the 20 MiB arrive.
    assert entry.device_bytes[found.leaf_devices[0].name].written >= 15 * 1024 * 1024


def test_an_overlay_is_told_with_its_layers_and_device(
    worker: Worker, disks: Disks, tmp_path: Path
) -> None:
    """Three lower layers, and the disk under the upper one."""
    device = disks.loop("a")
    run("mkfs.ext4", "-q", device)
    base = disks.mount(device, tmp_path / "base")
    for name in ("1", "2", "3", "upper", "work"):
        (base / name).mkdir()
    options = f"lowerdir={base}/1:{base}/2:{base}/3,upperdir={base}/upper,workdir={base}/work"
    place = disks.mount("overlay", tmp_path / "overlay", "-t", "overlay", "-o", options)
    found = measured(worker, place)
    assert found.kind == "overlay"
    assert found.overlay is not None
    assert (found.overlay.lower_layers, found.overlay.volatile) == (3, False)
    assert [f"/dev/{one.name}" for one in found.leaf_devices] == [device]
    assert found.identified_by == str(base / "upper")


def test_a_cgroups_limit_is_seen(worker: Worker, disks: Disks, tmp_path: Path) -> None:
    """A child group that may write 200 operations a second: named with its device."""
    if not (BLKIO / "blkio.throttle.write_iops_device").exists():
        pytest.skip("needs cgroup v1 blkio")
    device = disks.loop("a")
    run("mkfs.ext4", "-q", device)
    place = disks.mount(device, tmp_path / "ext4")
    number = Path(f"/sys/class/block/{Path(device).name}/dev").read_text().strip()
    group = BLKIO / f"io-benchmark-test-{os.getpid()}"
    group.mkdir()
    try:
        (group / "blkio.throttle.write_iops_device").write_text(f"{number} 200")
        prelude = f"open('{group}/cgroup.procs', 'w').write(str(__import__('os').getpid()))"
        worker.workspace = place
        code, output = worker.run("--retrieves", "20", "--sizes", "2x0.1", prelude=prelude)
        assert code == 0, output
    finally:
        group.rmdir()
    limits = worker.result().limits
    assert limits is not None
    assert [(one.device_name, one.kind, one.value) for one in limits.io] == [
        (Path(device).name, "write_operations_per_s", 200)
    ]
