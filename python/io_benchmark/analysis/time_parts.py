# SPDX-License-Identifier: MPL-2.0
"""The parts of an operation's time on one worker: phases, and what the process did in each.

The parts of an entry add up to its mean time: all durations divided by all operations. What a worker did
not record stays in one part, named unexplained: nothing is inferred from counters of the whole machine.

Where several processes work at once, the mean is less than the time that one process takes for an
operation: N of them do N in that time. So each part is the mean times a share: the share of all processes'
time that they spent in this part.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from io_benchmark.results.parts import BatchColumns, ProcessTimes
from io_benchmark.results.workloads.cache_retrieve import RetrieveColumns


class Phase(StrEnum):
    LOOKUP = "lookup"
    COPY = "copy"
    OPERATION = "operation"  # of workloads whose operations have one phase


class Kind(StrEnum):
    """What a process does with its time."""

    USER = "user"  # on a CPU, in user mode
    KERNEL = "kernel"  # on a CPU, in the kernel
    WAITING = "waiting"  # for a CPU, runnable
    BLOCKED = "blocked"  # on I/O, writeback or memory; on anything where pressure is not recorded
    ELSEWHERE = "blocked-elsewhere"  # on neither: a scanner, a lock, another machine
    UNEXPLAINED = "unexplained"  # not recorded


class Part(NamedTuple):
    phase: Phase
    kind: Kind


ON_CPU = (Kind.USER, Kind.KERNEL)


def in_copies(*kinds: Kind) -> frozenset[Part]:
    return frozenset(Part(Phase.COPY, kind) for kind in kinds)


def in_lookups(*kinds: Kind) -> frozenset[Part]:
    return frozenset(Part(Phase.LOOKUP, kind) for kind in kinds)


def in_all(*kinds: Kind) -> frozenset[Part]:
    return in_copies(*kinds) | in_lookups(*kinds)


def of_batches(
    columns: BatchColumns, spent: ProcessTimes | None, stolen_per_cpu: float | None = None
) -> dict[Part, float]:
    """Return the mean nanoseconds of each part of an operation."""
    operations = sum(columns.operations)
    if not operations:
        return {}
    mean_ns = sum(columns.duration_ns) / operations
    shares = {Kind.UNEXPLAINED: 1.0}
    if spent is not None:
        times = (spent.user_ns, spent.kernel_ns, spent.waiting_ns)
        shares = _divide(1.0, *(None if time is None else time / spent.wall_ns for time in times))
    parts = {Part(Phase.OPERATION, kind): share * mean_ns for kind, share in shares.items()}
    return _with_stolen(parts, stolen_per_cpu)


def of_retrieves(
    columns: RetrieveColumns, stolen_per_cpu: float | None = None
) -> dict[Part, float]:
    """Return the mean nanoseconds of each part of a retrieve."""
    if not len(columns.copy_ns):
        return {}
    lookups = columns.lookup_user_ns, columns.lookup_kernel_ns, columns.lookup_waiting_ns
    copies = columns.copy_user_ns, columns.copy_kernel_ns, columns.copy_waiting_ns
    phases = {
        Phase.LOOKUP: _divide(_mean(columns.lookup_ns), *map(_mean_if_known, lookups)),
        Phase.COPY: _divide(_mean(columns.copy_ns), *map(_mean_if_known, copies)),
    }
    parts = {
        Part(phase, kind): mean_ns
        for phase, kinds in phases.items()
        for kind, mean_ns in kinds.items()
    }
    return _with_stolen(parts, stolen_per_cpu)


def _with_stolen(parts: Mapping[Part, float], stolen_per_cpu: float | None) -> dict[Part, float]:
    """Move the time that a hypervisor took away from blocked to waiting for a CPU.

    The kernel cannot tell it from being blocked. `stolen_per_cpu` is what the hypervisor took of this
    machine's CPUs for each second that they worked; each phase lost the same share.
    """
    moved = dict(parts)
    for phase in Phase if stolen_per_cpu else ():
        worked = sum(parts.get(Part(phase, kind), 0.0) for kind in ON_CPU)
        blocked, waiting = Part(phase, Kind.BLOCKED), Part(phase, Kind.WAITING)
        if blocked in parts and waiting in parts:
            stolen = min(parts[blocked], worked * (stolen_per_cpu or 0.0))
            moved[blocked] -= stolen
            moved[waiting] += stolen
    return moved


def _divide(
    wall: float, user: float | None, kernel: float | None, waiting: float | None
) -> dict[Kind, float]:
    """Return the parts of a time; together they are the whole.

    A process and the child that it waits for may be on two CPUs. Or one waits for a CPU while the other
    runs. So CPU time is limited to the whole, and waiting to the rest. Sums are compared, not samples,
    because bash's times are known in steps of 10 ms.
    """
    if user is None or kernel is None:
        return {Kind.UNEXPLAINED: wall}
    fits = min(1.0, wall / (user + kernel)) if user + kernel else 1.0
    parts = {Kind.USER: user * fits, Kind.KERNEL: kernel * fits}
    left = max(0.0, wall - (user + kernel) * fits)
    if waiting is None:
        return {**parts, Kind.UNEXPLAINED: left}
    waited = min(waiting, left)
    return {**parts, Kind.WAITING: waited, Kind.BLOCKED: left - waited}


def _mean(column: Sequence[int]) -> float:
    return sum(column) / len(column)


def _mean_if_known(column: Sequence[int] | None) -> float | None:
    return None if column is None else _mean(column)
