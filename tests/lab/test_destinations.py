# SPDX-License-Identifier: MPL-2.0
"""What a copy's destination does on ext4, and copies that move no bytes: on real storage.

A decoy is a second difference of the same pair that costs nothing.
"""

import json
from pathlib import Path

import pytest
from answers import comparison, evidence, states
from storage_lab import Lab, needs_write_caps

pytestmark = [pytest.mark.serial, pytest.mark.root]

# Many and small, so that a moment of other work on the machine is a small part of them.
FILES = ("--sizes", "10x1", "--retrieves", "200")
COPIED_MIB = 200


def ext4(lab: Lab, name: str, options: str = "defaults", cap_mib_per_s: int = 60) -> Path:
    needs_write_caps()
    point = lab.disk(name, options=options)
    lab.cap(lab.devices[name], cap_mib_per_s)
    return point


def written_mib(result: Path, destination: str) -> float:
    """What reached the disk while the copies were made."""
    document = json.loads(result.read_text())
    (entry,) = [one for one in document["workloads"] if one["destination"] == destination]
    written_bytes: int = sum(device["written"] for device in entry["device_bytes"].values())
    return written_bytes / 1024**2


def test_ext4_flushes_what_is_rewritten(lab, measure, compare):
    """Overwriting waits for the disk unless it is mounted noauto_da_alloc: named as the cause."""
    plain = measure("amd-16", ext4(lab, "plain"), *FILES)
    spared = measure("intel", ext4(lab, "spared", "noauto_da_alloc"), *FILES)
    assert written_mib(plain, "overwrite") > 0.8 * COPIED_MIB
    assert written_mib(spared, "overwrite") < 0.2 * COPIED_MIB
    document = compare(plain, spared)
    found = comparison(document)
    assert (found["verdict"], found["ratio"] > 2) == ("slower", True)
    assert states(document)["ext4-flush"] == "supported"
    assert "noauto_da_alloc" in evidence(document, "ext4-flush")[0]


@pytest.mark.lab
def test_removing_the_destination_first_is_measured_as_the_remedy(lab, measure, compare):
    """The same push with both destinations says what removing it first gains, from measurement."""
    slow, fast = ext4(lab, "slow", cap_mib_per_s=30), ext4(lab, "fast", cap_mib_per_s=75)
    both = (*FILES, "--destination", "overwrite", "--destination", "unlink")
    slow_result, fast_result = measure("amd-16", slow, *both), measure("intel", fast, *both)
    for result in (slow_result, fast_result):
        assert written_mib(result, "overwrite") > 0.8 * COPIED_MIB
        assert written_mib(result, "unlink") < 0.2 * COPIED_MIB
    document = compare(slow_result, fast_result)
    overwrite, _ = (subject["subject"]["destination"] for subject in document["subjects"])
    assert overwrite == "overwrite"
    assert comparison(document, 0)["verdict"] == "slower"
    # Both sides flush; what differs is how fast the disks take it.
    assert states(document)["ext4-flush"] == "ruled out"
    (diagnosis,) = document["diagnoses"]
    (remedy,) = [
        one for one in diagnosis["remedies"] if "remove-destination" in one["action"]["text"]
    ]
    assert remedy["measured"]
    assert remedy["gain_ratio"] > 2
