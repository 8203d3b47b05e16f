# SPDX-License-Identifier: MPL-2.0
"""How many disks a write is spread over, from the chain of devices under a place."""

from typing import Any

import pytest
import seed_case
from seed_workers import SUBJECT, workers_of

from io_benchmark.analysis.observed.worker_view import View


def device(name: str, below: tuple[str, ...] = (), **facts: Any) -> dict[str, Any]:
    unset = dict.fromkeys(
        (
            *("number", "size_bytes", "stripe_count", "minimum_io_bytes", "optimal_io_bytes"),
            *("mapper_name", "raid_level", "backing_file", "model"),
        )
    )
    return {**unset, "name": name, "kind": "disk", "below": list(below), **facts}


A, B, C, D = (device(name) for name in "abcd")


def view(devices, super_options="rw", profiles=None, **place):
    changed = {
        "storage.places.0.devices": devices,
        "storage.places.0.mount.super_options": super_options,
        "storage.places.0.filesystem.btrfs_data_profiles": profiles,
        **{f"storage.places.0.{name}": value for name, value in place.items()},
    }
    documents = seed_case.documents(pools=["intel"], change={"intel": changed})
    return View(workers_of(documents)["intel"][0], SUBJECT)


@pytest.mark.parametrize(
    ("devices", "options", "profiles", "expected"),
    [
        pytest.param([A], "rw", None, (1, 1, False), id="disk"),
        pytest.param(
            [device("p", ("a",), kind="partition"), A], "rw", None, (1, 1, False), id="partition"
        ),
        pytest.param(
            [device("v", ("a", "b"), kind="lvm", stripe_count=2), A, B],
            "rw",
            None,
            (2, 2, False),
            id="striped volume",
        ),
        pytest.param(
            [device("v", ("a", "b"), kind="lvm"), A, B],
            "rw",
            None,
            (2, 1, True),
            id="linear volume",
        ),
        pytest.param(
            [device("v", ("a", "b"), kind="lvm"), A, B],
            "rw,stripe=32",
            None,
            (2, 2, False),
            id="ext4 knows the stripe",
        ),
        pytest.param(
            [device("v", ("a", "b"), kind="lvm", minimum_io_bytes=4096), A, B],
            "rw,stripe=32",
            None,
            (2, 1, True),
            id="ext4 took a disk's hints for a stripe",
        ),
        pytest.param(
            [device("v", ("a", "b"), kind="lvm"), A, B],
            "rw,sunit=128,swidth=256",
            None,
            (2, 2, False),
            id="xfs knows the stripe",
        ),
        pytest.param(
            [device("v", ("a", "b", "c", "d"), kind="lvm", stripe_count=2), A, B, C, D],
            "rw",
            None,
            (4, 2, False),
            id="two of four at once",
        ),
        pytest.param(
            [device("c", ("m",), kind="crypt"), device("m", ("a", "b"), raid_level="raid0"), A, B],
            "rw",
            None,
            (2, 2, False),
            id="encrypted raid0",
        ),
        pytest.param(
            [device("m", ("a", "b"), kind="md", raid_level="raid1"), A, B],
            "rw",
            None,
            (2, 1, False),
            id="raid1",
        ),
        pytest.param(
            [device("m", ("a", "b", "c", "d"), kind="md", raid_level="raid10"), A, B, C, D],
            "rw",
            None,
            (4, 2, False),
            id="raid10",
        ),
        pytest.param(
            [device("m", ("a", "b", "c"), kind="md", raid_level="raid5"), A, B, C],
            "rw",
            None,
            (3, 2, False),
            id="raid5",
        ),
        pytest.param(
            [device("m", ("a", "b"), kind="md", raid_level="linear"), A, B],
            "rw",
            None,
            (2, 1, True),
            id="md linear",
        ),
        pytest.param(
            [device("m", ("a", "b"), kind="multipath"), A, B],
            "rw",
            None,
            (2, 1, False),
            id="two ways to one disk",
        ),
        pytest.param([A, B], "rw", ["raid0"], (2, 2, False), id="btrfs raid0"),
        pytest.param([A, B], "rw", ["single"], (2, 1, True), id="btrfs single"),
        pytest.param([A, B], "rw", ["raid1"], (2, 1, False), id="btrfs raid1"),
        pytest.param([A, B, C, D], "rw", ["raid10"], (4, 2, False), id="btrfs raid10"),
        pytest.param([A, B], "rw", None, (2, 2, False), id="found by probing"),
    ],
)
def test_width(devices, options, profiles, expected):
    """The number of disks, how many work at once, and whether the volume is linear."""
    stack = view(devices, options, profiles).stack
    assert stack is not None
    assert (len(stack.disks), stack.width, stack.linear) == expected


@pytest.mark.parametrize(
    "devices",
    [
        pytest.param([], id="none"),
        pytest.param([device("a", ("b",)), device("b", ("a",))], id="a circle"),
        pytest.param([device("a", ("a",))], id="itself"),
        pytest.param([device("a", ("missing",))], id="no leaf"),
    ],
)
def test_what_is_no_chain(devices):
    """Without devices there is no stack."""
    assert view(devices).stack is None


@pytest.mark.parametrize(
    ("models", "expected"),
    [
        pytest.param(["nvme_card"], "local SSD", id="NVMe"),
        pytest.param(["nvme_card0", "nvme_card12"], "local SSD", id="numbered"),
        pytest.param(["EphemeralDisk"], "local SSD", id="SCSI"),
        pytest.param(["Amazon EC2 NVMe Instance Storage"], "local SSD", id="another cloud's"),
        pytest.param(["nvme_card-pd"], "persistent disk", id="persistent NVMe"),
        pytest.param(["PersistentDisk   "], "persistent disk", id="persistent SCSI"),
        pytest.param(
            ["nvme_card", "nvme_card-pd"], "local SSD and persistent disk", id="a volume over both"
        ),
        pytest.param(["nvme_card", "Samsung"], None, id="unknown"),
        pytest.param([None], None, id="untold"),
    ],
)
def test_medium(models, expected):
    """The disks' models decide."""
    disks = [device(f"d{at}", model=model) for at, model in enumerate(models)]
    stack = view(disks).stack
    assert stack is not None
    assert stack.medium == expected
