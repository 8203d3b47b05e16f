# SPDX-License-Identifier: MPL-2.0
"""The case that the project was made from, on real storage: one disk against two striped.

The disks are capped far below what the machine's CPUs and memory do, so that its speed and load
hardly matter. The ratio may differ from that of the disks by as much as disks that are alike do.

A decoy is a second difference of the same pair that costs nothing.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from answers import comparison, evidence, states
from storage_lab import UNPACKING, Lab

from io_benchmark.analysis.explaining.causes.disks import ALIKE_RATIO

pytestmark = [pytest.mark.serial, pytest.mark.root]

FILES = ("--sizes", "20x2", "--retrieves", "120")
DISK_MIB = 900
CAP_MIB_PER_S = 40
TWO_DISKS = 2.0


def disks(lab: Lab, name: str, count: int) -> Path:
    size_mib = DISK_MIB if count == 1 else DISK_MIB * 2 // 3
    return lab.stripe(name, count, size_mib, CAP_MIB_PER_S)


def is_that_of_the_disks(ratio: float) -> bool:
    return TWO_DISKS / ALIKE_RATIO <= ratio <= TWO_DISKS * ALIKE_RATIO


def hold(document: Mapping[str, Any]) -> None:
    """The ratio, and the cause by name."""
    found = comparison(document)
    assert is_that_of_the_disks(found["ratio"]), found["ratio"]
    assert found["verdict"] == "slower"
    assert states(document)["device-count"] == "supported"
    baseline, candidate = evidence(document, "device-count")
    assert baseline.startswith("2 disks, striped")
    assert candidate.startswith("1 disk; ")


def test_one_disk_against_two(lab, rehearse):
    """Half the disks take twice the time, and the number of disks is named as the cause."""
    one, two = disks(lab, "one", 1), disks(lab, "two", 2)
    hold(rehearse({"amd-16": one, "intel": two}))


@pytest.mark.lab
def test_one_disk_against_two_below_an_overlay(lab, measure, compare):
    """In a container's own file system the disks are seen through the overlay."""
    one = lab.overlay(disks(lab, "one", 1), "one-overlay")
    two = lab.overlay(disks(lab, "two", 2), "two-overlay")
    document = compare(measure("amd-16", one, *FILES), measure("intel", two, *FILES))
    hold(document)
    assert states(document)["storage-place"] == "ruled out"


@pytest.mark.lab
def test_two_stripes_that_are_alike(lab, measure, compare):
    """The same disks twice are not called different, and nothing is named as a cause."""
    some, others = disks(lab, "some", 2), disks(lab, "others", 2)
    document = compare(measure("amd-16", some, *FILES), measure("intel", others, *FILES))
    assert comparison(document)["verdict"] in ("inconclusive", "equivalent")
    assert "supported" not in states(document).values()


@pytest.mark.lab
def test_unpacking_on_one_disk_against_two(lab, measure, compare):
    """Files that do not fit into what may be dirty wait for the disks, with and without a sync."""
    one, two = disks(lab, "one", 1), disks(lab, "two", 2)
    how: dict[str, Any] = {"workloads": ("unpack",), "prelude": UNPACKING}
    document = compare(measure("amd-16", one, **how), measure("intel", two, **how))
    for at in range(2):
        found = comparison(document, at)
        assert is_that_of_the_disks(found["ratio"]), found["ratio"]
        assert found["verdict"] == "slower"
    assert [name for name, state in states(document).items() if state == "supported"] == [
        "device-count"
    ]
