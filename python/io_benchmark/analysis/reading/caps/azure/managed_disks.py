# SPDX-License-Identifier: MPL-2.0
"""Azure's managed disks: the next larger size of a kind decides, or what was bought (v2)."""

from io_benchmark.analysis.model.pool_machine import NetworkDisk
from io_benchmark.analysis.reading.caps.limits import MB, MIB, Rates, Source
from io_benchmark.analysis.reading.caps.network import DiskKind, DiskLimits

_DOCS = "MicrosoftDocs/azure-docs:includes"
_PREMIUM_SOURCE = Source(f"{_DOCS}/disk-storage-premium-ssd-sizes.md", "2023-03-16")
_V2_SOURCE = Source(
    "MicrosoftDocs/azure-compute-docs:articles/virtual-machines/disks-types.md", "2026-08-11"
)
# The table is old: E10 to E50 may do more today. That E1 to E30 have a burst is published in
# azure-compute-docs (includes/managed-disks-bursting-2.md), its rate is from memory.
_SSD_ADDRESS = f"{_DOCS}/disk-storage-standard-ssd-sizes.md"
_SSD_SOURCE = Source(_SSD_ADDRESS, "2019-03-28")
_OLD_SSD_SOURCE = Source(_SSD_ADDRESS, "2019-03-28", is_certain=False)
_HDD_SOURCE = Source(f"{_DOCS}/disk-storage-standard-hdd-sizes.md", "2019-03-18")

# Full credits are enough for 30 minutes of the burst, in operations and in bytes.
_BURST_S = 30 * 60

# GiB; IOPS and MB/s. Credits are for P20 and smaller: what is paid for above is not here.
_PREMIUM = (
    ("P1", 4, 120, 25),
    ("P2", 8, 120, 25),
    ("P3", 16, 120, 25),
    ("P4", 32, 120, 25),
    ("P6", 64, 240, 50),
    ("P10", 128, 500, 100),
    ("P15", 256, 1100, 125),
    ("P20", 512, 2300, 150),
    ("P30", 1024, 5000, 200),
    ("P40", 2048, 7500, 250),
    ("P50", 4096, 7500, 250),
    ("P60", 8192, 16000, 500),
    ("P70", 16384, 18000, 750),
    ("P80", 32767, 20000, 900),
)
_PREMIUM_BURST, _LARGEST_PREMIUM_BURST_GIB = Rates.shared(3500, 170 * MB), 512
# GiB; IOPS and MiB/s.
_STANDARD_SSD = (
    ("E1", 4, 120, 25),
    ("E2", 8, 120, 25),
    ("E3", 16, 120, 25),
    ("E4", 32, 120, 25),
    ("E6", 64, 240, 50),
    ("E10", 128, 500, 60),
    ("E15", 256, 500, 60),
    ("E20", 512, 500, 60),
    ("E30", 1024, 500, 60),
    ("E40", 2048, 500, 60),
    ("E50", 4096, 500, 60),
    ("E60", 8192, 2000, 400),
    ("E70", 16384, 4000, 600),
    ("E80", 32767, 6000, 750),
)
_SSD_BURST, _LARGEST_SSD_BURST_GIB = Rates.shared(600, 150 * MB), 1024
_LARGEST_OLD_SSD_GIB = 4096
# GiB; IOPS and MB/s.
_STANDARD_HDD = (
    ("S4", 32, 500, 60),
    ("S6", 64, 500, 60),
    ("S10", 128, 500, 60),
    ("S15", 256, 500, 60),
    ("S20", 512, 500, 60),
    ("S30", 1024, 500, 60),
    ("S40", 2048, 500, 60),
    ("S50", 4096, 500, 60),
    ("S60", 8192, 1300, 300),
    ("S70", 16384, 2000, 500),
    ("S80", 32767, 2000, 500),
)
_TABLES = {"Standard": _STANDARD_HDD, "StandardSSD": _STANDARD_SSD, "Premium": _PREMIUM}

_V2_IOPS, _V2_MB_PER_S = 3000, 125
_V2_MOST_IOPS, _V2_MOST_MB_PER_S = 80_000, 2000

# Disks of which a machine may boot; Premium v2 is for data.
KINDS = tuple(
    DiskKind(f"{name}_LRS", tuple(gib for _, gib, _, _ in rows if 32 <= gib <= 4096))
    for name, rows in _TABLES.items()
)
_DATA_KINDS = ("PremiumV2_LRS", "UltraSSD_LRS")
_REDUNDANT_KINDS = ("StandardSSD_ZRS", "Premium_ZRS")
NAMES = (*(kind.name for kind in KINDS), *_REDUNDANT_KINDS, *_DATA_KINDS)


def size_name(disk: NetworkDisk) -> str | None:
    """Return the size that is billed, such as P10; None where sizes are not fixed or known."""
    row = _row_of(disk)
    return None if row is None else row[0]


def managed_limits(disk: NetworkDisk) -> DiskLimits | None:
    """Return what a managed disk does; None where its kind or size is not published."""
    if disk.kind == "PremiumV2_LRS":
        return _premium_v2(disk)
    row = _row_of(disk)
    if row is None:
        return None
    _, size_gib, iops, rate = row
    if disk.kind.startswith("StandardSSD"):
        return _standard_ssd(size_gib, iops, rate)
    rates = Rates.shared(iops, rate * MB)
    if disk.kind.startswith("Standard"):
        return DiskLimits(rates, (_HDD_SOURCE,))
    if size_gib > _LARGEST_PREMIUM_BURST_GIB:
        return DiskLimits(rates, (_PREMIUM_SOURCE,))
    return DiskLimits(rates, (_PREMIUM_SOURCE,), _PREMIUM_BURST, _BURST_S, _BURST_S)


def _standard_ssd(size_gib: int, iops: int, mib_per_s: int) -> DiskLimits:
    rates = Rates.shared(iops, mib_per_s * MIB)
    source = _OLD_SSD_SOURCE if size_gib <= _LARGEST_OLD_SSD_GIB else _SSD_SOURCE
    if size_gib > _LARGEST_SSD_BURST_GIB:
        return DiskLimits(rates, (source,))
    return DiskLimits(rates, (source,), _SSD_BURST, _BURST_S, _BURST_S)


def _premium_v2(disk: NetworkDisk) -> DiskLimits:
    iops = min(disk.provisioned_iops or _V2_IOPS, _V2_MOST_IOPS)
    bytes_per_s = disk.provisioned_bytes_per_s or _V2_MB_PER_S * MB
    rates = Rates.shared(iops, min(bytes_per_s, _V2_MOST_MB_PER_S * MB))
    return DiskLimits(rates, (_V2_SOURCE,))


def _row_of(disk: NetworkDisk) -> tuple[str, int, int, int] | None:
    rows = _TABLES.get(disk.kind.rpartition("_")[0], ()) if disk.kind in NAMES else ()
    if disk.size_gib is None or disk.size_gib <= 0:
        return None
    return next((row for row in rows if disk.size_gib <= row[1]), None)
