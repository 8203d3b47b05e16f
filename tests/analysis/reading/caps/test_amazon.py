# SPDX-License-Identifier: MPL-2.0
"""Amazon's disks: what follows from the published rows, computed by hand."""

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
from io_benchmark.analysis.reading.caps.limits import MB, MBIT, MIB, BoundBy

# An instance whose limits are above those of the volumes here.
LARGE = "c6i.32xlarge"


@pytest.mark.parametrize(
    ("size_gib", "iops", "mib_per_s", "burst_mib_per_s", "burst_s", "large_burst_s"),
    [
        # 100 operations at least, of 256 KiB: 25 MiB/s. 5,400,000 credits / (3000 - 100) s.
        (8, 100, 25, 128, 1862, 13107),  # 5,400,000 / (128 × 4 - 100)
        (33, 100, 25, 128, 1862, 13107),
        (34, 102, 25.5, 128, 1863, 13171),
        (100, 300, 75, 128, 2000, 25472),  # 5,400,000 / (3000 - 300), / (512 - 300)
        (170, 510, 127.5, 128, 2169, 2_700_000),  # 5,400,000 / 2, which is a month
        (171, 513, 128.25, 250, 2171, 11088),  # from here on 250 MiB/s
        (333, 999, 249.75, 250, 2699, 5_400_000),
        (334, 1002, 250, 250, 2703, None),
        (999, 2997, 250, 250, 1_800_000, None),
    ],
)
def test_gp2_bursts(
    size_gib: float,
    iops: float,
    mib_per_s: float,
    burst_mib_per_s: float,
    burst_s: float,
    large_burst_s: float | None,
) -> None:
    """Credits are spent by operations: large ones last much longer than the published duration."""
    cap = boot_cap("amazon", LARGE, NetworkDisk("gp2", size_gib))
    assert rates_in(MIB, cap.of_disk) == (iops, iops, mib_per_s, mib_per_s)
    assert rates_in(MIB, cap.burst) == (3000, 3000, burst_mib_per_s, burst_mib_per_s)
    assert cap.burst_s is not None
    assert round(cap.burst_s) == burst_s
    assert (cap.large_burst_s and round(cap.large_burst_s)) == large_burst_s
    assert cap.is_certain


@pytest.mark.parametrize(
    ("size_gib", "iops"), [(1000, 3000), (5333, 15999), (5334, 16000), (16384, 16000)]
)
def test_a_large_gp2_has_no_burst(size_gib: float, iops: float) -> None:
    """From 1,000 GiB on it has the operations of the burst always."""
    cap = boot_cap("amazon", LARGE, NetworkDisk("gp2", size_gib))
    assert rates_in(MIB, cap.of_disk) == (iops, iops, 250, 250)
    assert (cap.burst, cap.burst_s, cap.large_burst_s) == (None, None, None)


@pytest.mark.parametrize(
    ("disk", "rates"),
    [
        (NetworkDisk("gp3"), (3000, 3000, 125, 125)),
        (NetworkDisk("gp3", 500, 4000, 1000 * MIB), (4000, 4000, 1000, 1000)),
        (NetworkDisk("gp3", 500, 16000, 1000 * MIB), (16000, 16000, 1000, 1000)),
        (NetworkDisk("gp3", 500, 16001, 500 * MIB), (16001, 16001, 500, 500)),
        (NetworkDisk("gp3", 500, 90000, 3000 * MIB), (80000, 80000, 2000, 2000)),
        # 256 KiB for each operation, up to 500 MiB/s; from 32,000 on 16 KiB for each.
        (NetworkDisk("io1", 100, 400), (400, 400, 100, 100)),
        (NetworkDisk("io1", 100, 2000), (2000, 2000, 500, 500)),
        (NetworkDisk("io2", 100, 32000), (32000, 32000, 500, 500)),
        (NetworkDisk("io2", 100, 48000), (48000, 48000, 750, 750)),
        (NetworkDisk("io2", 100, 64000), (64000, 64000, 1000, 1000)),
        (NetworkDisk("io2", 100, 99000), (64000, 64000, 1000, 1000)),
        (NetworkDisk("st1", 16384), (500, 500, 500, 500)),
    ],
)
def test_volumes(disk: NetworkDisk, rates: tuple[float, ...]) -> None:
    """What was bought, up to the most of one volume, or what a size has."""
    cap = boot_cap("amazon", LARGE, disk)
    assert (rates_in(MIB, cap.of_disk), cap.is_certain) == (rates, True)


def test_io2_without_nitro() -> None:
    """i3 other than metal has 32,000 operations at most."""
    assert (
        boot_cap("amazon", "i3.8xlarge", NetworkDisk("io2", 100, 64000)).of_disk.read_iops == 32000
    )
    assert boot_cap("amazon", "i3.metal", NetworkDisk("io2", 100, 64000)).of_disk.read_iops == 64000


def test_st1_bursts() -> None:
    """2 TiB: 80 MiB/s, and 500 until 2 TiB are moved: 2 × 1024² MiB / 420 MiB/s."""
    cap = boot_cap("amazon", LARGE, NetworkDisk("st1", 2048))
    assert rates_in(MIB, cap.of_disk) == (80, 80, 80, 80)
    assert rates_in(MIB, cap.burst) == (500, 500, 500, 500)
    assert cap.burst_s is not None
    assert round(cap.burst_s) == 4993


@pytest.mark.parametrize(
    ("instance", "rates", "burst"),
    [
        ("c5.large", (4000, 4000, 81.25, 81.25), (3000, 3000, 131.072, 131.072)),
        ("c5d.2xlarge", (10000, 10000, 287.5, 287.5), None),
        ("m5d.metal", (80000, 80000, 2375, 2375), None),
        ("c6id.xlarge", (6000, 6000, 156.25, 156.25), None),
        ("m6i.32xlarge", (160000, 160000, 5000, 5000), None),
        ("i3.large", (3000, 3000, 53.125, 53.125), None),
        ("i4i.metal", (160000, 160000, 5000, 5000), None),
        ("c7i.metal-24xl", (120000, 120000, 3750, 3750), None),
    ],
)
def test_instances(
    instance: str, rates: tuple[float, ...], burst: tuple[float, ...] | None
) -> None:
    """Mbit/s are an eighth in MB/s; gp3 of 125 MiB/s bursts where the instance has less."""
    cap = boot_cap("amazon", instance, NetworkDisk("gp3"))
    assert rates_in(MB, cap.of_machine) == rates
    assert rates_in(MB, cap.burst) == burst
    assert cap.is_certain is not instance.startswith("c7i")
    assert 650 * MBIT == 81.25 * MB


def test_an_instance_limits_its_volumes() -> None:
    """c5.large has 81.25 MB/s always, and 593.75 for 30 minutes."""
    cap = boot_cap("amazon", "c5.large", NetworkDisk("gp3", None, 4000, 1000 * MIB))
    assert (cap.write_bytes_per_s, cap.writes_bound_by) == (81.25 * MB, BoundBy.MACHINE)
    assert rates_in(MB, cap.burst) == (4000, 4000, 593.75, 593.75)
    assert (cap.burst_s, cap.large_burst_s) == (1800, 1800)


def test_the_first_credits_that_are_spent_end_a_burst() -> None:
    """gp2's would last 2,000 s, those of the instance 1,800 s; other limits are not exceeded."""
    cap = boot_cap("amazon", "m5.large", NetworkDisk("gp2", 100))
    assert cap.writes_bound_by is BoundBy.DISK
    assert rates_in(MIB, cap.burst) == (3000, 3000, 128, 128)
    assert (cap.burst_s, cap.large_burst_s) == (1800, 1800)
    # Of m5.xlarge only its 6,000 operations are exceeded: large ones last.
    cap = boot_cap("amazon", "m5.xlarge", NetworkDisk("gp3", None, 8000, 125 * MIB))
    assert (cap.burst_s, cap.large_burst_s) == (1800, None)
    # Of i4i.xlarge 5,000 operations and 156 MB/s are not exceeded.
    cap = boot_cap("amazon", "i4i.xlarge", NetworkDisk("gp2", 100))
    assert cap.large_burst_s is not None
    assert (cap.burst_s, round(cap.large_burst_s)) == (2000, 25472)


@pytest.mark.parametrize(
    "disk",
    [
        NetworkDisk("gp2"),
        NetworkDisk("io2", 100),
        NetworkDisk("sc1", 500),
        NetworkDisk("standard", 500),
        NetworkDisk(""),
    ],
)
def test_what_is_not_published_is_not_guessed(disk: NetworkDisk) -> None:
    """A kind without figures, a size that is not known, or the kind of an image."""
    machine = machine_with("amazon", "m5d.metal", disk)
    assert (network_cap(machine, disk), problem_with(machine)) == (None, None)


@pytest.mark.parametrize("name", ["r5.large", "m5.3xlarge", "m5", "m5.", ".large", "m5d.metal.x"])
def test_instances_that_are_not_in_the_tables(name: str) -> None:
    """They are named, and have no caps."""
    machine = machine_with("amazon", name, NetworkDisk("gp3", 75))
    assert problem_with(machine) == f"machine type {name} is not known"
    assert network_cap(machine, NetworkDisk("gp3", 75)) is None
    assert local_ssd_cap(name) is None


def test_candidates() -> None:
    """125 MiB/s are gp3 as it comes, or gp2 of 150 to 170 GiB."""
    caps = candidates("amazon", "m5d.metal", 125 * MIB)
    assert [(cap.disk.kind, cap.disk.size_gib) for cap in caps] == [
        ("gp3", None),
        ("gp2", 170),
        ("gp2", 150),
    ]


def test_a_faster_volume() -> None:
    """gp2 grows up to 250 MiB/s, then gp3 is bought; the instance's always is the limit."""
    disk = NetworkDisk("gp2", 100)
    machine = machine_with("amazon", "m5d.metal", disk)
    assert disk_for(machine, disk, 125 * MIB) == NetworkDisk("gp2", 170)
    assert disk_for(machine, disk, 251 * MIB) == NetworkDisk("gp3", 100, 3000, 500 * MIB)
    small = machine_with("amazon", "m5.large", disk)
    assert disk_for(small, disk, 100 * MIB) is None


@pytest.mark.parametrize(
    ("name", "disks", "rates", "is_certain"),
    [
        ("m5d.metal", None, (1400000, 680000, 7152, 3040), False),
        ("m5d.metal", 1, (350000, 170000, 1788, 760), False),
        ("c5d.18xlarge", 2, (700000, 340000, 3542, 1518), False),
        ("i4i.large", 1, (50000, 27500, 361, 267), False),
        ("c6id.large", 1, (33542, 16771, None, None), True),
    ],
)
def test_instance_stores(
    name: str, disks: int | None, rates: tuple[float | None, ...], is_certain: bool
) -> None:
    """Operations are published for all disks, bytes were measured of each, so are not certain."""
    cap = local_ssd_cap(name, disks)
    assert cap is not None
    assert (rates_in(MIB, cap.rates), cap.is_certain) == (rates, is_certain)


@pytest.mark.parametrize(("name", "disks"), [("m5d.metal", 5), ("m5d.metal", 0), ("m5.metal", 1)])
def test_disks_that_an_instance_does_not_have(name: str, disks: int) -> None:
    """No more than there are, and none where there are none."""
    assert local_ssd_cap(name, disks) is None


@pytest.mark.parametrize(
    ("disk", "amount"),
    [
        (NetworkDisk("gp2", 100), 10),
        (NetworkDisk("gp3", 100), 8),
        (NetworkDisk("gp3", 40, 4000, 130 * MIB), 8.4),  # the row of the source
        (NetworkDisk("io1", 30, 300), 23.25),
        (NetworkDisk("io2", 30, 300), 23.25),
        (NetworkDisk("st1", 40), 1.8),
    ],
)
def test_prices(disk: NetworkDisk, amount: float) -> None:
    """US dollars per month in us-east-1."""
    price = price_per_month("amazon", disk)
    assert price is not None
    assert (round(price.amount_per_month, 6), price.currency) == (amount, "USD")
    assert price.region == "us-east-1"


@pytest.mark.parametrize(
    "disk", [NetworkDisk("gp3"), NetworkDisk("sc1", 50), NetworkDisk("io2", 100, 32001)]
)
def test_prices_that_are_not_published(disk: NetworkDisk) -> None:
    """Without a size, or for a kind or a number of operations that the source does not have."""
    assert price_per_month("amazon", disk) is None
