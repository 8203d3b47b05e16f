# SPDX-License-Identifier: MPL-2.0
"""What a run's machine can do, as far as it was measured or is published."""

from collections.abc import Sequence
from statistics import median

from io_benchmark.analysis.model.once import once
from io_benchmark.analysis.model.run import Run
from io_benchmark.analysis.reading.disks import machine_type, stack_of
from io_benchmark.results.machine import WINDOWS, FixedWork
from io_benchmark.results.parts import NS_PER_S


def fixed_work_rate(run: Run, work: str) -> float | None:
    """Return how often per second a CPU did this work; None: not measured."""
    in_ticks = [burst for burst in _bursts_in_ticks(run) if burst.work == work]
    if in_ticks:
        # A competitor takes whole quanta from some bursts, and nothing from others.
        return _rate(in_ticks, sum(burst.duration_ns for burst in in_ticks))
    rates = []
    for burst in (run.host.fixed_work if run.host is not None else None) or ():
        # What waits for a CPU does not show what the CPU can do.
        worked_ns = burst.duration_ns - (burst.waiting_ns or 0)
        if burst.work == work and worked_ns > 0:
            rates.append(burst.operations / worked_ns)
    return median(rates) * NS_PER_S if rates else None


def fixed_work_per_cpu_time(run: Run, work: str) -> float | None:
    """Return how often per second on a CPU it did this work, where waiting is not recorded."""
    bursts = [burst for burst in _bursts_in_ticks(run) if burst.work == work]
    return _rate(bursts, sum(burst.user_ns + burst.kernel_ns for burst in bursts))


def waiting_per_work(run: Run) -> float | None:
    """Return how long fixed work waits for a CPU per time on one, where that is not recorded.

    Windows counts the time on a CPU in ticks, of which many bursts together have enough.
    """
    bursts = _bursts_in_ticks(run)
    worked_ns = sum(burst.user_ns + burst.kernel_ns for burst in bursts)
    lasted_ns = sum(burst.duration_ns for burst in bursts)
    return max(0.0, lasted_ns / worked_ns - 1) if worked_ns else None


def _bursts_in_ticks(run: Run) -> list[FixedWork]:
    bursts = (run.host.fixed_work if run.host is not None else None) or []
    return [burst for burst in bursts if run.system == WINDOWS and burst.waiting_ns is None]


def _rate(bursts: Sequence[FixedWork], took_ns: int) -> float | None:
    return sum(burst.operations for burst in bursts) / took_ns * NS_PER_S if took_ns else None


def published_cap_of(run: Run, disks: int) -> float | None:
    """Return how many bytes per second this many of the place's disks write, if published."""
    stack = stack_of(run)
    cloud = stack.cloud_of_local_ssds if stack is not None else None
    return cloud.write_cap(machine_type(run).family, disks) if cloud is not None else None


@once
def published_write_cap(run: Run) -> float | None:
    """Return how many bytes per second the place's disks write together; None: not published."""
    stack = stack_of(run)
    return published_cap_of(run, stack.width) if stack is not None else None


@once
def write_cap(run: Run) -> float | None:
    """Return the tighter of the published cap and the cgroups' limit.

    The limit counts if all disks have one.
    """
    published, stack = published_write_cap(run), stack_of(run)
    caps = [published] if published is not None else []
    if stack is not None and run.limits is not None:
        writes = (limit for limit in run.limits.io if limit.kind == "write_bytes_per_s")
        limits = {limit.device_name: limit.value for limit in writes}
        names = {disk.name for disk in stack.disks}
        if names <= limits.keys():
            caps.append(float(min(limits[name] for name in names) * stack.width))
    return min(caps, default=None)
