# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The workloads: what one operation of each is, and the figure that people know it by.

Verdicts are always on times, so that above 1 is slower for every one of them; a rate is only another
way to show the same time. scripts/io-benchmark/summary.py has the same units, a test holds them
equal.
"""

from dataclasses import dataclass

NS_PER_S = 1e9


@dataclass(frozen=True)
class Workload:
    """`size_ns`: a time in the unit; 0 for a rate, which is so many a second."""

    name: str
    operation: str  # what is done once
    unit: str
    size_ns: float
    sample: str = "batch"
    samples: str = "batches"

    @property
    def higher_is_better(self) -> bool:
        return self.size_ns == 0

    def shown(self, operation_ns: float) -> float:
        """A time of one operation as the workload's figure."""
        if self.size_ns:
            return operation_ns / self.size_ns
        return NS_PER_S / operation_ns if operation_ns > 0 else float("inf")


_ALL = (
    Workload("cache-retrieve", "retrieve", "ms", 1e6, "retrieve", "retrieves"),
    Workload("random-io", "read or write", "IOPS", 0),
    Workload("spawn", "process started", "µs", 1e3),
    Workload("sync-write", "write", "µs", 1e3),
    Workload("metadata", "operation", "ops/s", 0),
    Workload("exec", "execution", "ms", 1e6),
    Workload("upload", "object", "ms", 1e6),
)
# In the order in which a report has them: the first one that was compared leads.
WORKLOADS = {workload.name: workload for workload in _ALL}

# Those whose measurements share a table; a retrieve has parts, and the seed's table.
IN_BATCHES = frozenset(name for name in WORKLOADS if name != "cache-retrieve")


def of(name: str) -> Workload:
    """What is not known is a time like any other."""
    return WORKLOADS.get(name) or Workload(name, "operation", "ms", 1e6)


def rank(name: str) -> int:
    return list(WORKLOADS).index(name) if name in WORKLOADS else len(WORKLOADS)
