# SPDX-License-Identifier: MPL-2.0
"""What one run's machine can do: each capacity has an interval, and says how it is known.

What was measured counts more than what is published. A rate that was only seen is *at least* what the machine
can do, so it never shows that a machine is slower. A number of disks is not a capacity.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from functools import cache
from statistics import median

from msgspec import Struct

from io_benchmark.analysis.inference.levels import LEVEL
from io_benchmark.analysis.inference.variances import MeanVariance
from io_benchmark.analysis.observed.run_windows import Window
from io_benchmark.analysis.observed.worker_view import View
from io_benchmark.results.workload import NS_PER_S


class CapacityKind(StrEnum):
    """What is done in a second."""

    WRITES = "bytes of files written by the disks"
    READS = "bytes read by the disks"
    USER_WORK = "fixed work in user mode"
    MEMORY_COPY = "MiB copied in memory by the kernel"
    SYSTEM_CALLS = "system calls"


class Standing(StrEnum):
    """How a capacity is known, and by what."""

    BY_FIXED_WORK = "measured by fixed work"
    BY_TRIAL = "measured by files that idle disks wrote"
    BY_WAITS = "measured while copies waited for it"
    AT_LEAST = "at least"  # seen while nothing shows that this was the limit
    PUBLISHED = "published"  # the machine does no more than this


class Capacity(Struct, frozen=True):
    """A rate per second; the interval is that of the machine's own measurements."""

    kind: CapacityKind
    standing: Standing
    low: float
    estimate: float
    high: float

    @classmethod
    def of_rates(cls, kind: CapacityKind, standing: Standing, rates: Sequence[float]) -> "Capacity":
        """Return the median: few measurements are disturbed by something else."""
        logs = [math.log(rate) for rate in rates]
        half = min(1.0, MeanVariance.of_mean(logs).half_width(LEVEL)) if len(logs) > 1 else 0.0
        rate = median(rates)
        return cls(kind, standing, rate * math.exp(-half), rate, rate * math.exp(half))


_WORKS = {
    "user": CapacityKind.USER_WORK,
    "kernel-copy": CapacityKind.MEMORY_COPY,
    "kernel-calls": CapacityKind.SYSTEM_CALLS,
}


def capacities(view: View) -> Iterator[Capacity]:
    """Yield what is known of a run's machine and of its place, the best-known first of each kind."""
    rates: dict[CapacityKind, list[float]] = {}
    for burst in (view.host.fixed_work if view.host is not None else None) or ():
        # What waits for a CPU does not show what the CPU can do.
        worked_ns = burst.duration_ns - (burst.waiting_ns or 0)
        if burst.work in _WORKS and worked_ns > 0:
            rate = burst.operations / worked_ns * NS_PER_S
            rates.setdefault(_WORKS[burst.work], []).append(rate)
    for kind, of_kind in rates.items():
        yield Capacity.of_rates(kind, Standing.BY_FIXED_WORK, of_kind)
    entries = (entry for entry in view.worker.entries if entry.subject.place == view.subject.place)
    files = [file for entry in entries if entry.trials for file in entry.trials.ceilings]
    idle = [file.written_bytes / file.duration_ns * NS_PER_S for file in files]
    if idle:
        yield Capacity.of_rates(CapacityKind.WRITES, Standing.BY_TRIAL, idle)
    # What disks keep up is what they can do only while something waits for them.
    standing = Standing.BY_WAITS if view.waits_for_disks else Standing.AT_LEAST
    read, written = Window.peak(view.windows) or (0.0, 0.0)
    copies = view.stack.copies if view.stack is not None else 1
    for kind, rate in ((CapacityKind.READS, read), (CapacityKind.WRITES, written / copies)):
        if rate > 0:
            yield Capacity.of_rates(kind, standing, [rate])
    if view.published_write_cap is not None:
        cap = view.published_write_cap
        yield Capacity.of_rates(CapacityKind.WRITES, Standing.PUBLISHED, [cap])


@cache
def measured(kind: CapacityKind, standing: Standing) -> Callable[[View], float | None]:
    """Return how to read a capacity that is known in this way, the same function for the same question."""

    def estimate(view: View) -> float | None:
        known = (
            capacity.estimate
            for capacity in capacities(view)
            if (capacity.kind, capacity.standing) == (kind, standing)
        )
        return next(known, None)

    return estimate
