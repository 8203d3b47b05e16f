# SPDX-License-Identifier: MPL-2.0
"""The network disk under a place: which one it is, and what it may write and read at most.

A worker sees that its disk is of the network, and its size. The kind is in its pool's definition.
Without one, the rate that the disk kept up is compared with what each usual kind has at this size.
"""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.model.once import once
from io_benchmark.analysis.model.pool_machine import NetworkDisk, PoolMachine
from io_benchmark.analysis.model.run import Run
from io_benchmark.analysis.model.statements import Quantity, Statement, Unit, joined, statement
from io_benchmark.analysis.reading.cap_ways import WRITING, CapWay
from io_benchmark.analysis.reading.caps import candidates, local_ssd_cap, network_cap, problem_with
from io_benchmark.analysis.reading.caps.limits import DiskCap, Rates
from io_benchmark.analysis.reading.disks import (
    LOCAL_SSD,
    PERSISTENT_DISK,
    MachineType,
    machine_type,
    stack_of,
)

_GIB = 2.0**30
# A disk has the defined size if it differs by less: definitions have whole GB.
_SAME_SIZE = 0.02
# Caps of several disks are one if they differ by less.
_SAME_CAP_RATIO = 1.25
# A measured rate is at a cap between these parts of it: copies leave a disk idle now and then, and
# a large request counts in the second in which it ends.
_AT_CAP_SHARES = (0.75, 1.25)
# The clouds as workers name them, and as the tables do.
_CLOUDS = {"google": "google", "gcp": "google", "aws": "amazon", "azure": "azure"}
_NO_DEFINITION = "give the pools' definition by --pools-file FILE"


class Limits(Struct, frozen=True):
    """The least and the most per second that a disk may do.

    They differ where sources differ, and until the credits of a burst are spent.
    """

    least: float
    most: float

    def rate(self, measured: float | None) -> float:
        """Return what it can do: within the limits, what was measured."""
        return self.least if measured is None else min(max(self.least, measured), self.most)

    def hold(self, measured: float) -> bool:
        """Return whether a measured rate may be held back by the least of them."""
        return measured >= _AT_CAP_SHARES[0] * self.least

    def are_exceeded(self, measured: float) -> bool:
        """Return whether a measured rate shows that these are the limits of something else."""
        return measured > _AT_CAP_SHARES[1] * self.most


class PlaceDisk(Struct, frozen=True):
    """What is known of the one network disk under a place."""

    machine: PoolMachine
    # By a definition, one; by a measured rate, all that have it.
    caps: tuple[DiskCap, ...] = ()
    defined_disk: NetworkDisk | None = None  # as its pool's definition has it
    problem: Statement | None = None  # why no cap is known

    @property
    def is_defined(self) -> bool:
        return self.defined_disk is not None

    @property
    def disk(self) -> NetworkDisk:
        """Return the disk with its kind and size; where it may be several, the likeliest."""
        return self.caps[0].disk

    @property
    def name(self) -> Statement:
        """Return "pd-balanced of 320 GiB", or all disks that it may be."""
        return joined((name_of(cap.disk) for cap in self.caps), " or ")

    @property
    def is_certain(self) -> bool:
        return all(cap.is_certain for cap in self.caps)

    @property
    def has_burst(self) -> bool:
        return any(cap.burst is not None for cap in self.caps)

    def limits(self, way: CapWay) -> Limits | None:
        """Return what it may do, with its machine; None: not published."""
        cap = self.caps[0] if self.caps else None
        least = None if cap is None else _tighter(way, cap.of_disk, cap.of_machine)
        if cap is None or least is None:
            return None
        rates = [least]
        if cap.disk_at_most is not None:
            rates.append(_tighter(way, cap.disk_at_most, cap.of_machine) or least)
        if cap.burst is not None:
            rates.append(way.published(cap.burst) or least)
        return Limits(least, max(rates))

    def is_held_by_machine(self, way: CapWay, measured: float | None) -> bool:
        """Return whether the machine's limit is below the disk's, and was not exceeded."""
        cap = self.caps[0] if self.caps else None
        if cap is None or cap.of_machine is None:
            return False
        of_disk, of_machine = way.published(cap.of_disk), way.published(cap.of_machine)
        if of_disk is None or of_machine is None or of_machine >= of_disk:
            return False
        return measured is None or measured <= _AT_CAP_SHARES[1] * of_machine


def name_of(disk: NetworkDisk) -> Statement:
    """Return "gp3 of 75 GiB with 250 MiB/s"."""
    parts = [statement("{kind}", kind=disk.kind)]
    if disk.size_gib is not None:
        parts.append(statement("of {size}", size=Quantity(disk.size_gib * _GIB, Unit.BYTES)))
    if disk.provisioned_bytes_per_s is not None:
        bought = Quantity(disk.provisioned_bytes_per_s, Unit.BYTES_PER_SECOND)
        parts.append(statement("with {bought}", bought=bought))
    return joined(parts, " ")


@once
def medium_of(run: Run) -> str | None:
    """Return what kind of disk a place is on: by its model, else by its pool's definition."""
    stack = stack_of(run)
    if stack is None or stack.medium is not None:
        return None if stack is None else stack.medium
    windows = run.place.windows if run.place is not None else None
    if windows is not None and windows.is_temporary_disk:
        return LOCAL_SSD
    kinds = {LOCAL_SSD if disk.is_ephemeral else PERSISTENT_DISK for disk in _defined_disks(run)}
    return kinds.pop() if len(kinds) == 1 and len(stack.disks) == 1 else None


@once
def place_disk(run: Run) -> PlaceDisk | None:
    """Return the network disk under a place; None where it is on something else, or on several."""
    stack = stack_of(run)
    if stack is None or len(stack.disks) != 1 or medium_of(run) != PERSISTENT_DISK:
        return None
    defined = run.worker.defined
    if defined is None:
        return _by_rate(run)
    problem = problem_with(defined)
    contradiction = _contradiction(run, defined)
    if problem is not None or contradiction is not None:
        unknown = statement("{problem}.", problem=problem or "")
        return PlaceDisk(defined, problem=contradiction or unknown)
    disks = _defined_disks(run)
    machines = [_sized(defined, disk, _size_gib(run)) for disk in disks]
    caps = [network_cap(*machine) for machine in machines]
    known_caps = [cap for cap in caps if cap is not None]
    if len(known_caps) < len(caps) or not _agree(known_caps):
        unpublished = statement(
            "No single cap is published for {disk} on {machine}.",
            disk=joined(map(name_of, disks), " or "),
            machine=defined.machine_type or "this machine",
        )
        return PlaceDisk(defined, problem=unpublished)
    return PlaceDisk(machines[0][0], tuple(known_caps[:1]), disks[0])


def has_local_ssds(run: Run) -> bool | None:
    """Return whether a worker's machine has local SSDs; None: nothing says it."""
    defined = run.worker.defined
    if defined is not None and defined.local_ssds is not None:
        return defined.local_ssds > 0
    name = machine_type(run).name if defined is None else defined.machine_type.lower()
    if MachineType(name).disks or local_ssd_cap(name) is not None:
        return True
    # Where another machine type of this size comes with them, this one has none.
    return None if MachineType(f"{name}-lssd").disks is None else False


def _tighter(way: CapWay, of_disk: Rates, of_machine: Rates | None) -> float | None:
    rates = [way.published(rates) for rates in (of_disk, of_machine) if rates is not None]
    return min((rate for rate in rates if rate is not None), default=None)


def _size_gib(run: Run) -> float | None:
    stack = stack_of(run)
    size_bytes = stack.disks[0].size_bytes if stack is not None else None
    return size_bytes / _GIB if size_bytes else None


@once
def _defined_disks(run: Run) -> Sequence[NetworkDisk]:
    """Return which disks of the definition the place may be on, by the size that was seen."""
    defined, size_gib = run.worker.defined, _size_gib(run)
    if defined is None:
        return ()
    disks = [*filter(None, [defined.boot_disk]), *defined.data_disks]
    if size_gib is None:
        return disks
    sized = [disk for disk in disks if disk.size_gib and _is_size(disk.size_gib, size_gib)]
    return sized or [disk for disk in disks if disk.size_gib is None]


def _is_size(defined_gib: float, size_gib: float) -> bool:
    return abs(size_gib / defined_gib - 1) <= _SAME_SIZE


def _contradiction(run: Run, defined: PoolMachine) -> Statement | None:
    """Return how the definition differs from what the worker saw."""
    seen_type = machine_type(run).name.removeprefix("standard_")
    if seen_type and defined.machine_type and seen_type != defined.machine_type.lower():
        return statement(
            "The pool's definition has the machine type {defined}, but the worker was {seen}.",
            defined=defined.machine_type,
            seen=seen_type,
        )
    size_gib = _size_gib(run)
    if size_gib is not None and not _defined_disks(run):
        return statement(
            "The pool's definition has no disk of {size}, which the worker saw.",
            size=Quantity(size_gib * _GIB, Unit.BYTES),
        )
    return None


def _sized(
    machine: PoolMachine, disk: NetworkDisk, size_gib: float | None
) -> tuple[PoolMachine, NetworkDisk]:
    """Return both with the size that was seen, where the definition has none for the disk."""
    sized = disk if disk.size_gib is not None else replace(disk, size_gib=size_gib)
    boot_disk = sized if machine.boot_disk == disk else machine.boot_disk
    data_disks = tuple(sized if known == disk else known for known in machine.data_disks)
    return replace(machine, boot_disk=boot_disk, data_disks=data_disks), sized


def _agree(caps: Sequence[DiskCap]) -> bool:
    """Return whether these caps say the same: the rate, and whether the machine limits it."""
    rates = [cap.write_bytes_per_s for cap in caps if cap.write_bytes_per_s is not None]
    if not rates or len(rates) < len(caps):
        return False
    is_one_rate = max(rates) <= _SAME_CAP_RATIO * min(rates)
    return is_one_rate and len({cap.writes_bound_by for cap in caps}) == 1


def _by_rate(run: Run) -> PlaceDisk:
    """Return the disks of the size that was seen whose cap is the rate that was kept up."""
    cloud = _CLOUDS.get(run.worker.result.task.location.get("cloud", ""), "")
    machine = PoolMachine(cloud, machine_type(run).name.removeprefix("standard_"))
    measured, size_gib = WRITING.measured(run), _size_gib(run)
    caps: tuple[DiskCap, ...] = ()
    if measured is not None and size_gib is not None:
        caps = candidates(cloud, machine.machine_type, measured, size_gib)
    if _agree(caps):
        return PlaceDisk(machine, caps)
    template = f"Which kind of network disk it is, is not known: {_NO_DEFINITION}."
    if caps:
        template = f"{{rate}} is what {{disk}} has: {_NO_DEFINITION}, which names one of them."
    unknown = statement(
        template,
        rate=Quantity(measured or 0.0, Unit.BYTES_PER_SECOND),
        disk=joined((name_of(cap.disk) for cap in caps), " or "),
    )
    return PlaceDisk(machine, problem=unknown)
