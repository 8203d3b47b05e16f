# SPDX-License-Identifier: MPL-2.0
"""What the network disks of one cloud have in common with those of the others."""

from collections.abc import Iterable, Iterator
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.model.pool_machine import NetworkDisk, PoolMachine
from io_benchmark.analysis.reading.caps.limits import (
    DiskCap,
    DiskPrice,
    Rates,
    Source,
    lowest,
)
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


class DiskLimits(Struct, frozen=True):
    """What a disk does without regard to its machine, or a machine with all its disks."""

    rates: Rates
    sources: tuple[Source, ...]
    burst: Rates | None = None  # above the rates, until credits are spent
    burst_s: float | None = None  # how long at least, from full credits
    large_burst_s: float | None = None  # how long with operations so large that bytes count


def cap_of_both(
    disk: NetworkDisk,
    of_disk: DiskLimits,
    of_machine: DiskLimits | None,
    is_shared: bool | None = None,
) -> DiskCap:
    """Return the caps of a disk and its machine, each of which may exceed its own for a while."""
    limits = [of_disk] if of_machine is None else [of_disk, of_machine]
    highest_rates = [limit.burst or limit.rates for limit in limits]
    burst = lowest(highest_rates[0], highest_rates[-1])
    # Those that the burst exceeds: their credits end it.
    exceeded = [limit for limit in limits if limit.burst and burst.exceeds(limit.rates)]
    exceeded_by_large = [limit for limit in exceeded if burst.exceeds_bytes(limit.rates)]
    return DiskCap(
        disk=disk,
        of_disk=of_disk.rates,
        of_machine=None if of_machine is None else of_machine.rates,
        sources=tuple(source for limit in limits for source in limit.sources),
        is_shared=is_shared,
        burst=burst if exceeded else None,
        burst_s=_shortest(limit.burst_s for limit in exceeded),
        large_burst_s=_shortest(limit.large_burst_s for limit in exceeded_by_large),
    )


def _shortest(durations: Iterable[float | None]) -> float | None:
    return min((duration for duration in durations if duration is not None), default=None)


class NetworkDisks(Protocol):
    """What one cloud publishes about its network disks."""

    def usual_kinds(self, machine_type: str) -> tuple[DiskKind, ...]:
        """Return the kinds that such a machine may boot from, the slowest first."""

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
