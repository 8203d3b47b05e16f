# SPDX-License-Identifier: MPL-2.0
"""What Google publishes, and what it does not."""

import pytest

from io_benchmark.analysis.observed.published_caps import Caps, MachineType


@pytest.mark.parametrize(
    ("instance_type", "disks", "expected"),
    [
        ("c3d-standard-16-lssd", 1, Caps(350, 170_000, 90_000)),
        ("c2-standard-16", 2, Caps(700, 340_000, 180_000)),
        ("n2-standard-8", 3, Caps(1050, 510_000, 270_000)),
        ("n2-standard-8", 4, Caps(1400, 680_000, 360_000)),
        ("n2-standard-8", 8, Caps(1400, 680_000, 360_000)),
        ("n2-standard-8", 9, None),
        ("n2-standard-8", 16, Caps(3120, 1_600_000, 800_000)),
        ("n1-standard-8", 24, Caps(4680, 2_400_000, 1_200_000)),
        ("c3d-standard-360-lssd", 32, Caps(6240, 3_200_000, 1_600_000)),
        ("c4d-standard-8-lssd", 1, Caps(330)),
        ("c4d-standard-16-lssd", 2, Caps(660)),
        ("c4d-standard-32-lssd", 4, Caps(1320)),
        ("c4d-standard-16-lssd", 3, None),
        ("c2-standard-16", 0, None),
        ("z3-highmem-88", 1, None),
        ("m5.large", 1, None),
        ("", 1, None),
        (None, 1, Caps(350, 170_000, 90_000)),
        # As the metadata server writes it.
        ("projects/1/machineTypes/C2-standard-16", 1, Caps(350, 170_000, 90_000)),
    ],
)
def test_caps(instance_type, disks, expected):
    """The published row, or None: never a guess in between."""
    assert MachineType(instance_type).caps(disks) == expected


@pytest.mark.parametrize(
    ("instance_type", "disks", "larger"),
    [
        ("c3d-standard-8-lssd", 1, "c3d-standard-30-lssd"),
        ("c3d-standard-16-lssd", 1, "c3d-standard-30-lssd"),
        ("c3d-highmem-30-lssd", 2, "c3d-highmem-60-lssd"),
        ("c3d-standard-360-lssd", 32, None),
        ("c3d-standard-44-lssd", None, None),  # no such size
        ("c2-standard-16", None, None),  # chosen at creation
        ("z3-highmem-88", None, None),
        (None, None, None),
    ],
)
def test_disks_that_come_with_a_machine_type(instance_type, disks, larger):
    """The number is fixed for c3d-…-lssd; the next size has more."""
    machine = MachineType(instance_type)
    assert machine.disks == disks
    assert machine.with_more_disks == (MachineType(larger) if larger else None)
