# SPDX-License-Identifier: MPL-2.0
"""What a run's machine can do, as far as it was measured or is published."""

from statistics import median

from io_benchmark.analysis.model.once import once
from io_benchmark.analysis.model.run import Run
from io_benchmark.analysis.reading.disks import machine_type, stack_of
from io_benchmark.results.parts import NS_PER_S


def fixed_work_rate(run: Run, work: str) -> float | None:
    """Return how often per second a CPU did this work; None: not measured."""
    rates = []
    for burst in (run.host.fixed_work if run.host is not None else None) or ():
        # What waits for a CPU does not show what the CPU can do.
        worked_ns = burst.duration_ns - (burst.waiting_ns or 0)
        if burst.work == work and worked_ns > 0:
            rates.append(burst.operations / worked_ns)
    return median(rates) * NS_PER_S if rates else None


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
