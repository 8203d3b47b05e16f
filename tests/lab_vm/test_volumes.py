# SPDX-License-Identifier: MPL-2.0
"""The case that the project was made from, on what its workers have: LVM over NVMe disks.

The disks' speed decides, not the machine's. On a machine with other work one measurement may still go
astray; then another one decides.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from answers import comparison, evidence, states
from program import compare

pytestmark = [pytest.mark.serial]

# The result file of each run, of the first attempt, the second, …
BatchEntry = Callable[[int], Mapping[str, Path]]
TWO_DISKS = 2.0
WITHIN = 0.2
MODEL = "QEMU NVMe Ctrl"


def against_the_stripe(measurement: BatchEntry, run: str, attempt: int) -> dict[str, Any]:
    results = measurement(attempt)
    return compare(results[run], results["striped"])


def takes_twice_as_long(measurement: BatchEntry, run: str) -> dict[str, Any]:
    document = against_the_stripe(measurement, run, 1)
    if abs(comparison(document)["ratio"] - TWO_DISKS) > WITHIN:
        document = against_the_stripe(measurement, run, 2)
    found = comparison(document)
    assert abs(found["ratio"] - TWO_DISKS) <= WITHIN
    assert found["verdict"] == "slower"
    return document


def test_devices(measurement: BatchEntry) -> None:
    """Each volume is seen as LVM's, with its stripes, down to the models of its disks."""
    seen = {}
    for run, result in measurement(1).items():
        (place,) = json.loads(result.read_text())["storage"]["places"]
        volume, *disks = place["devices"]
        told = (volume["mapper_name"], volume["kind"], volume["stripe_count"])
        models = [(disk["name"], disk["kind"], disk["model"]) for disk in disks]
        assert volume["below"] == [disk["name"] for disk in disks]
        assert place["identified_by"] == "mount"
        seen[run] = (told, models)
    first, second, third = [(f"nvme{at}n1", "disk", MODEL) for at in range(3)]
    striped = (("pools-striped", "lvm", 2), [second, third])
    assert seen == {
        "single": (("pools-single", "lvm", None), [first]),
        "striped": striped,
        "linear": (("pools-linear", "lvm", None), [first, second]),
        "striped-again": striped,
    }


def test_one_disk_against_two(measurement: BatchEntry) -> None:
    """Half the disks take twice the time, and the number of disks is named as the cause."""
    document = takes_twice_as_long(measurement, "single")
    assert states(document)["device-count"] == "supported"
    assert states(document)["linear-volume"] == "ruled out"
    baseline, candidate = evidence(document, "device-count")
    assert baseline.startswith(f"2 disks, striped; {MODEL} 1")
    assert candidate.startswith(f"1 disk; {MODEL} 1")


def test_linear_volume(measurement: BatchEntry) -> None:
    """Two disks one after another are no faster than one: that they are so joined is the cause."""
    document = takes_twice_as_long(measurement, "linear")
    assert states(document)["linear-volume"] == "supported"
    assert evidence(document, "linear-volume") == (
        "2 disks, striped",
        "2 disks, linear: the bandwidth of 1",
    )
    assert states(document)["device-count"] == "ruled out"
    _, candidate = evidence(document, "device-count")
    assert candidate.startswith(f"2 disks, linear: the bandwidth of 1; {MODEL} 1")


def test_alike(measurement: BatchEntry) -> None:
    """The same volume twice is not called different, and no disk is named as a cause."""
    document = against_the_stripe(measurement, "striped-again", 1)
    called = comparison(document)["verdict"]
    if called in ("slower", "faster"):
        document = against_the_stripe(measurement, "striped-again", 2)
        assert comparison(document)["verdict"] != called
    for cause in ("device-count", "linear-volume"):
        assert states(document)[cause] == "ruled out"
