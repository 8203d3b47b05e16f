# SPDX-License-Identifier: MPL-2.0
"""The parts of an operation's time on one worker: phases, and what the process did in each.

The parts of an entry add up to its mean time: all durations divided by all operations. What a
worker did not record stays in one part, named unexplained: nothing is inferred from counters of the
whole machine.
"""

from enum import StrEnum
from typing import NamedTuple


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
