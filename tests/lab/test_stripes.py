# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The case that the project was made from, on real storage: one disk against two striped.

The disks are capped, so that the machine's own speed and load hardly matter. On a machine with other
work one measurement may still go astray; then another one decides.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from answers import comparison, evidence, states
from storage_lab import Lab, needs, needs_write_caps

pytestmark = [pytest.mark.serial, pytest.mark.root]

Rehearse = Callable[[Mapping[str, Path]], dict[str, Any]]
Measure = Callable[..., Path]
Compare = Callable[..., dict[str, Any]]
FILES = ("--sizes", "20x4", "--retrieves", "120")
DISK_MIB = 900
CAP_MIB_PER_S = 40
TWO_DISKS = 2.0
WITHIN = 0.2


def disks(lab: Lab, name: str, count: int) -> Path:
    needs("mkfs.btrfs")
    needs_write_caps()
    size_mib = DISK_MIB if count == 1 else DISK_MIB * 2 // 3
    return lab.stripe(name, count, size_mib, CAP_MIB_PER_S)


def overlay(lab: Lab, base: Path, name: str) -> Path:
    for part in ("lower", "upper", "work"):
        (base / part).mkdir()
    options = f"lowerdir={base}/lower,upperdir={base}/upper,workdir={base}/work"
    return lab.mount("overlay", lab.folder / name, "-t", "overlay", "-o", options)


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


def test_one_disk_against_two(lab: Lab, rehearse: Rehearse) -> None:
    """Half the disks take twice the time, and the number of disks is named as the cause."""
    one, two = disks(lab, "one", 1), disks(lab, "two", 2)
    hold(measured(lambda: rehearse({"amd-16": one, "intel": two})))


def test_one_disk_against_two_below_an_overlay(
    lab: Lab, measure: Measure, compare: Compare
) -> None:
    """In a container's own file system the disks are seen through the overlay."""
    one = overlay(lab, disks(lab, "one", 1), "one-overlay")
    two = overlay(lab, disks(lab, "two", 2), "two-overlay")
    document = measured(
        lambda: compare(measure("amd-16", one, *FILES), measure("intel", two, *FILES))
    )
    hold(document)
    assert states(document)["storage-place"] == "ruled out"


def test_two_stripes_that_are_alike(lab: Lab, measure: Measure, compare: Compare) -> None:
    """The same disks twice are not called different, and nothing is named as a cause."""
    some, others = disks(lab, "some", 2), disks(lab, "others", 2)
    document = compare(measure("amd-16", some, *FILES), measure("intel", others, *FILES))
    assert comparison(document)["verdict"] in ("inconclusive", "equivalent")
    assert "supported" not in states(document).values()
