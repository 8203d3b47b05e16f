# SPDX-License-Identifier: MPL-2.0
"""The case that the project was made from, on real storage: one disk against two striped.

The disks are capped, so that the machine's own speed and load hardly matter. On a machine with other
work one measurement may still go astray; then another one decides.

A decoy is a second difference of the same pair that costs nothing.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from answers import comparison, evidence, states
from storage_lab import UNPACKING, Lab

pytestmark = [pytest.mark.serial, pytest.mark.root]

FILES = ("--sizes", "20x2", "--retrieves", "120")
DISK_MIB = 900
CAP_MIB_PER_S = 40
TWO_DISKS = 2.0
WITHIN = 0.2
ATTEMPTS = 3


def disks(lab: Lab, name: str, count: int) -> Path:
    size_mib = DISK_MIB if count == 1 else DISK_MIB * 2 // 3
    return lab.stripe(name, count, size_mib, CAP_MIB_PER_S)


def measured(ask: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    document = ask()
    if abs(comparison(document)["ratio"] - TWO_DISKS) > WITHIN:
        document = ask()
    return document


def hold(document: Mapping[str, Any]) -> None:
    """The ratio, and the cause by name."""
    found = comparison(document)
    assert abs(found["ratio"] - TWO_DISKS) <= WITHIN
    assert found["verdict"] == "slower"
    assert states(document)["device-count"] == "supported"
    baseline, candidate = evidence(document, "device-count")
    assert baseline.startswith("2 disks, striped")
    assert candidate.startswith("1 disk; ")


def test_one_disk_against_two(lab, rehearse):
    """Half the disks take twice the time, and the number of disks is named as the cause."""
    one, two = disks(lab, "one", 1), disks(lab, "two", 2)
    hold(measured(lambda: rehearse({"amd-16": one, "intel": two})))


def test_one_disk_against_two_below_an_overlay(lab, measure, compare):
    """In a container's own file system the disks are seen through the overlay."""
    one = lab.overlay(disks(lab, "one", 1), "one-overlay")
    two = lab.overlay(disks(lab, "two", 2), "two-overlay")
    document = measured(
        lambda: compare(measure("amd-16", one, *FILES), measure("intel", two, *FILES))
    )
    hold(document)
    assert states(document)["storage-place"] == "ruled out"


def test_two_stripes_that_are_alike(lab, measure, compare):
    """The same disks twice are not called different, and nothing is named as a cause."""
    some, others = disks(lab, "some", 2), disks(lab, "others", 2)
    document = compare(measure("amd-16", some, *FILES), measure("intel", others, *FILES))
    assert comparison(document)["verdict"] in ("inconclusive", "equivalent")
    assert "supported" not in states(document).values()


def test_unpacking_on_one_disk_against_two(lab, measure, compare):
    """Files that do not fit into what may be dirty wait for the disks, with a final sync and without."""
    one, two = disks(lab, "one", 1), disks(lab, "two", 2)
    how: dict[str, Any] = {"workloads": ("unpack",), "prelude": UNPACKING}
    for _ in range(ATTEMPTS):
        document = compare(measure("amd-16", one, **how), measure("intel", two, **how))
        ratios = [comparison(document, at)["ratio"] for at in range(2)]
        if all(abs(ratio - TWO_DISKS) <= WITHIN for ratio in ratios):
            break
    for at, ratio in enumerate(ratios):
        assert abs(ratio - TWO_DISKS) <= WITHIN, ratios
        assert comparison(document, at)["verdict"] == "slower"
    assert [name for name, state in states(document).items() if state == "supported"] == [
        "device-count"
    ]
