# SPDX-License-Identifier: MPL-2.0
"""What more CPUs would save of a task's time: a range, by how many threads it would run there.

Time in which fewer threads are runnable than there are CPUs stays as it is. Where more are runnable
than there are CPUs, the others run as well. Where they are just as many, nothing shows whether the
task starts more of them on a machine with more CPUs, as `make -j$(nproc)` does: one end of the
range is that it does, the other one that it does not. A profile without the number of threads shows
only in which time most CPUs were busy.
"""

from typing import NamedTuple

import numpy as np

from io_benchmark.analysis.prediction.demand import Demand, Numbers

# From this share of the CPUs on, all of them are busy. Chosen: other processes need some as well.
AT_CPUS = 0.9
# From this share on, all may be busy for most of the time, as jobs also wait for files. Chosen.
_NEARLY_ALL = 0.75
# Programs start as many jobs as there are CPUs, two more (ninja), or half as many more. A task with
# more threads than that has a number of its own.
_EXTRA_JOBS, _JOBS_PER_CPU = 2, 1.5
# Half a thread: threads are counted at a few moments of a window.
_ROUNDING = 0.5
# With two threads on a single CPU for this share of the time, it is not one thread. Chosen.
_SEVERAL_SHARE = 0.1
# The least share of the waiting threads that more CPUs run at once: some would wait for others,
# for files or for memory. Chosen.
_RUN_AT_ONCE = 0.75

# The moments before and after one, of a second each, and the quantile of their threads that shows
# how many jobs there are. Chosen.
_MOMENTS_AROUND, _BUSY_MOMENTS = 10, 0.9


class SavedShares(NamedTuple):
    """The share of each window that more CPUs save."""

    least: Numbers  # no more threads than now, and not all of them run at once
    likely: Numbers  # as many threads as now
    most: Numbers  # as many threads as CPUs, where nothing shows that there are fewer

    def between(self, threads: float) -> Numbers:
        """Return the shares between the least, at 0, the likely ones, at 1/2, and the most."""
        if threads < 0.5:
            return self.least + 2 * threads * (self.likely - self.least)
        return self.likely + (2 * threads - 1) * (self.most - self.likely)


def saved_shares(demand: Demand, cpus: float) -> SavedShares | None:
    """Return what is saved with this many CPUs; None where they are no more than those here."""
    if demand.busy_ns is None or cpus <= demand.cpus:
        return None
    here, spans = demand.cpus, demand.spans_ns
    # A thread works while not all CPUs do.
    single = 1.0 if here >= 2 else 0.0
    busy = demand.command_busy_share * demand.busy_ns / spans
    full = np.clip((busy - single) / (_NEARLY_ALL * here - single), 0.0, 1.0)
    if demand.threads is None:
        most = full * (1 - here / cpus)
        likely = np.where(busy >= AT_CPUS * here, most / 2, 0.0)
        return SavedShares(np.zeros(len(spans)), likely, most)
    threads, windows = demand.threads

    def in_windows(usable: Numbers) -> Numbers:
        """Return the mean share of each window, where the task can use this many CPUs."""
        saved = 1 - here / np.maximum(usable, here)
        sums = np.bincount(windows, saved, len(spans))
        return sums / np.maximum(1, np.bincount(windows, minlength=len(spans)))

    usable = np.minimum(threads, cpus)
    has_several = here < 2 and np.mean(threads > here + _ROUNDING) >= _SEVERAL_SHARE
    # Some of its jobs wait for something at any moment: those around show how many there are.
    jobs = _around(threads)
    may_follow = jobs <= max(here + _EXTRA_JOBS, _JOBS_PER_CPU * here) + _ROUNDING
    may_follow &= threads > here + _ROUNDING if has_several else jobs >= _NEARLY_ALL * here
    return SavedShares(
        least=in_windows(here + _RUN_AT_ONCE * (usable - here)),
        likely=in_windows(usable),
        most=in_windows(np.where(may_follow, cpus, usable)),
    )


def _around(threads: Numbers) -> Numbers:
    """Return how many threads there were in most busy moments around each moment."""
    padded = np.pad(threads, _MOMENTS_AROUND, mode="edge")
    around = np.lib.stride_tricks.sliding_window_view(padded, 2 * _MOMENTS_AROUND + 1)
    counts: Numbers = np.quantile(around, _BUSY_MOMENTS, axis=1)
    return counts
