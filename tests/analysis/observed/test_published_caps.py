# SPDX-License-Identifier: MPL-2.0
"""What Google publishes, and what it does not."""

import pytest

from io_benchmark.analysis.observed.published_caps import Caps, MachineType


@pytest.mark.parametrize(
    ("instance_type", "disks", "expected"),
    [
        pytest.param("c3d-standard-16-lssd", 1, Caps(350, 170_000, 90_000), id="one"),
        pytest.param("c2-standard-16", 2, Caps(700, 340_000, 180_000), id="two"),
        pytest.param("n2-standard-8", 3, Caps(1050, 510_000, 270_000), id="three"),
        pytest.param("n2-standard-8", 6, Caps(1400, 680_000, 360_000), id="four to eight"),
        pytest.param("n2-standard-8", 16, Caps(3120, 1_600_000, 800_000), id="16"),
        pytest.param("n1-standard-8", 24, Caps(4680, 2_400_000, 1_200_000), id="24"),
        pytest.param("c3d-standard-360-lssd", 32, Caps(6240, 3_200_000, 1_600_000), id="32"),
        pytest.param("c4d-standard-8-lssd", 1, Caps(330), id="Titanium, no IOPS"),
        pytest.param("c4d-standard-16-lssd", 2, Caps(660), id="Titanium, two"),
        pytest.param("c4d-standard-32-lssd", 4, Caps(1320), id="Titanium, four"),
        pytest.param("c4d-standard-16-lssd", 3, None, id="Titanium, three"),
        pytest.param("c2-standard-16", 12, None, id="twelve"),
        pytest.param("c2-standard-16", 0, None, id="none"),
        pytest.param("z3-highmem-88", 1, None, id="another series"),
        pytest.param("m5.large", 1, None, id="another cloud"),
        pytest.param("", 1, None, id="empty"),
        pytest.param(None, 1, Caps(350, 170_000, 90_000), id="type unknown"),
        pytest.param(
            "projects/1/machineTypes/C2-standard-16",
            1,
            Caps(350, 170_000, 90_000),
            id="as the metadata server has it",
        ),
    ],
)
def test_caps(instance_type, disks, expected):
    """The published row, or None: never a guess in between."""
    assert MachineType(instance_type).caps(disks) == expected


@pytest.mark.parametrize(
    ("instance_type", "disks", "larger"),
    [
        pytest.param("c3d-standard-8-lssd", 1, "c3d-standard-30-lssd", id="8"),
        pytest.param("c3d-standard-16-lssd", 1, "c3d-standard-30-lssd", id="16"),
        pytest.param("c3d-highmem-30-lssd", 2, "c3d-highmem-60-lssd", id="30"),
        pytest.param("c3d-standard-360-lssd", 32, None, id="the largest"),
        pytest.param("c3d-standard-44-lssd", None, None, id="no such size"),
        pytest.param("c2-standard-16", None, None, id="chosen at creation"),
        pytest.param("z3-highmem-88", None, None, id="another series"),
        pytest.param(None, None, None, id="unknown"),
    ],
)
def test_disks_that_come_with_a_machine_type(instance_type, disks, larger):
    """The number is fixed for c3d-…-lssd; the next size has more."""
    machine = MachineType(instance_type)
    assert machine.disks == disks
    assert machine.with_more_disks == (MachineType(larger) if larger else None)
