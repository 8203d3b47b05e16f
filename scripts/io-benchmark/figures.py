# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""In which unit people are shown a workload, and whether more of it is better.

Measured is always the time for a number of operations. A rate's percentiles are those of the time:
P95 is what 95 % of the samples reached or exceeded.
"""

NS_PER_S = 1_000_000_000

# Workload: unit, its nanoseconds for a time or None for operations a second, is higher better?
FIGURES = {
    "cache-retrieve": ("ms", 1_000_000, False),
    "exec": ("ms", 1_000_000, False),
    "metadata": ("ops/s", None, True),
    "random-io": ("IOPS", None, True),
    "spawn": ("µs", 1_000, False),
    "sync-write": ("µs", 1_000, False),
    "upload": ("ms", 1_000_000, False),
}


def unit(workload):
    return FIGURES[workload][0]


def figure(workload, operation_ns):
    """What is shown for a time an operation."""
    unit_ns = FIGURES[workload][1]
    return NS_PER_S / operation_ns if unit_ns is None else operation_ns / unit_ns


def each_ns(durations_ns, operations):
    """Time per operation, ascending; `operations` is None where each sample is one."""
    if operations is None:
        return sorted(durations_ns)
    return sorted(duration / count for duration, count in zip(durations_ns, operations))


def percentile(ordered, percent):
    """The seed's definition, so that figures can be laid beside its own."""
    return ordered[min(len(ordered) * percent // 100, len(ordered) - 1)]
