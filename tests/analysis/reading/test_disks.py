# SPDX-License-Identifier: MPL-2.0
"""The chain of devices under a place, and the disks that come with a machine type."""

from typing import Any

import pytest
import seed_workers

from io_benchmark.analysis.explaining.causes.schedulers import _idle_settings
from io_benchmark.analysis.model.run import Run
from io_benchmark.analysis.reading.disks import MachineType, stack_of

PLACE = "storage.places.0."


def device(name: str, below: str = "", **facts: Any) -> dict[str, Any]:
    numbers = ("number", "size_bytes", "stripe_count", "minimum_io_bytes", "optimal_io_bytes")
    unset = dict.fromkeys((*numbers, "mapper_name", "raid_level", "backing_file", "model"))
    return {**unset, "name": name, "kind": "disk", "below": list(below), **facts}


def disks(names: str) -> list[dict[str, Any]]:
    return list(map(device, names))


def volume(members: str, kind: str = "lvm", **facts: Any) -> list[dict[str, Any]]:
    return [device("v", members, kind=kind, **facts), *disks(members)]


def view(devices: Any, super_options: str = "rw", profiles: list[str] | None = None) -> Run:
    changed = {
        f"{PLACE}devices": devices,
        f"{PLACE}mount.super_options": super_options,
        f"{PLACE}filesystem.btrfs_data_profiles": profiles,
    }
    (worker,) = seed_workers.workers(pools=["intel"], change={"intel": changed})
    return worker.run_of(seed_workers.SUBJECT)


ENCRYPTED = [device("c", "v", kind="crypt"), *volume("ab", raid_level="raid0")]


@pytest.mark.parametrize(
    ("devices", "options", "profiles", "expected"),
    [
        pytest.param(disks("a"), "rw", None, (1, 1, False), id="disk"),
        pytest.param(volume("a", "partition"), "rw", None, (1, 1, False), id="partition"),
        pytest.param(volume("ab", stripe_count=2), "rw", None, (2, 2, False), id="striped"),
        pytest.param(volume("abcd", stripe_count=2), "rw", None, (4, 2, False), id="two-of-four"),
        pytest.param(volume("ab"), "rw", None, (2, 1, True), id="linear"),
        pytest.param(volume("ab"), "rw,stripe=32", None, (2, 2, False), id="ext4-knows"),
        pytest.param(volume("ab"), "rw,stripe=0", None, (2, 1, True), id="ext4-knows-of-none"),
        # A hint.
        (volume("ab", minimum_io_bytes=1), "rw,stripe=32", None, (2, 1, True)),
        pytest.param(volume("ab"), "sunit=128,swidth=256", None, (2, 2, False), id="xfs-knows"),
        pytest.param(volume("ab"), "sunit=128,swidth=128", None, (2, 1, True), id="xfs-one-disk"),
        pytest.param(ENCRYPTED, "rw", None, (2, 2, False), id="encrypted-raid0"),
        pytest.param(volume("ab", raid_level="raid1"), "rw", None, (2, 1, False), id="raid1"),
        pytest.param(volume("abcd", raid_level="raid10"), "rw", None, (4, 2, False), id="raid10"),
        pytest.param(volume("abc", raid_level="raid5"), "rw", None, (3, 2, False), id="raid5"),
        pytest.param(volume("abcde", raid_level="raid6"), "rw", None, (5, 3, False), id="raid6"),
        pytest.param(volume("ab", raid_level="linear"), "rw", None, (2, 1, True), id="md-linear"),
        pytest.param(volume("ab", "multipath"), "rw", None, (2, 1, False), id="ways-to-one-disk"),
        pytest.param(disks("ab"), "rw", ["raid0"], (2, 2, False), id="btrfs-raid0"),
        pytest.param(disks("ab"), "rw", ["single"], (2, 1, True), id="btrfs-single"),
        pytest.param(disks("ab"), "rw", ["raid1"], (2, 1, False), id="btrfs-raid1"),
        pytest.param(disks("abcd"), "rw", ["raid10"], (4, 2, False), id="btrfs-raid10"),
        pytest.param(disks("ab"), "rw", None, (2, 2, False), id="probed"),
        pytest.param([], "rw", None, None, id="nothing-observed"),
        pytest.param([device("a", "b"), device("b", "a")], "rw", None, None, id="a-circle"),
        pytest.param([device("a", "a")], "rw", None, None, id="below-itself"),
        pytest.param([device("a", "x")], "rw", None, None, id="no-leaf"),
    ],
)
def test_width(devices: Any, options: str, profiles: list[str] | None, expected: Any) -> None:
    """The number of disks, how many work at once, and whether the volume is linear."""
    stack = stack_of(view(devices, options, profiles))
    assert (stack and (len(stack.disks), stack.width, stack.linear)) == expected


LOCAL, PERSISTENT = "local SSD", "persistent disk"


@pytest.mark.parametrize(
    ("models", "expected"),
    [
        (["nvme_card"], LOCAL),
        (["nvme_card0", "nvme_card12"], LOCAL),
        (["EphemeralDisk   "], LOCAL),
        (["Amazon EC2 NVMe Instance Storage"], LOCAL),
        (["nvme_card-pd"], PERSISTENT),
        (["PersistentDisk   "], PERSISTENT),
        (["nvme_card", "nvme_card-pd"], f"{LOCAL} and {PERSISTENT}"),
        (["nvme_card", "Samsung"], None),
        ([None], None),
    ],
)
def test_medium(models: list[str | None], expected: str | None) -> None:
    """The disks' models decide."""
    devices = [device(f"d{number}", model=model) for number, model in enumerate(models)]
    stack = stack_of(view(devices))
    assert stack is not None
    assert stack.medium == expected


@pytest.mark.parametrize(
    ("instance_type", "name", "family"),
    [
        # As the metadata server writes it.
        ("projects/1/machineTypes/C2-standard-16", "c2-standard-16", "c2"),
        ("c3d-standard-16-lssd", "c3d-standard-16-lssd", "c3d"),
        ("m5.large", "m5.large", "m5"),
        ("", "", ""),
        (None, "", None),
    ],
)
def test_machine_types(instance_type: str | None, name: str, family: str | None) -> None:
    """A name without its project, and the family; an empty name is not an unknown machine type."""
    machine = MachineType(instance_type)
    assert (machine.name, machine.family) == (name, family)


@pytest.mark.parametrize(
    ("instance_type", "disks", "larger"),
    [
        ("c3d-standard-8-lssd", 1, "c3d-standard-30-lssd"),
        ("c3d-standard-360-lssd", 32, None),
        ("c2-standard-16", None, None),  # chosen at creation
        (None, None, None),
    ],
)
def test_disks_that_come_with_a_machine_type(
    instance_type: str | None, disks: int | None, larger: str | None
) -> None:
    """Any cloud's series may fix the number; the next size has more."""
    machine = MachineType(instance_type)
    assert machine.disks == disks
    assert machine.with_more_disks == (MachineType(larger) if larger else None)


@pytest.mark.parametrize(
    ("settings", "idle"),
    [
        ({"slice_idle": 8}, {"slice_idle": 8}),
        ({"slice_idle": 8, "slice_idle_us": 8000}, {"slice_idle": 8}),
        ({"slice_idle": 0, "slice_idle_us": 500}, {"slice_idle_us": 500}),
        ({"slice_idle": 0, "slice_idle_us": 0}, {"slice_idle": 0}),
        ({"group_idle_us": 0}, {"group_idle": 0}),
        ({"group_idle_us": 700}, {"group_idle_us": 700}),
        ({"low_latency": 1}, {}),
    ],
)
def test_idle_settings(settings, idle):
    """How long a scheduler idles is in ms, and in us only where that is under a millisecond."""
    stack = stack_of(view([device("a", scheduler="bfq", scheduler_settings=settings)]))
    assert stack is not None
    assert _idle_settings(stack.disks[0]) == idle
