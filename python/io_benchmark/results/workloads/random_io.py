# SPDX-License-Identifier: MPL-2.0
"""random-io: small reads or writes past the page cache, all over a file."""

from io_benchmark.results.parts import (
    BatchEntry,
    Count,
    Name,
    Nanoseconds,
    Observations,
    Parameters,
    ResultPart,
    Text,
    Workload,
    WorkloadFigure,
)


class _Latency(ResultPart, frozen=True):
    p99: Nanoseconds  # of single operations


class _RandomIoParameters(Parameters, frozen=True):
    operation: Name
    block_bytes: Count
    depth: Count
    file_bytes: Count
    window_ns: Count


class _RandomIoObservations(Observations, frozen=True):
    method: Text | None
    latency_ns: _Latency | None


class _RandomIoEntry(BatchEntry, frozen=True, tag_field="name", tag="random-io"):
    parameters: _RandomIoParameters
    observed: _RandomIoObservations


def _latency_p99_us(entry: _RandomIoEntry) -> float | None:
    latency_ns = entry.observed.latency_ns
    return None if latency_ns is None else latency_ns.p99 / 1e3


WORKLOAD = Workload(
    "random-io",
    _RandomIoEntry,
    position=1,
    operation="read or write",
    unit="IOPS",
    figures=(WorkloadFigure("latency-p99", "latency P99", unit="µs", mean_of=_latency_p99_us),),
)
