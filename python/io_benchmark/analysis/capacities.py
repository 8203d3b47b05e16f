# SPDX-License-Identifier: MPL-2.0
"""What one run's machine can do, in a second.

Only what was measured counts: by fixed work, by files that idle disks wrote, or by disks while something
waited for them. A rate that was only seen is *at least* what the machine can do, so it never shows that a
machine is slower. A number of disks is not a capacity.
"""

from collections.abc import Callable
from functools import cache
from statistics import median

from io_benchmark.analysis.observed.run_windows import Window
from io_benchmark.analysis.observed.worker_view import View
from io_benchmark.results.workload import NS_PER_S

# In user mode; by the kernel, which copies in memory; system calls.
FIXED_WORK = ("user", "kernel-copy", "kernel-calls")


@cache
def fixed_work_rate(work: str) -> Callable[[View], float | None]:
    """Return how to read the rate of a fixed work, the same function for the same work."""

    def rate(view: View) -> float | None:
        rates = []
        for burst in (view.host.fixed_work if view.host is not None else None) or ():
            # What waits for a CPU does not show what the CPU can do.
            worked_ns = burst.duration_ns - (burst.waiting_ns or 0)
            if burst.work == work and worked_ns > 0:
                rates.append(burst.operations / worked_ns)
        return median(rates) * NS_PER_S if rates else None

    return rate


def idle_write_rate(view: View) -> float | None:
    """Return how fast idle disks wrote the files of the trials, in bytes."""
    entries = (entry for entry in view.worker.entries if entry.subject.place == view.subject.place)
    files = [file for entry in entries if entry.trials for file in entry.trials.ceilings]
    # Few files: the median leaves out one that something else disturbed.
    rates = [file.written_bytes / file.duration_ns for file in files]
    return median(rates) * NS_PER_S if rates else None


def busy_read_rate(view: View) -> float | None:
    """Return how fast the disks read while copies waited for them, in bytes."""
    peak = Window.peak(view.windows) if view.waits_for_disks else None
    return peak[0] or None if peak is not None else None


def busy_write_rate(view: View) -> float | None:
    """Return how fast the disks wrote while copies waited for them, in bytes of files."""
    peak = Window.peak(view.windows) if view.waits_for_disks else None
    copies = view.stack.copies if view.stack is not None else 1
    return peak[1] / copies or None if peak is not None else None
