# SPDX-License-Identifier: MPL-2.0
"""Google's persistent disks: a baseline and a rate per GiB, up to what the machine may do.

Disks of one kind on one machine share the rate of their sizes added up. Reads and writes of
standard disks share it as well
(https://docs.cloud.google.com/compute/docs/disks/optimizing-pd-performance).
"""

from io_benchmark.analysis.model.pool_machine import NetworkDisk, PoolMachine
from io_benchmark.analysis.reading.caps.google.machine_types import MachineType
from io_benchmark.analysis.reading.caps.google.persistent_disk_machines import (
    machine_rates,
    machine_source,
)
from io_benchmark.analysis.reading.caps.limits import MB, MIB, DiskCap, Rates, Source, highest
from io_benchmark.analysis.reading.caps.network import DiskKind, size_of_kind

_FOLDER = "GoogleCloudPlatform/gcpdiag:gcpdiag/runbook/gce/disk_performance_benchmark"
_BY_SIZE = Source(f"{_FOLDER}/limits_per_gb.json", "2024-08-21")
# Two statements of the cloud differ: the formula, and fixed limits up to 100 GB in its tool.
_BELOW_100_GIB = Source(
    "GoogleCloudPlatform/gcpdiag:gcpdiag/runbook/gce/vm_performance.py", "2026-08-07", False
)
_FIXED_BELOW_100_GIB = Rates(12 * MB, 12 * MB, 75, 150)
_END_OF_FIXED_LIMITS_GIB = 100

# By the kind: IOPS and MiB/s of any size; then IOPS of reads and of writes, and MiB/s, per GiB.
_SIZES = {
    "pd-standard": ((0, 0), (0.75, 1.5, 0.12)),
    "pd-balanced": ((3000, 140), (6, 6, 0.28)),
    "pd-ssd": ((6000, 240), (30, 30, 0.48)),
}
# Round sizes, which are at most a third apart from 30 GiB on.
_UP_TO_500_GIB = (10, 20, 30, 40, 50, 60, 75, 80, 100, 120, 150, 200, 250, 300, 350, 400, 450, 500)
_ABOVE_500_GIB = (600, 700, 750, 800, 900, 1000, 1200, 1500, 1750, 2000, 2500, 3000, 4000, 5000)
_USUAL_SIZES_GIB = (*_UP_TO_500_GIB, *_ABOVE_500_GIB)
KINDS = tuple(DiskKind(name, _USUAL_SIZES_GIB) for name in _SIZES)
# Machines of these series take no persistent disks, says
# https://docs.cloud.google.com/compute/docs/general-purpose-machines, as read by others:
# https://github.com/nextflow-io/nextflow/issues/6614
WITHOUT = ("c4", "c4a", "c4d", "n4", "n4a", "n4d")


def persistent_disk_cap(
    machine: PoolMachine, machine_type: MachineType, disk: NetworkDisk
) -> DiskCap | None:
    """Return the caps of a persistent disk; None without a size."""
    size_gib = size_of_kind(machine, disk)
    if size_gib is None or disk.kind not in _SIZES:
        return None
    disk_rates = _size_rates(disk.kind, size_gib)
    all_disks_rates = machine_rates(machine_type, disk.kind)
    sources = [_BY_SIZE]
    if all_disks_rates is not None:
        sources.append(machine_source(machine_type))
    is_small = disk.kind == "pd-standard" and size_gib < _END_OF_FIXED_LIMITS_GIB
    if is_small:
        sources.append(_BELOW_100_GIB)
    return DiskCap(
        disk=disk,
        of_disk=disk_rates,
        of_machine=all_disks_rates,
        sources=tuple(sources),
        is_shared=True if disk.kind == "pd-standard" else None,
        disk_at_most=highest(disk_rates, _FIXED_BELOW_100_GIB) if is_small else None,
    )


def _size_rates(kind: str, size_gib: float) -> Rates:
    (iops, mib_per_s), (read_iops, write_iops, mib_per_s_and_gib) = _SIZES[kind]
    bytes_per_s = (mib_per_s + mib_per_s_and_gib * size_gib) * MIB
    return Rates(
        bytes_per_s, bytes_per_s, iops + read_iops * size_gib, iops + write_iops * size_gib
    )
