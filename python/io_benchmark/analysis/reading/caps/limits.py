# SPDX-License-Identifier: MPL-2.0
"""What a network disk may do at most: by its kind and size, and by the machine that it is on."""

from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import astuple

from io_benchmark.analysis.model.pool_machine import NetworkDisk

MIB = 2.0**20
MB = 1e6
MBIT = 1e6 / 8


class Source(Struct, frozen=True):
    """Where a figure was read."""

    address: str  # that a reader can open
    date: str  # of what was read; empty: not known
    is_certain: bool = True  # False: not the cloud's own word, or not for exactly this


class Rates(Struct, frozen=True):
    """The most per second; None: no figure is published."""

    read_bytes_per_s: float | None = None
    write_bytes_per_s: float | None = None
    read_iops: float | None = None
    write_iops: float | None = None

    @classmethod
    def from_row(cls, row: Sequence[float | None], unit: float) -> "Rates":
        """Return a row of a table: operations of reads and writes, then bytes in the unit."""
        read_iops, write_iops, read, write = row
        return cls(
            read_bytes_per_s=None if read is None else read * unit,
            write_bytes_per_s=None if write is None else write * unit,
            read_iops=read_iops,
            write_iops=write_iops,
        )


def highest(first: Rates, second: Rates) -> Rates:
    """Return the higher of each of two rates; a rate that only one publishes is that one."""
    pairs = zip(astuple(first), astuple(second), strict=True)
    return Rates(
        *(max((rate for rate in pair if rate is not None), default=None) for pair in pairs)
    )


class BoundBy(StrEnum):
    DISK = "disk"
    MACHINE = "machine"


class DiskCap(Struct, frozen=True, kw_only=True):
    """The caps of one network disk on one type of machine."""

    disk: NetworkDisk  # its kind and size are filled in
    of_disk: Rates
    of_machine: Rates | None  # all network disks of the machine together; None: not published
    sources: tuple[Source, ...]
    burst: Rates | None = None  # above the cap, until credits are spent
    burst_s: float | None = None  # how long, from full credits
    # Where sources differ on the disk: `of_disk` is the least that they say, and this the most.
    disk_at_most: Rates | None = None

    @property
    def write_bytes_per_s(self) -> float | None:
        """Return the tighter of the disk's and the machine's cap."""
        return _tighter_write_rate(self.of_disk, self.of_machine)

    @property
    def write_bytes_per_s_at_most(self) -> float | None:
        """Return the same by the source that says the most of the disk."""
        return _tighter_write_rate(self.disk_at_most or self.of_disk, self.of_machine)

    @property
    def writes_bound_by(self) -> BoundBy | None:
        """Return what limits writes; None where nothing is published."""
        if self.write_bytes_per_s is None:
            return None
        is_of_disk = self.write_bytes_per_s == self.of_disk.write_bytes_per_s
        return BoundBy.DISK if is_of_disk else BoundBy.MACHINE

    @property
    def is_certain(self) -> bool:
        return all(source.is_certain for source in self.sources)


class DiskPrice(Struct, frozen=True):
    """A list price, without discounts and taxes."""

    amount_per_month: float
    currency: str
    region: str  # as the cloud writes it
    source: Source


def _tighter_write_rate(disk: Rates, machine: Rates | None) -> float | None:
    caps = [disk.write_bytes_per_s, machine.write_bytes_per_s if machine else None]
    return min((cap for cap in caps if cap is not None), default=None)
