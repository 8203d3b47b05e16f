# SPDX-License-Identifier: MPL-2.0
"""What the network disks of one cloud have in common with those of the others."""

from collections.abc import Iterator
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.model.pool_machine import NetworkDisk, PoolMachine
from io_benchmark.analysis.reading.caps.limits import DiskCap, DiskPrice
from io_benchmark.text import clean_name


class DiskKind(Struct, frozen=True):
    """A kind of disk that is usual, with what is usually bought of it."""

    name: str
    sizes_gib: tuple[float, ...] = ()  # the smallest first; empty: size does not change its rate
    # Operations and bytes per second that are bought apart from the size.
    provisions: tuple[tuple[float, float], ...] = ()

    def disks(self) -> Iterator[NetworkDisk]:
        """Yield what is usually bought, the slowest first."""
        yield from (NetworkDisk(self.name, size_gib) for size_gib in self.sizes_gib)
        yield from self._provisioned(None)

    def disks_instead_of(self, disk: NetworkDisk) -> Iterator[NetworkDisk]:
        """Yield disks of this kind that hold as much as a disk, the smallest change first."""
        size_gib = disk.size_gib
        if self.provisions:
            yield from self._provisioned(size_gib)
        else:
            sizes = (size for size in self.sizes_gib if size >= (size_gib or 0))
            yield from (NetworkDisk(self.name, size) for size in sizes)

    def disks_of_size(self, size_gib: float) -> Iterator[NetworkDisk]:
        """Yield what is usually bought of this size."""
        if self.sizes_gib:
            yield NetworkDisk(self.name, size_gib)
        yield from self._provisioned(size_gib)

    def _provisioned(self, size_gib: float | None) -> Iterator[NetworkDisk]:
        for iops, bytes_per_s in self.provisions:
            yield NetworkDisk(self.name, size_gib, iops, bytes_per_s)


class NetworkDisks(Protocol):
    """What one cloud publishes about its network disks."""

    @property
    def usual_kinds(self) -> tuple[DiskKind, ...]:
        """Return the kinds that machines boot from, the slowest first."""

    def default_kind(self, machine_type: str) -> str | None:
        """Return the kind of a disk whose definition names none; None: not published."""

    def problem(self, machine_type: str, kind: str) -> str | None:
        """Return a phrase on a machine type or kind that is not known, or not together."""

    def cap(self, machine: PoolMachine, disk: NetworkDisk) -> DiskCap | None:
        """Return the caps of a disk whose kind is filled in; None: not published."""

    def price_per_month(self, disk: NetworkDisk) -> DiskPrice | None:
        """Return the list price; None without a source for this kind."""


def with_kinds(machine: PoolMachine, disks: NetworkDisks) -> PoolMachine:
    """Return a machine whose disks have the kind that its type has where none is named."""
    boot_disk = machine.boot_disk
    return replace(
        machine,
        boot_disk=None if boot_disk is None else with_kind(machine, boot_disk, disks),
        data_disks=tuple(with_kind(machine, disk, disks) for disk in machine.data_disks),
    )


def with_kind(machine: PoolMachine, disk: NetworkDisk, disks: NetworkDisks) -> NetworkDisk:
    """Return a disk with its bare kind; it stays empty where none is published."""
    kind = disk.kind.rsplit("/", 1)[-1] or disks.default_kind(machine.machine_type) or ""
    return replace(disk, kind=kind)


def size_of_kind(machine: PoolMachine, disk: NetworkDisk) -> float | None:
    """Return the size of all disks of the kind on a machine; None: one is not known.

    A disk that the machine does not have is looked at alone.
    """
    disks = [*filter(None, [machine.boot_disk]), *machine.data_disks]
    sizes = [neighbour.size_gib for neighbour in disks if neighbour.kind == disk.kind]
    if disk not in disks:
        sizes = [disk.size_gib]
    known_sizes = [size_gib for size_gib in sizes if size_gib is not None]
    return sum(known_sizes) if len(known_sizes) == len(sizes) else None


def unknown_kind(kind: str) -> str:
    return f"disk type {clean_name(kind)} is not known"


def unknown_machine_type(machine_type: str) -> str:
    return f"machine type {clean_name(machine_type)} is not known"
