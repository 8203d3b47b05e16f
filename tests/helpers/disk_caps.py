# SPDX-License-Identifier: MPL-2.0
"""Machines with disks, and their caps in the units of the sources."""

from io_benchmark.analysis.model.pool_machine import NetworkDisk, PoolMachine
from io_benchmark.analysis.reading.caps import disks_for, network_cap
from io_benchmark.analysis.reading.caps.limits import DiskCap, Rates


def machine_with(cloud: str, machine_type: str, *disks: NetworkDisk) -> PoolMachine:
    """A machine that boots from the first of these disks."""
    return PoolMachine(cloud, machine_type, disks[0] if disks else None, disks[1:])


def disk_for(
    machine: PoolMachine, disk: NetworkDisk, write_bytes_per_s: float
) -> NetworkDisk | None:
    """The first disk that has at least this write cap: of the same kind, if one has."""
    return next(disks_for(machine, disk, write_bytes_per_s), None)


def boot_cap(cloud: str, machine_type: str, disk: NetworkDisk) -> DiskCap:
    """The cap of a machine's only disk, which is published."""
    cap = network_cap(machine_with(cloud, machine_type, disk), disk)
    assert cap is not None
    return cap


def rates_in(unit: float, rates: Rates | None) -> tuple[float | None, ...] | None:
    """IOPS of reads and of writes, and bytes of both in a unit, to three digits after the point."""
    if rates is None:
        return None
    read, write = rates.read_bytes_per_s, rates.write_bytes_per_s
    values = (
        rates.read_iops,
        rates.write_iops,
        None if read is None else read / unit,
        None if write is None else write / unit,
    )
    return tuple(None if value is None else round(value, 3) for value in values)
