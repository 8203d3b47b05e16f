# SPDX-License-Identifier: MPL-2.0
"""What clouds publish about their disks: one module per cloud, with its record `CLOUD`.

A cap is an upper bound: one copy is a single reader and writer at queue depth 1, and what the page
cache absorbs is not limited by it. What a cloud does not publish is not guessed.
"""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules

from msgspec.structs import replace

from io_benchmark.analysis.model.pool_machine import NetworkDisk, PoolMachine
from io_benchmark.analysis.reading.caps.cloud import Cloud
from io_benchmark.analysis.reading.caps.limits import BoundBy, DiskCap, DiskPrice, LocalCap
from io_benchmark.analysis.reading.caps.network import NetworkDisks, with_kind, with_kinds

_SHARED = ("cloud", "limits", "network")
_MODULES = sorted(module.name for module in iter_modules(__path__) if module.name not in _SHARED)
_BY_MODULE: dict[str, Cloud] = {
    name: import_module(f"{__name__}.{name}").CLOUD for name in _MODULES
}
CLOUDS: tuple[Cloud, ...] = tuple(_BY_MODULE.values())
# A measured rate is that of a cap if it differs by no more than this.
_NEARLY = 0.1


def network_cap(machine: PoolMachine, disk: NetworkDisk) -> DiskCap | None:
    """Return the caps of a disk on its machine; None: its kind, size or machine is not published.

    A disk that is not one of the machine's is looked at as if it were its only disk.
    """
    disks = _disks_of(machine.cloud)
    if disks is None:
        return None
    disk = with_kind(machine, disk, disks)
    has_kind = bool(disk.kind) or disk.is_ephemeral
    if not has_kind or disks.problem(machine.machine_type, disk.kind) is not None:
        return None
    return disks.cap(with_kinds(machine, disks), disk)


def problem_with(machine: PoolMachine) -> str | None:
    """Return a phrase on a machine type or disk kind that is not known; None: all are."""
    disks = _disks_of(machine.cloud)
    if disks is None:
        return None
    machine = with_kinds(machine, disks)
    kinds = [disk.kind for disk in (machine.boot_disk, *machine.data_disks) if disk is not None]
    problems = (disks.problem(machine.machine_type, kind) for kind in kinds or [""])
    return next(filter(None, problems), None)


def candidates(
    cloud: str, machine_type: str, write_bytes_per_s: float, size_gib: float | None = None
) -> tuple[DiskCap, ...]:
    """Return usual disks whose write cap is nearly a measured rate, the likeliest first.

    What the machine limits comes last, since then any larger disk fits as well. With a size, only
    disks of that size are looked at.
    """
    disks = _disks_of(cloud)
    if disks is None or write_bytes_per_s <= 0:
        return ()
    default_kind = disks.default_kind(machine_type)
    fitting: list[tuple[tuple[bool, bool, float], DiskCap]] = []
    for cap in _usual_caps(PoolMachine(cloud, machine_type), disks, size_gib):
        # Where sources differ on a disk, each may be right.
        rates = [cap.write_bytes_per_s, cap.write_bytes_per_s_at_most]
        distance = min(abs(rate / write_bytes_per_s - 1) for rate in rates if rate is not None)
        if distance <= _NEARLY:
            is_of_machine = cap.writes_bound_by is BoundBy.MACHINE
            fitting.append(((is_of_machine, cap.disk.kind != default_kind, distance), cap))
    return tuple(cap for _, cap in sorted(fitting, key=lambda entry: entry[0]))


def _usual_caps(
    machine: PoolMachine, disks: NetworkDisks, size_gib: float | None
) -> Iterator[DiskCap]:
    """Yield the caps of disks that are usual, whose writes have one."""
    for kind in disks.usual_kinds(machine.machine_type):
        for disk in kind.disks() if size_gib is None else kind.disks_of_size(size_gib):
            cap = network_cap(machine, disk)
            if cap is not None and cap.write_bytes_per_s is not None:
                yield cap


def disks_for(
    machine: PoolMachine, disk: NetworkDisk, write_bytes_per_s: float
) -> Iterator[NetworkDisk]:
    """Yield the smallest disk of each kind with at least this write cap, its present kind first."""
    disks = _disks_of(machine.cloud)
    if disks is None:
        return
    disk = with_kind(machine, disk, disks)
    kinds = disks.usual_kinds(machine.machine_type)
    names = [kind.name for kind in kinds]
    # The kinds that are usually faster come later.
    for kind in kinds[names.index(disk.kind) :] if disk.kind in names else ():
        for faster in kind.disks_instead_of(disk):
            cap = network_cap(_with_disk(machine, disk, faster), faster)
            if cap is not None and (cap.write_bytes_per_s or 0) >= write_bytes_per_s:
                yield faster
                break


def price_per_month(cloud: str, disk: NetworkDisk) -> DiskPrice | None:
    """Return the list price of a disk; None without a source that a reader can open."""
    disks = _disks_of(cloud)
    return None if disks is None else disks.price_per_month(disk)


def local_ssd_cap(machine_type: str, disks: int | None = None) -> LocalCap | None:
    """Return what this many of a machine's own disks do together; None: not published.

    Without a number, what the disks do that the machine type comes with.
    """
    for cloud in CLOUDS:
        cap = cloud.local_ssd_cap(machine_type, disks) if cloud.local_ssd_cap else None
        if cap is not None:
            return cap
    return None


def _disks_of(cloud: str) -> NetworkDisks | None:
    return _BY_MODULE[cloud].network_disks if cloud in _BY_MODULE else None


def _with_disk(machine: PoolMachine, disk: NetworkDisk, new_disk: NetworkDisk) -> PoolMachine:
    """Return a machine on which one disk is replaced."""
    if machine.boot_disk == disk:
        return replace(machine, boot_disk=new_disk)
    data_disks = [new_disk if data_disk == disk else data_disk for data_disk in machine.data_disks]
    return replace(machine, data_disks=tuple(data_disks))
