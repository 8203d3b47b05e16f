# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Entries of `workloads[]` besides cache-retrieve: one shape, each with what it alone knows.

`parameters` is what was chosen before the run and must agree between pools, `observed` what the run
found out. A sample is a batch of operations that were timed together.
"""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from io_benchmark.results.parts import (
    MAXIMUM_SAMPLES,
    BytesByDevice,
    Column,
    Count,
    Many,
    Name,
    Nanoseconds,
    Record,
    RunOutcome,
    Text,
)

Duration = Annotated[int, Meta(ge=1, le=10**16)]
# Sums over all samples of a file stay within 64 bits.
Operations = Annotated[int, Meta(ge=1, le=10**12)]
Seconds = Annotated[float, Meta(ge=0, le=10**9)]
Processors = Annotated[list[Count], Many]


class Batches(Record, frozen=True):
    """One row a sample; start_ns counts from the script's start, by the monotonic clock.

    The reader hands the columns on as arrays of 64-bit integers.
    """

    start_ns: Column
    duration_ns: Annotated[Sequence[Duration], Meta(max_length=MAXIMUM_SAMPLES)]
    operations: Annotated[Sequence[Operations], Meta(max_length=MAXIMUM_SAMPLES)]


class Measured(Record, frozen=True):
    """What all of them have."""

    place: Name
    variant: Name
    threads: Count | None
    run_ns: Count | None
    stopped_early: Text | None
    precision_reached_ratio: float | None
    device_bytes: BytesByDevice | None
    samples: Batches
    outcome: RunOutcome


class Latency(Record, frozen=True):
    mean: Nanoseconds
    p50: Nanoseconds
    p95: Nanoseconds
    p99: Nanoseconds
    max: Nanoseconds


class RandomIoParameters(Record, frozen=True):
    operation: Name
    block_bytes: Count
    depth: Count
    file_bytes: Count
    window_ns: Count
    samples_planned: Count
    time_limit_s: Seconds


class RandomIoObserved(Record, frozen=True):
    """`method`: fio with its version, or the script's own loop."""

    method: Text | None
    io_engine: Text | None
    processes: Count | None
    prefill_ns: Count | None
    total_operations: Count | None
    latency_ns: Latency | None


class RandomIo(Measured, frozen=True, tag_field="name", tag="random-io"):
    """Small reads or writes past the page cache, all over a file."""

    parameters: RandomIoParameters
    observed: RandomIoObserved


class SpawnParameters(Record, frozen=True):
    samples_planned: Count
    warm_up: Count
    time_limit_s: Seconds


class SpawnObserved(Record, frozen=True):
    program: Text | None
    method: Text | None
    python: Text | None


class Spawn(Measured, frozen=True, tag_field="name", tag="spawn"):
    """Starting a process and waiting for its end."""

    parameters: SpawnParameters
    observed: SpawnObserved


class SyncWriteParameters(Record, frozen=True):
    write_bytes: Count
    samples_planned: Count
    warm_up: Count
    time_limit_s: Seconds
    writes_a_process: Count | None = None  # of variants that take one process after the other


class SyncWriteObserved(Record, frozen=True):
    process: Text | None
    python: Text | None


class SyncWrite(Measured, frozen=True, tag_field="name", tag="sync-write"):
    """Small writes, each of which waits until it is on the disk."""

    parameters: SyncWriteParameters
    observed: SyncWriteObserved


class MetadataParameters(Record, frozen=True):
    concurrency: Name
    files: Count
    samples_planned: Count
    window_ns: Count | None
    time_limit_s: Seconds


class MetadataObserved(Record, frozen=True):
    """The last three are the visibility check's alone."""

    cpus: Count | None
    checks: Count | None
    not_visible: Count | None
    longest_invisible_ns: Count | None


class Metadata(Measured, frozen=True, tag_field="name", tag="metadata"):
    """Looking at files, creating, renaming and removing them, by several threads at once."""

    parameters: MetadataParameters
    observed: MetadataObserved


class ExecParameters(Record, frozen=True):
    blob_bytes: Count
    passes: Count
    samples_planned: Count
    time_limit_s: Seconds


class ExecObserved(Record, frozen=True):
    """`cpu_ns`: of all executions together."""

    architecture: Text | None
    l3_bytes: Count | None
    cpus: Processors | None
    pinned: bool | None
    cpu_ns: Count | None


class Exec(Measured, frozen=True, tag_field="name", tag="exec"):
    """One large binary executed by several processes at once, hardlinked or copied for each."""

    parameters: ExecParameters
    observed: ExecObserved


class UploadParameters(Record, frozen=True):
    target: Text
    object_bytes: Count
    objects_planned: Count
    objects_at_once: Count
    samples_planned: Count
    delay_ns: Count | None
    time_limit_s: Seconds


class UploadObserved(Record, frozen=True):
    method: Text | None
    http_version: Text | None
    connections: Count | None
    without_expect_ns: Annotated[list[Nanoseconds], Many] | None
    expect_100_stalls: Count | None


class Upload(Measured, frozen=True, tag_field="name", tag="upload"):
    """Small objects over HTTP."""

    parameters: UploadParameters
    observed: UploadObserved


Measurement = RandomIo | Spawn | SyncWrite | Metadata | Exec | Upload
