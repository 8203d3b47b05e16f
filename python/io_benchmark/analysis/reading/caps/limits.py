# SPDX-License-Identifier: MPL-2.0
"""What a network disk may do at most: by its kind and size, and by the machine that it is on."""

from enum import StrEnum

from msgspec import Struct

from io_benchmark.analysis.model.pool_machine import NetworkDisk


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

    @property
    def write_bytes_per_s(self) -> float | None:
        """Return the tighter of the disk's and the machine's cap."""
        rates = (self.of_disk, self.of_machine or Rates())
        known = [rate.write_bytes_per_s for rate in rates if rate.write_bytes_per_s is not None]
        return min(known, default=None)

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
