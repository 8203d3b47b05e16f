# SPDX-License-Identifier: MPL-2.0
"""Google's Hyperdisk: each volume has the rate that was bought for it, else one by its size.

Reads and writes share the rate.
"""

from io_benchmark.analysis.model.pool_machine import NetworkDisk
from io_benchmark.analysis.reading.caps.google.machine_types import MachineType
from io_benchmark.analysis.reading.caps.limits import MIB, DiskCap, Rates, Source
from io_benchmark.analysis.reading.caps.network import DiskKind

_PAGES = "https://docs.cloud.google.com/compute/docs/disks/hd-types"
_REPORT = Source(  # quotes the tables of Google's pages
    "takech9203/google-cloud-news-summary:reports/2026/"
    "2026-07-28-compute-engine-hyperdisk-balanced-c4d-throughput.md",
    "2026-07-28",
)
# The section "Default IOPS and throughput values" could not be read; the formula is from memory,
# and fits what was seen of a disk of 100 GiB: 3,600 IOPS and 290 MiB/s.
_BY_DEFAULT = Source(f"{_PAGES}/hyperdisk-balanced#default-perf", "", is_certain=False)
_THROUGHPUT = Source(f"{_PAGES}/hyperdisk-throughput", "")

_MOST_IOPS, _MOST_MIB_PER_S = 160_000, 2400
_FEWEST_IOPS, _LEAST_MIB_PER_S = 3000, 140

# All Hyperdisk Balanced volumes of a machine: virtual CPUs, IOPS, MiB/s.
_C4D = (
    (2, 22500, 400),
    (4, 50000, 400),
    (8, 50000, 800),
    (16, 75000, 1200),
    (32, 75000, 1600),
    (48, 75000, 1600),
    (64, 160000, 2400),
    (96, 160000, 3125),
    (192, 240000, 6250),
    (384, 320000, 12500),
)
_C4D_METAL = (320000, 10000)

# For each MiB per second, four operations per second are needed.
_USUALLY_BOUGHT = (
    (3000, 200 * MIB),
    (3000, 300 * MIB),
    (3000, 500 * MIB),
    (3000, 750 * MIB),
    (4000, 1000 * MIB),
    (6400, 1600 * MIB),
    (9600, 2400 * MIB),
)
_USUAL_SIZES_GIB = (20, 40, 50, 60, 75, 100, 150, 200, 250, 300, 400, 500, 750, 1000, 1500, 2000)
KINDS = (DiskKind("hyperdisk-balanced", _USUAL_SIZES_GIB, _USUALLY_BOUGHT),)


def hyperdisk_cap(machine_type: MachineType, disk: NetworkDisk) -> DiskCap | None:
    """Return the caps of a volume; None where its kind or what was bought is not published."""
    if disk.kind == "hyperdisk-throughput":
        return _throughput_cap(disk)
    if disk.kind != "hyperdisk-balanced":
        return None
    iops, bytes_per_s = disk.provisioned_iops, disk.provisioned_bytes_per_s
    sources = [_REPORT]
    if iops is None or bytes_per_s is None:
        if disk.size_gib is None:
            return None
        sources.append(_BY_DEFAULT)
        default_iops = min(_MOST_IOPS, _FEWEST_IOPS + 6 * disk.size_gib)
        default_mib_per_s = min(_MOST_MIB_PER_S, _LEAST_MIB_PER_S + 1.5 * disk.size_gib)
        iops = default_iops if iops is None else iops
        bytes_per_s = default_mib_per_s * MIB if bytes_per_s is None else bytes_per_s
    iops, bytes_per_s = min(iops, _MOST_IOPS), min(bytes_per_s, _MOST_MIB_PER_S * MIB)
    return DiskCap(
        disk=disk,
        of_disk=Rates.shared(iops, bytes_per_s),
        of_machine=_machine_rates(machine_type),
        sources=tuple(sources),
        is_shared=True,
    )


def _machine_rates(machine_type: MachineType) -> Rates | None:
    if machine_type.series != "c4d":
        return None
    if machine_type.name.endswith("-metal"):
        return Rates.shared(_C4D_METAL[0], _C4D_METAL[1] * MIB)
    for cpus, iops, mib_per_s in _C4D:
        if cpus == machine_type.cpus:
            return Rates.shared(iops, mib_per_s * MIB)
    return None


def _throughput_cap(disk: NetworkDisk) -> DiskCap | None:
    """Each MiB/s that was bought comes with 4 operations."""
    if disk.provisioned_bytes_per_s is None:
        return None
    bytes_per_s = min(disk.provisioned_bytes_per_s, _MOST_MIB_PER_S * MIB)
    return DiskCap(
        disk=disk,
        of_disk=Rates.shared(4 * bytes_per_s / MIB, bytes_per_s),
        of_machine=None,
        sources=(_THROUGHPUT,),
    )
