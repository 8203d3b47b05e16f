# SPDX-License-Identifier: MPL-2.0
"""Two capped disks as a cloud's network has them, one with twice the cap of the other.

Loop devices have no model: the results' disks get that of a persistent disk, and the size that has
this cap. What a hypervisor does, no file of the kernel shows, so the results' limits go.
"""

import json
from pathlib import Path
from typing import Any

import program
import pytest
from answers import comparison, evidence, states
from storage_lab import Lab

pytestmark = [pytest.mark.serial, pytest.mark.root, pytest.mark.lab]

# Capped far below what the machine's CPUs and memory do, so that its load hardly matters.
FILES = ("--sizes", "10x5", "--retrieves", "100")
DISK_MIB = 300
MACHINE_TYPE = "n2-standard-8"
MIB_PER_S_AND_GIB = 0.12  # of a standard persistent disk
SLOW_GIB, FAST_GIB = 250, 500
GIB = 1024**3


def on_network(result: Path, size_gib: int) -> Path:
    """Let a result say that its disk is a persistent disk of this size."""
    document = json.loads(result.read_text())
    document["task"] |= {"instance_type": MACHINE_TYPE, "location": {"cloud": "google"}}
    document["limits"]["io"] = []
    for device in document["storage"]["places"][0]["devices"]:
        if not device["below"]:
            device |= {"kind": "disk", "model": "PersistentDisk", "size_bytes": size_gib * GIB}
    result.write_text(json.dumps(document))
    return result


def definitions(folder: Path, sizes_gib: dict[str, int]) -> Path:
    pools: list[Any] = [
        {
            "pool_id": f"lab/{pool}",
            "config": {
                "instance_types": [
                    {
                        "machine_type": MACHINE_TYPE,
                        "disks": [
                            {
                                "boot": True,
                                "initializeParams": {"diskType": "pd-standard", "diskSizeGb": size},
                            }
                        ],
                    }
                ]
            },
        }
        for pool, size in sizes_gib.items()
    ]
    path = folder / "worker-pools.yml"
    path.write_text(json.dumps({"pools": pools}))
    return path


def measured(lab: Lab, measure: Any) -> list[Path]:
    results = []
    for pool, size_gib in (("amd-16", SLOW_GIB), ("intel", FAST_GIB)):
        place = lab.stripe(pool, 1, DISK_MIB, round(MIB_PER_S_AND_GIB * size_gib))
        results.append(on_network(measure(pool, place, *FILES), size_gib))
    return results


def hold(document: dict[str, Any]) -> None:
    """The cause with both sizes, and the ratio that they make."""
    found = comparison(document)
    assert found["verdict"] == "slower", (found["ratio"], found["interval"])
    assert states(document)["disk-size"] == "supported", states(document)
    assert states(document)["disk-speed"] != "supported"
    baseline, candidate = evidence(document, "disk-size")
    assert "pd-standard of 500 GiB" in baseline
    assert "pd-standard of 250 GiB" in candidate
    (cause,) = [
        cause for cause in document["diagnoses"][0]["causes"] if cause["name"] == "disk-size"
    ]
    # On a machine with other work the copies also wait for CPUs.
    assert cause["predicted_ratio"] == pytest.approx(found["ratio"], rel=0.25)


def test_a_disk_of_half_the_size(lab: Lab, measure: Any, tmp_path: Path) -> None:
    """Its size is named by the pools' definitions, and no other one is by wrong definitions."""
    results = measured(lab, measure)
    pools = definitions(tmp_path, {"amd-16": SLOW_GIB, "intel": FAST_GIB})
    hold(program.compare(*results, "--baseline", "intel", "--pools-file", pools))
    # Metadata is written as well: a rate may be farther from a cap than candidates may.
    document = program.compare(*results, "--baseline", "intel")
    assert states(document)["disk-size"] in ("supported", "not observable")
    wrong = definitions(tmp_path, {"amd-16": FAST_GIB, "intel": FAST_GIB})
    document = program.compare(*results, "--baseline", "intel", "--pools-file", wrong)
    assert states(document)["disk-size"] == "not observable"
