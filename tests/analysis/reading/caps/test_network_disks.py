# SPDX-License-Identifier: MPL-2.0
"""The interface to all clouds' network disks: caps, candidates, replacements."""

import pytest
from disk_caps import disk_for, machine_with

from io_benchmark.analysis.model.pool_machine import NetworkDisk
from io_benchmark.analysis.reading.caps import candidates, network_cap, problem_with
from io_benchmark.analysis.reading.caps.limits import MIB, BoundBy, DiskCap

HOSTILE_NAMES = (
    "",
    "x" * 1_000_000,
    "n2-standard-" + "9" * 1_000_000,
    "n2-standard-0",
    "n2-standard-٤",
    "n2-standard-4\n",
    "../n2-standard-4",
    "m5." + "x" * 100_000,
    "\x1b[31mc2-standard-4",
    "c2-standard-4" + "-a" * 100_000,
)


def kinds_and_sizes(caps: tuple[DiskCap, ...]) -> list[tuple[str, float | None]]:
    return [(cap.disk.kind, cap.disk.size_gib) for cap in caps]


@pytest.mark.parametrize("cloud", ["google", "amazon", "azure", "nimbus", "", "limits"])
@pytest.mark.parametrize("machine_type", HOSTILE_NAMES, ids=range(len(HOSTILE_NAMES)))
def test_a_hostile_machine_type_has_no_caps(cloud: str, machine_type: str) -> None:
    """Neither does a name without a machine: nothing is guessed, and the phrase is short."""
    disk = NetworkDisk("pd-ssd", 100)
    machine = machine_with(cloud, machine_type, disk)
    assert network_cap(machine, disk) is None
    assert candidates(cloud, machine_type, 100 * MIB) == ()
    assert disk_for(machine, disk, 100 * MIB) is None
    assert len(problem_with(machine) or "") < 400
    assert (problem_with(machine) or "").isprintable()


def test_a_measured_rate_has_few_candidates() -> None:
    """90 MiB/s is 750 GiB of a standard disk: a balanced disk of any size writes 140 and more."""
    machine_type = "n2-standard-8"
    assert kinds_and_sizes(candidates("google", machine_type, 90 * MIB)) == [
        ("pd-standard", 750),
        ("pd-standard", 700),
        ("pd-standard", 800),
    ]
    assert kinds_and_sizes(candidates("google", machine_type, 90 * MIB, 750)) == [
        ("pd-standard", 750)
    ]
    assert candidates("google", machine_type, 90 * MIB, 320) == ()
    assert kinds_and_sizes(candidates("google", machine_type, 229.6 * MIB, 320)) == [
        ("pd-balanced", 320)
    ]


def test_a_rate_of_the_machine_comes_last() -> None:
    """Two CPUs write 240 MiB/s at most, so that any larger disk fits as well."""
    bound_by = [cap.writes_bound_by for cap in candidates("google", "n2-standard-2", 240 * MIB)]
    disk, machine = (bound_by.count(limit) for limit in (BoundBy.DISK, BoundBy.MACHINE))
    assert bound_by == [BoundBy.DISK] * disk + [BoundBy.MACHINE] * machine
    assert machine > disk > 0


@pytest.mark.parametrize("rate", [0.0, -1.0])
def test_no_rate_has_no_candidates(rate: float) -> None:
    """Nothing was written, so nothing is known of the disk."""
    assert candidates("google", "n2-standard-2", rate) == ()


def test_a_larger_disk_of_the_same_kind_is_preferred() -> None:
    """It is never smaller than what it replaces, and its cap is at least what was asked for."""
    disk = NetworkDisk("", 75)
    machine = machine_with("google", "c2-standard-4", disk)
    assert disk_for(machine, disk, 84 * MIB) == NetworkDisk("pd-standard", 700)
    assert disk_for(machine, disk, 84.1 * MIB) == NetworkDisk("pd-standard", 750)
    assert disk_for(machine, disk, 1) == NetworkDisk("pd-standard", 75)
    assert disk_for(machine, NetworkDisk("pd-balanced", 900), 1) == NetworkDisk("pd-balanced", 900)


def test_no_disk_writes_more_than_its_machine() -> None:
    """Four CPUs of c2 write 240 MiB/s, to whichever disk."""
    disk = NetworkDisk("pd-standard", 75)
    machine = machine_with("google", "c2-standard-4", disk)
    assert disk_for(machine, disk, 240 * MIB) == NetworkDisk("pd-standard", 2000)
    assert disk_for(machine, disk, 241 * MIB) is None


def test_a_kind_that_is_not_known_is_named() -> None:
    """So is a machine type; what is known is no problem."""
    turbo = machine_with("google", "n2-standard-4", NetworkDisk("pd-turbo", 75))
    assert problem_with(turbo) == "disk type pd-turbo is not known"
    assert network_cap(turbo, NetworkDisk("pd-turbo", 75)) is None
    assert disk_for(turbo, NetworkDisk("pd-turbo", 75), 1) is None
    unknown = machine_with("google", "zz9-standard-4")
    assert problem_with(unknown) == "machine type zz9-standard-4 is not known"
    assert problem_with(machine_with("google", "n2-standard-4", NetworkDisk("", 75))) is None
    refused = machine_with("google", "c4d-standard-8-lssd", NetworkDisk("pd-ssd", 75))
    assert problem_with(refused) == (
        "machines of type c4d-standard-8-lssd take no disk of type pd-ssd"
    )
