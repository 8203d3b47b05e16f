# SPDX-License-Identifier: MPL-2.0
"""exec: one large binary executed by several processes at once, hardlinked or copied for each."""

from typing import Annotated

from io_benchmark.results.parts import (
    BatchEntry,
    Count,
    Many,
    Observations,
    Parameters,
    SideFinding,
    Text,
    Workload,
    WorkloadFigure,
)

OVER_HARDLINKED = "over-hardlinked"


class _ExecParameters(Parameters, frozen=True):
    blob_bytes: Count
    passes: Count


class _ExecObservations(Observations, frozen=True):
    """`cpu_ns`: of all executions together."""

    architecture: Text | None
    cpus: Annotated[list[Count], Many] | None
    cpu_ns: Count | None


class _ExecEntry(BatchEntry, frozen=True, tag_field="name", tag="exec"):
    parameters: _ExecParameters
    observed: _ExecObservations


def _cpu_ms(entry: _ExecEntry) -> float | None:
    return None if entry.observed.cpu_ns is None else entry.observed.cpu_ns / 1e6


WORKLOAD = Workload(
    "exec",
    _ExecEntry,
    position=5,
    operation="execution",
    unit="ms",
    unit_ns=1e6,
    figures=(
        WorkloadFigure(
            OVER_HARDLINKED,
            "over hardlinks",
            over_variant=("copies", "hardlinked"),
            finding=SideFinding(
                "a copy of the binary for each of {threads} processes makes executing it take "
                "{ratio} the time that hardlinks to one take (exec): builders that share the file "
                "share the caches",
                at_least=1.2,
            ),
        ),
        WorkloadFigure(
            "cpu-time", "CPU time of one", unit="ms", mean_of=_cpu_ms, per_operation=True
        ),
    ),
)
