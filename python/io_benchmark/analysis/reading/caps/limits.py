# SPDX-License-Identifier: MPL-2.0
"""What a network disk may do at most: by its kind and size, and by the machine that it is on."""

from collections.abc import Callable, Sequence
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

    @classmethod
    def shared(cls, iops: float | None, bytes_per_s: float | None) -> "Rates":
        """Return rates that are the same for reads and writes."""
        return cls(bytes_per_s, bytes_per_s, iops, iops)

    def times(self, factor: float) -> "Rates":
        return Rates(*(None if rate is None else factor * rate for rate in astuple(self)))

    def exceeds(self, limit: "Rates") -> bool:
        """Return whether any rate is higher than the same rate of a limit."""
        pairs = zip(astuple(self), astuple(limit), strict=True)
        return any(rate is not None and most is not None and rate > most for rate, most in pairs)

    def exceeds_bytes(self, limit: "Rates") -> bool:
        """Return whether more bytes are written than a limit allows."""
        return Rates(None, self.write_bytes_per_s).exceeds(limit)


def highest(first: Rates, second: Rates) -> Rates:
    """Return the higher of each of two rates; a rate that only one publishes is that one."""
    return _combined(max, first, second)


def lowest(first: Rates, second: Rates) -> Rates:
    """Return the lower of each of two rates; a rate that only one publishes is that one."""
    return _combined(min, first, second)


def _combined(choose: Callable[[list[float]], float], first: Rates, second: Rates) -> Rates:
    pairs = zip(astuple(first), astuple(second), strict=True)
    published = [[rate for rate in pair if rate is not None] for pair in pairs]
    return Rates(*(choose(rates) if rates else None for rates in published))


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
    burst_s: float | None = None  # how long at least, from full credits
    # How long with operations so large that bytes per second are the limit; None: without end.
    large_burst_s: float | None = None
    # Whether reads and writes together have one limit; None: not published.
    is_shared: bool | None = None
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


class LocalCap(Struct, frozen=True, kw_only=True):
    """The caps of a machine's own disks, of all that are counted together."""

    disks: int
    rates: Rates
    sources: tuple[Source, ...]

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
