# SPDX-License-Identifier: MPL-2.0
"""spawn: starting a process and waiting for its end."""

from io_benchmark.results.parts import BatchEntry, Count, Observations, Parameters, Text, Workload


class _SpawnParameters(Parameters, frozen=True):
    warm_up: Count


class _SpawnObservations(Observations, frozen=True):
    program: Text | None
    method: Text | None
    python: Text | None


class _SpawnEntry(BatchEntry, frozen=True, tag_field="name", tag="spawn"):
    parameters: _SpawnParameters
    observed: _SpawnObservations


WORKLOAD = Workload(
    "spawn",
    _SpawnEntry,
    position=2,
    operation="process started",
    unit="µs",
    unit_ns=1e3,
    per_place=False,
)
