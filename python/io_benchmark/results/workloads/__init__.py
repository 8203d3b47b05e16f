# SPDX-License-Identifier: MPL-2.0
"""The workloads of the result file: all that the reader, the analysis and the reports know of each.

The worker's side of one is a module in scripts/io-benchmark/workloads/, which has its name.
"""

from io_benchmark.results.parts import Workload
from io_benchmark.results.workloads import cache_retrieve
from io_benchmark.results.workloads.batches import BATCH_WORKLOADS

# In the order in which a report has them: the first one that was compared leads.
WORKLOADS = {workload.name: workload for workload in (cache_retrieve.WORKLOAD, *BATCH_WORKLOADS)}
# Those whose measurements share a table; a retrieve has parts and a separate table.
IN_BATCHES = frozenset(workload.name for workload in BATCH_WORKLOADS)


def of(name: str) -> Workload:
    """Return the workload; an unknown one is a time in milliseconds."""
    return WORKLOADS.get(name) or Workload(name, "operation", "ms", unit_ns=1e6)
