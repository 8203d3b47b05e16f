# SPDX-License-Identifier: MPL-2.0
"""Google's disks: what follows from the published rows, computed by hand."""

import pytest
from disk_caps import boot_cap, disk_for, machine_with, rates_in

from io_benchmark.analysis.model.pool_machine import NetworkDisk
from io_benchmark.analysis.reading.caps import (
    local_ssd_cap,
    network_cap,
    price_per_month,
    problem_with,
)
from io_benchmark.analysis.reading.caps.limits import MIB, BoundBy

# Machine types of Firefox CI with the GiB of their boot disk, whose kind no definition names:
# the kind by default; read and write IOPS and MiB/s of the disk by the formulas, and whether
# sources agree on them.
FIREFOX_CI_POOLS = (
    ("c2-standard-4", 75, "pd-standard", (56.25, 112.5, 9, 9), False),
    ("n2-standard-2", 75, "pd-standard", (56.25, 112.5, 9, 9), False),
    ("c2-standard-4", 60, "pd-standard", (45, 90, 7.2, 7.2), False),
    ("t2a-standard-16", 75, "pd-standard", (56.25, 112.5, 9, 9), False),
    ("t2a-standard-4", 75, "pd-standard", (56.25, 112.5, 9, 9), False),
    ("c2-standard-16", 60, "pd-standard", (45, 90, 7.2, 7.2), False),
    ("c3d-standard-16-lssd", 60, "pd-balanced", (3360, 3360, 156.8, 156.8), True),
    ("c3d-standard-30-lssd", 60, "pd-balanced", (3360, 3360, 156.8, 156.8), True),
    ("c3d-standard-60-lssd", 60, "pd-balanced", (3360, 3360, 156.8, 156.8), True),
    ("n2-standard-32", 60, "pd-standard", (45, 90, 7.2, 7.2), False),
    ("c3d-standard-8-lssd", 75, "pd-balanced", (3450, 3450, 161, 161), True),
    ("c4d-standard-8-lssd", 75, "hyperdisk-balanced", (3450, 3450, 252.5, 252.5), False),
    ("n2-standard-4", 60, "pd-standard", (45, 90, 7.2, 7.2), False),
    ("n2-standard-64", 60, "pd-standard", (45, 90, 7.2, 7.2), False),
    ("c3d-standard-8", 75, "pd-balanced", (3450, 3450, 161, 161), True),
    ("n1-custom-40-262144", 300, "pd-standard", (225, 450, 36, 36), True),
    ("n1-custom-40-262144", 1024, "pd-standard", (768, 1536, 122.88, 122.88), True),
    ("n1-highmem-8", 75, "pd-standard", (56.25, 112.5, 9, 9), False),
    ("n2-highmem-32", 1024, "pd-standard", (768, 1536, 122.88, 122.88), True),
    ("c2-standard-16", 75, "pd-standard", (56.25, 112.5, 9, 9), False),
    ("c2-standard-8", 60, "pd-standard", (45, 90, 7.2, 7.2), False),
    ("g1-small", 60, "pd-standard", (45, 90, 7.2, 7.2), False),
    ("n2-standard-2", 60, "pd-standard", (45, 90, 7.2, 7.2), False),
    ("n2-standard-8", 75, "pd-standard", (56.25, 112.5, 9, 9), False),
    ("c3d-highcpu-16", 75, "pd-balanced", (3450, 3450, 161, 161), True),
    ("c3d-standard-4", 75, "pd-balanced", (3450, 3450, 161, 161), True),
    ("n1-custom-40-262144", 2048, "pd-standard", (1536, 3072, 245.76, 245.76), True),
    ("n2-highmem-64", 1024, "pd-standard", (768, 1536, 122.88, 122.88), True),
    ("t2a-standard-4", 60, "pd-standard", (45, 90, 7.2, 7.2), False),
    ("c3d-standard-4", 60, "pd-balanced", (3360, 3360, 156.8, 156.8), True),
    ("n2-highmem-32", 60, "pd-standard", (45, 90, 7.2, 7.2), False),
    ("n2-highmem-32", 300, "pd-standard", (225, 450, 36, 36), True),
)

# The most of all disks of a kind on a machine: read and write IOPS, MiB/s; both edges of steps.
MACHINES = (
    ("n1-standard-1", "pd-standard", (3000, 15000, 240, 204)),
    ("custom-2-2048", "pd-standard", (3000, 15000, 240, 240)),
    ("n1-custom-7-8192", "pd-standard", (3000, 15000, 240, 240)),
    ("n1-standard-8", "pd-standard", (5000, 15000, 800, 400)),
    ("n1-custom-15-8192", "pd-standard", (5000, 15000, 800, 400)),
    ("n1-standard-16", "pd-standard", (7500, 15000, 1200, 400)),
    ("n1-custom-40-262144", "pd-standard", (7500, 15000, 1200, 400)),
    ("n1-highmem-32", "pd-ssd", (50000, 50000, 1200, 1200)),
    ("n2-custom-31-8192-ext", "pd-ssd", (25000, 25000, 1200, 1200)),
    ("n2-standard-32", "pd-ssd", (60000, 60000, 1200, 1200)),
    ("n2d-standard-64", "pd-balanced", (80000, 80000, 1200, 1200)),
    ("c2-standard-16", "pd-standard", (3000, 4000, 240, 240)),
    ("c2-standard-16", "pd-balanced", (8000, 4000, 600, 480)),
    ("c2-standard-30", "pd-standard", (3000, 8000, 240, 240)),
    ("c2d-standard-16", "pd-ssd", (8160, 4590, 326, 245)),
    ("c2d-standard-112", "pd-balanced", (30600, 15300, 1224, 408)),
    ("c3-standard-8", "pd-balanced", (15000, 15000, 240, 240)),
    ("c3-standard-22-lssd", "pd-ssd", (25000, 25000, 800, 800)),
    ("c3-standard-22-lssd", "pd-standard", None),
    ("c3d-standard-8", "pd-ssd", (25000, 25000, 800, 800)),
    ("c3d-standard-360-lssd", "pd-ssd", (80000, 80000, 2200, 2200)),
    ("e2-medium", "pd-standard", (1000, 10000, 200, 200)),
    ("e2-micro", "pd-standard", None),
    ("e2-standard-16", "pd-balanced", (20000, 20000, 1200, 1000)),
    ("g1-small", "pd-balanced", (15000, 15000, 240, 204)),
    ("g2-standard-12", "pd-balanced", (15000, 15000, 800, 800)),
    ("g2-standard-96", "pd-ssd", (100000, 100000, 1200, 1200)),
    ("t2a-standard-4", "pd-standard", (3000, 15000, 240, 240)),
    ("t2a-standard-48", "pd-balanced", (80000, 80000, 1800, 1800)),
    ("t2d-standard-60", "pd-balanced", (50000, 50000, 1200, 1200)),
    ("m1-ultramem-40", "pd-ssd", None),
    ("c4d-standard-2", "hyperdisk-balanced", (22500, 22500, 400, 400)),
    ("c4d-highmem-8-lssd", "hyperdisk-balanced", (50000, 50000, 800, 800)),
    ("c4d-standard-384", "hyperdisk-balanced", (320000, 320000, 12500, 12500)),
    ("c4d-standard-384-metal", "hyperdisk-balanced", (320000, 320000, 10000, 10000)),
    ("c4-standard-8", "hyperdisk-balanced", None),
)


@pytest.mark.parametrize(
    ("machine_type", "size_gib", "kind", "rates", "is_certain"), FIREFOX_CI_POOLS
)
def test_boot_disks_of_firefox_ci(
    machine_type: str, size_gib: float, kind: str, rates: tuple[float, ...], is_certain: bool
) -> None:
    """No definition names a kind: the machine's series does, and the disk's size is the limit."""
    cap = boot_cap("google", machine_type, NetworkDisk("", size_gib))
    assert cap.disk == NetworkDisk(kind, size_gib)
    assert rates_in(MIB, cap.of_disk) == rates
    assert (cap.writes_bound_by, cap.is_certain) == (BoundBy.DISK, is_certain)
    assert (cap.burst, cap.burst_s) == (None, None)


@pytest.mark.parametrize(("machine_type", "kind", "rates"), MACHINES)
def test_machines(machine_type: str, kind: str, rates: tuple[float, ...] | None) -> None:
    """The row of the machine's CPUs, or None: a series without a table has no guessed limit."""
    cap = boot_cap("google", machine_type, NetworkDisk(kind, 100))
    assert rates_in(MIB, cap.of_machine) == rates


@pytest.mark.parametrize(
    ("size_gib", "least", "most"),
    [(10, 1.2, 11.444), (60, 7.2, 11.444), (95, 11.4, 11.444), (99, 11.88, 11.88), (100, 12, 12)],
)
def test_small_standard_disks_have_two_readings(size_gib: float, least: float, most: float) -> None:
    """Up to 100 GiB the formula says less than Google's tool, 12 MB/s: neither is certain."""
    cap = boot_cap("google", "n2-standard-8", NetworkDisk("pd-standard", size_gib))
    assert cap.write_bytes_per_s == pytest.approx(least * MIB, rel=1e-4)
    assert cap.write_bytes_per_s_at_most == pytest.approx(most * MIB, rel=1e-4)
    assert cap.is_certain is (size_gib >= 100)


def test_disks_of_one_kind_add_up() -> None:
    """Three standard disks have the rate of their sizes together; another kind does not count."""
    boot_disk, first, second = (NetworkDisk("", 60), NetworkDisk("", 100), NetworkDisk("", 200))
    machine = machine_with("google", "n2-standard-8", boot_disk, first, second)
    for disk in (boot_disk, first, second):
        cap = network_cap(machine, disk)
        assert cap is not None
        assert cap.of_disk.write_bytes_per_s == pytest.approx(43.2 * MIB)
        assert cap.is_certain
    mixed = machine_with("google", "n2-standard-8", boot_disk, NetworkDisk("pd-ssd", 200))
    cap = network_cap(mixed, boot_disk)
    assert cap is not None
    assert cap.of_disk.write_bytes_per_s == pytest.approx(7.2 * MIB)


def test_a_machine_limits_large_disks() -> None:
    """2,048 GiB of a standard disk would write 246 MiB/s; 16 CPUs of c2 write 240."""
    cap = boot_cap("google", "c2-standard-16", NetworkDisk("pd-standard", 2048))
    assert cap.write_bytes_per_s == 240 * MIB
    assert cap.writes_bound_by is BoundBy.MACHINE


@pytest.mark.parametrize(
    ("disk", "rates", "is_certain"),
    [
        (NetworkDisk("hyperdisk-balanced", 100), (3600, 3600, 290, 290), False),
        (NetworkDisk("hyperdisk-balanced", 100, 5000), (5000, 5000, 290, 290), False),
        (NetworkDisk("hyperdisk-balanced", 100, 5000, 500 * MIB), (5000, 5000, 500, 500), True),
        (NetworkDisk("hyperdisk-balanced", None, 5000, 500 * MIB), (5000, 5000, 500, 500), True),
        (NetworkDisk("hyperdisk-balanced", 64000), (160000, 160000, 2400, 2400), False),
        (
            NetworkDisk("hyperdisk-balanced", 64000, 200000, 3000 * MIB),
            (160000, 160000, 2400, 2400),
            True,
        ),
        (NetworkDisk("hyperdisk-throughput", 2048, None, 100 * MIB), (400, 400, 100, 100), True),
        (
            NetworkDisk("hyperdisk-throughput", 2048, None, 9999 * MIB),
            (9600, 9600, 2400, 2400),
            True,
        ),
    ],
)
def test_hyperdisk(disk: NetworkDisk, rates: tuple[float, ...], is_certain: bool) -> None:
    """What was bought, up to the most of one volume; else the default, which is from memory."""
    cap = boot_cap("google", "c4d-standard-96", disk)
    assert (rates_in(MIB, cap.of_disk), cap.is_certain) == (rates, is_certain)


@pytest.mark.parametrize(
    "disk",
    [
        NetworkDisk("hyperdisk-balanced"),
        NetworkDisk("hyperdisk-balanced", None, 3000),
        NetworkDisk("hyperdisk-throughput", 2048),
        NetworkDisk("hyperdisk-extreme", 100, 20000),
        NetworkDisk("hyperdisk-ml", 100),
        NetworkDisk("pd-standard"),
        NetworkDisk("pd-extreme", 100, 20000),
    ],
)
def test_what_is_not_published_is_not_guessed(disk: NetworkDisk) -> None:
    """A kind whose caps were not found, or a disk whose size the definition does not say."""
    for machine_type in ("c3-standard-88", "n2-standard-64"):
        machine = machine_with("google", machine_type, disk)
        assert (network_cap(machine, disk), problem_with(machine)) == (None, None)


@pytest.mark.parametrize("series", ["c4", "c4a", "c4d", "n4"])
def test_machines_without_persistent_disks(series: str) -> None:
    """They have Hyperdisk only, which is named where a definition asks for another kind."""
    refused = machine_with("google", f"{series}-standard-4", NetworkDisk("pd-balanced", 75))
    assert problem_with(refused) == (
        f"machines of type {series}-standard-4 take no disk of type pd-balanced"
    )
    assert network_cap(refused, NetworkDisk("pd-balanced", 75)) is None


def test_a_faster_hyperdisk_is_bought() -> None:
    """The size stays; at 1,600 MiB/s a machine of 32 CPUs is the limit."""
    disk = NetworkDisk("", 75)
    machine = machine_with("google", "c4d-standard-32", disk)
    assert disk_for(machine, disk, 400 * MIB) == NetworkDisk(
        "hyperdisk-balanced", 75, 3000, 500 * MIB
    )
    assert disk_for(machine, disk, 1600 * MIB) == NetworkDisk(
        "hyperdisk-balanced", 75, 6400, 1600 * MIB
    )
    assert disk_for(machine, disk, 1601 * MIB) is None


def test_full_names_of_kinds() -> None:
    """A definition may have the address of a kind."""
    cap = boot_cap(
        "google", "n2-standard-8", NetworkDisk("projects/p/zones/z/diskTypes/pd-ssd", 100)
    )
    assert cap.disk == NetworkDisk("pd-ssd", 100)
    assert rates_in(MIB, cap.of_disk) == (9000, 9000, 288, 288)


@pytest.mark.parametrize(
    "machine_type",
    ["c2-standard-5", "c3d-standard-44-lssd", "t2a-standard-64", "n2-standard", "C2-standard-4"],
)
def test_sizes_that_do_not_exist(machine_type: str) -> None:
    """Such a machine type is named, and has no caps."""
    machine = machine_with("google", machine_type, NetworkDisk("pd-ssd", 75))
    assert problem_with(machine) == f"machine type {machine_type} is not known"
    assert network_cap(machine, NetworkDisk("pd-ssd", 75)) is None


@pytest.mark.parametrize(
    ("machine_type", "disks", "rates", "is_certain"),
    [
        ("c2-standard-4", 1, (170000, 90000, 660, 350), True),
        ("c2-standard-16", 2, (340000, 180000, 1320, 700), True),
        ("n2-standard-32", 4, (680000, 360000, 2650, 1400), True),
        ("n2-standard-64", 8, (680000, 360000, 2650, 1400), True),
        ("n2-standard-23", 1, (170000, 90000, 660, 350), False),
        ("n2-standard-24", 1, (170000, 90000, 660, 350), True),
        ("n2-standard-2", 1, (170000, 90000, 660, 350), False),
        ("n1-standard-16", 1, (170000, 90000, 660, 350), False),
        ("n1-standard-32", 1, (170000, 90000, 660, 350), True),
        ("c3d-standard-60-lssd", None, (680000, 360000, 2650, 1400), True),
        ("c3-standard-176-lssd", None, (3200000, 1600000, 12480, 6240), True),
        ("c4-standard-32-lssd", None, (750000, 375000, 3125, 1650), True),
        ("c4d-standard-8-lssd", 1, (150000, 75000, 625, 330), True),
        ("c4d-highmem-64-lssd", None, (900000, 450000, 3750, 1980), True),
        ("c4a-standard-8-lssd", None, (300000, 150000, 1300, 660), True),
        ("z3-highmem-22-highlssd", None, (2250000, 1500000, 9000, 7500), True),
        ("z3-highmem-22-standardlssd", None, (1500000, 1000000, 6000, 5000), True),
    ],
)
def test_local_ssds(
    machine_type: str, disks: int | None, rates: tuple[float, ...], is_certain: bool
) -> None:
    """By their number, or that of the machine type; too few CPUs may not reach the figures."""
    cap = local_ssd_cap(machine_type, disks)
    assert cap is not None
    assert (rates_in(MIB, cap.rates), cap.is_certain) == (rates, is_certain)


@pytest.mark.parametrize(
    ("machine_type", "disks"),
    [
        ("c2-standard-4", None),
        ("n2-standard-8", 9),
        ("c4d-standard-8-lssd", 3),
        ("m3-ultramem-32", 1),
    ],
)
def test_local_ssds_that_are_not_published(machine_type: str, disks: int | None) -> None:
    """A number that no row has, or a series that no table has."""
    assert local_ssd_cap(machine_type, disks) is None


@pytest.mark.parametrize(
    ("kind", "size_gib", "amount"),
    [("pd-standard", 75, 3), ("pd-balanced", 320, 32), ("pd-ssd", 100, 17)],
)
def test_prices(kind: str, size_gib: float, amount: float) -> None:
    """US dollars per GiB and month in us-central1; of Hyperdisk Balanced none was found."""
    price = price_per_month("google", NetworkDisk(kind, size_gib))
    assert price is not None
    assert (round(price.amount_per_month, 6), price.currency) == (amount, "USD")
    assert price.region == "us-central1"
    assert price_per_month("google", NetworkDisk(kind)) is None
    assert price_per_month("google", NetworkDisk("hyperdisk-balanced", size_gib)) is None
