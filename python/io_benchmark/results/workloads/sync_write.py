# SPDX-License-Identifier: MPL-2.0
"""sync-write: small writes, each of which waits until it is on the disk."""

from io_benchmark.results.parts import BatchEntry, Count, Observations, Parameters, Text, Workload


class _SyncWriteParameters(Parameters, frozen=True):
    write_bytes: Count
    warm_up: Count
    writes_a_process: Count | None = None  # of variants that take one process after the other


class _SyncWriteObservations(Observations, frozen=True):
    process: Text | None
    python: Text | None


class _SyncWriteEntry(BatchEntry, frozen=True, tag_field="name", tag="sync-write"):
    parameters: _SyncWriteParameters
    observed: _SyncWriteObservations


WORKLOAD = Workload(
    "sync-write", _SyncWriteEntry, position=3, operation="write", unit="µs", unit_ns=1e3
)
