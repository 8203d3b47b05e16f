# SPDX-License-Identifier: MPL-2.0
"""Azure's disks: what follows from the published rows, computed by hand."""

import pytest
from disk_caps import boot_cap, disk_for, machine_with, rates_in

from io_benchmark.analysis.model.pool_machine import NetworkDisk
from io_benchmark.analysis.reading.caps import (
    candidates,
    local_ssd_cap,
    network_cap,
    price_per_month,
    problem_with,
)
from io_benchmark.analysis.reading.caps.limits import MB, MIB, BoundBy

EPHEMERAL = NetworkDisk("", 75, is_ephemeral=True)
# A size whose limit is above those of the disks here.
LARGE = "D96ads_v5"

# VM sizes of Firefox CI: IOPS and MB/s of managed disks; of the local disk, None: not published.
FIREFOX_CI_SIZES = (
    ("F8s_v2", (12800, 12800, 190, 190), (16000, 16000, 127, 127)),
    ("D32ads_v5", (51200, 51200, 768, 768), (150000, 150000, 2000, 2000)),
    ("NV12ads_A10_v5", (12800, 12800, 200, 200), None),
    ("D16pds_v5", (25600, 25600, 600, 600), (75000, 75000, 1000, 1000)),
    ("E8ads_v5", (12800, 12800, 200, 200), (38000, 38000, 500, 500)),
    ("D8pds_v5", (12800, 12800, 290, 290), (38000, 38000, 500, 500)),
    ("NV12s_v3", (20000, 20000, 200, 200), None),
    ("D8ads_v5", (12800, 12800, 200, 200), (38000, 38000, 500, 500)),
    ("D96ads_v5", (80000, 80000, 1600, 1600), (450000, 450000, 4000, 4000)),
    ("F16s_v2", (25600, 25600, 380, 380), (32000, 32000, 255, 255)),
)


@pytest.mark.parametrize(("vm_size", "managed", "local"), FIREFOX_CI_SIZES)
def test_vm_sizes_of_firefox_ci(
    vm_size: str, managed: tuple[float, ...], local: tuple[float, ...] | None
) -> None:
    """Managed disks have the VM's limit, an ephemeral OS disk that of the local disk.

    Only reads of local disks are published, so that is not certain.
    """
    cap = boot_cap("azure", vm_size, NetworkDisk("Premium_LRS", 128))
    assert rates_in(MB, cap.of_machine) == managed
    machine = machine_with("azure", vm_size, EPHEMERAL)
    assert problem_with(machine) is None
    ephemeral = network_cap(machine, EPHEMERAL)
    assert (ephemeral and rates_in(MB, ephemeral.of_disk)) == local
    assert ephemeral is None or not ephemeral.is_certain


@pytest.mark.parametrize(
    ("kind", "size_gib", "unit", "iops", "rate", "is_certain"),
    [
        ("Premium_LRS", 4, MB, 120, 25, True),
        ("Premium_LRS", 127, MB, 500, 100, True),  # P10
        ("Premium_ZRS", 128, MB, 500, 100, True),
        ("Premium_LRS", 128.1, MB, 1100, 125, True),  # P15
        ("Premium_LRS", 1024, MB, 5000, 200, True),
        ("Premium_LRS", 32767, MB, 20000, 900, True),
        ("StandardSSD_LRS", 128, MIB, 500, 60, False),  # of 2019
        ("StandardSSD_LRS", 4096, MIB, 500, 60, False),
        ("StandardSSD_LRS", 4097, MIB, 2000, 400, True),
        ("Standard_LRS", 32, MB, 500, 60, True),
        ("Standard_LRS", 4097, MB, 1300, 300, True),
    ],
)
def test_managed_disks(
    kind: str, size_gib: float, unit: float, iops: float, rate: float, is_certain: bool
) -> None:
    """The next larger size counts; MB are 10⁶ bytes, and only Standard SSD has MiB."""
    cap = boot_cap("azure", LARGE, NetworkDisk(kind, size_gib))
    assert rates_in(unit, cap.of_disk) == (iops, iops, rate, rate)
    assert cap.is_certain is is_certain


@pytest.mark.parametrize(
    ("disk", "rates"),
    [
        (NetworkDisk("PremiumV2_LRS"), (3000, 3000, 125, 125)),
        (NetworkDisk("PremiumV2_LRS", 100, 8000, 500 * MB), (8000, 8000, 500, 500)),
        (NetworkDisk("PremiumV2_LRS", 100, 90000, 3e9), (80000, 80000, 2000, 2000)),
    ],
)
def test_premium_v2(disk: NetworkDisk, rates: tuple[float, ...]) -> None:
    """What was bought, else 3,000 IOPS and 125 MB/s."""
    assert rates_in(MB, boot_cap("azure", LARGE, disk).of_disk) == rates


@pytest.mark.parametrize(
    ("kind", "size_gib", "burst"),
    [
        ("Premium_LRS", 64, (3500, 3500, 170, 170)),
        ("Premium_LRS", 512, (3500, 3500, 170, 170)),  # P20
        ("Premium_LRS", 513, None),  # P30, for which a burst is paid
        ("StandardSSD_LRS", 1024, (600, 600, 150, 150)),  # E30
        ("StandardSSD_LRS", 1025, None),
        ("Standard_LRS", 64, None),
    ],
)
def test_bursts(kind: str, size_gib: float, burst: tuple[float, ...] | None) -> None:
    """Full credits are enough for half an hour."""
    cap = boot_cap("azure", LARGE, NetworkDisk(kind, size_gib))
    assert rates_in(MB, cap.burst) == burst
    assert (cap.burst_s, cap.large_burst_s) == ((1800, 1800) if burst else (None, None))


def test_a_vm_limits_its_disks() -> None:
    """F8s_v2 has 190 MB/s for all managed disks, and 400 for half an hour."""
    cap = boot_cap("azure", "F8s_v2", NetworkDisk("Premium_LRS", 4096))
    assert (cap.write_bytes_per_s, cap.writes_bound_by) == (190 * MB, BoundBy.MACHINE)
    assert rates_in(MB, cap.burst) == (7500, 7500, 250, 250)
    assert cap.burst_s == 1800


def test_v6_sizes() -> None:
    """D8ds_v6 has a burst, and D64ds_v6 what others have for a while always."""
    disk = NetworkDisk("PremiumV2_LRS", 100, 80000, 2000 * MB)
    small, large = (boot_cap("azure", name, disk) for name in ("D8ds_v6", "D64ds_v6"))
    assert rates_in(MB, small.of_machine) == (12800, 12800, 424, 424)
    assert rates_in(MB, small.burst) == (40000, 40000, 1250, 1250)
    assert rates_in(MB, large.of_machine) == (102400, 102400, 3392, 3392)
    assert (large.burst, large.writes_bound_by, large.is_shared) == (None, BoundBy.DISK, True)


def test_names_of_sizes() -> None:
    """With "Standard_" or without, and in any case."""
    rates = {
        boot_cap("azure", name, NetworkDisk("Premium_LRS", 128)).of_machine
        for name in ("D8ads_v5", "Standard_D8ads_v5", "standard_d8ads_v5")
    }
    assert len(rates) == 1


@pytest.mark.parametrize("name", ["D8x_v9", "Standard_", "", "D8ads_v5 "])
def test_sizes_that_are_not_in_the_tables(name: str) -> None:
    """They are named, and have no caps."""
    machine = machine_with("azure", name, NetworkDisk("Premium_LRS", 128))
    assert problem_with(machine) == f"machine type {name.strip()} is not known"
    assert network_cap(machine, NetworkDisk("Premium_LRS", 128)) is None


@pytest.mark.parametrize(
    "disk",
    [
        NetworkDisk("Premium_LRS"),
        NetworkDisk("Premium_LRS", 0),
        NetworkDisk("Premium_LRS", 32768),
        NetworkDisk("UltraSSD_LRS", 128, 1000, 1e8),
        NetworkDisk("", 128),
    ],
)
def test_what_is_not_published_is_not_guessed(disk: NetworkDisk) -> None:
    """A size that is not known or too large, a kind without figures, or that of a template."""
    machine = machine_with("azure", "D8ads_v5", disk)
    assert (network_cap(machine, disk), problem_with(machine)) == (None, None)


def test_a_kind_that_is_not_known() -> None:
    """It is named."""
    machine = machine_with("azure", "D8ads_v5", NetworkDisk("PremiumTurbo_LRS", 128))
    assert problem_with(machine) == "disk type PremiumTurbo_LRS is not known"


def test_a_faster_disk() -> None:
    """The same kind, if a larger one is fast enough; else the next kind."""
    disk = NetworkDisk("StandardSSD_LRS", 127)
    machine = machine_with("azure", "D8ads_v5", disk)
    assert disk_for(machine, disk, 60 * MIB) == NetworkDisk("StandardSSD_LRS", 128)
    assert disk_for(machine, disk, 100 * MB) == NetworkDisk("Premium_LRS", 128)
    assert disk_for(machine, disk, 200 * MB) == NetworkDisk("Premium_LRS", 1024)
    assert disk_for(machine, disk, 201 * MB) is None  # the VM's limit


def test_candidates() -> None:
    """100 MB/s is what P10 has."""
    caps = candidates("azure", "D8ads_v5", 100 * MB)
    assert [(cap.disk.kind, cap.disk.size_gib) for cap in caps] == [("Premium_LRS", 128)]


@pytest.mark.parametrize(
    ("name", "disks", "unit", "rates", "is_certain"),
    [
        ("Standard_D8ads_v5", None, MB, (38000, 38000, 500, 500), False),
        ("D8ds_v6", None, MB, (150000, 60000, 720, 360), True),
        ("D32ds_v6", None, MB, (600000, 240000, 2880, 1440), True),
        ("D128ds_v6", 2, MB, (1200000, 480000, 5760, 2880), True),
        ("D32ds_v6", 1, MB, (150000, 60000, 720, 360), True),
        ("L16s_v3", 1, MIB, (400000, None, 1907.349, 1771), False),
    ],
)
def test_local_disks(
    name: str, disks: int | None, unit: float, rates: tuple[float | None, ...], is_certain: bool
) -> None:
    """Of a temporary disk only reads are published; of NVMe disks both."""
    cap = local_ssd_cap(name, disks)
    assert cap is not None
    assert (rates_in(unit, cap.rates), cap.is_certain) == (rates, is_certain)


@pytest.mark.parametrize(
    ("name", "disks"), [("D8ads_v5", 2), ("D8ds_v6", 2), ("D8ds_v6", 0), ("NV12s_v3", 1)]
)
def test_local_disks_that_are_not_published(name: str, disks: int) -> None:
    """No more than there are, and none whose speed nobody says."""
    assert local_ssd_cap(name, disks) is None


@pytest.mark.parametrize(
    ("kind", "size_gib", "amount"),
    [
        ("Premium_LRS", 32, 5.28),
        ("Premium_LRS", 127, 19.71),
        ("StandardSSD_LRS", 1024, 76.8),
        ("Standard_LRS", 30, 1.54),
        ("Premium_LRS", 256, None),
        ("Premium_ZRS", 128, None),
        ("PremiumV2_LRS", 128, None),
    ],
)
def test_prices(kind: str, size_gib: float, amount: float | None) -> None:
    """US dollars per month in eastus for the size that is billed; of others none was found."""
    price = price_per_month("azure", NetworkDisk(kind, size_gib))
    assert (price and (price.amount_per_month, price.currency, price.region)) == (
        None if amount is None else (amount, "USD", "eastus")
    )
