# SPDX-License-Identifier: MPL-2.0
"""The workloads of the result file: each module here describes one of them, as `WORKLOAD`.

All that the reader, the analysis and the reports know of a single workload is in its module. The
worker's side is scripts/io-benchmark/workloads/, with a module of the same name.
"""

import importlib
import pkgutil

from io_benchmark.results.parts import BatchEntry, Workload


def _all_workloads() -> list[Workload]:
    modules = (
        importlib.import_module(f"{__name__}.{module.name}")
        for module in pkgutil.iter_modules(__path__)
    )
    workloads: list[Workload] = [module.WORKLOAD for module in modules]
    return sorted(workloads, key=lambda workload: workload.position)


# In the order in which a report has them: the first one that was compared leads.
WORKLOADS = {workload.name: workload for workload in _all_workloads()}
# Those whose measurements share a table; a retrieve has parts and a separate table.
IN_BATCHES = frozenset(
    name for name, workload in WORKLOADS.items() if issubclass(workload.entry, BatchEntry)
)


def of(name: str) -> Workload:
    """Return the workload; an unknown one is a time in milliseconds."""
    return WORKLOADS.get(name) or Workload(
        name, BatchEntry, len(WORKLOADS), "operation", "ms", unit_ns=1e6
    )
