# SPDX-License-Identifier: MPL-2.0
"""Types and parts that the result file's modules share, and the description of a workload.

All entries but cache-retrieve's have the same shape: `parameters` is what was chosen before the run
and must agree between pools, `observed` what the run learned. A sample is a batch of operations
that were timed together.
"""

import sys
from collections.abc import Callable, Sequence
from enum import StrEnum
from itertools import pairwise
from typing import Annotated, Any

from msgspec import Meta, Struct

NS_PER_S = 1e9
# Far above the usual: 2,000 samples by default, and tasks of a few hours.
MAXIMUM_SAMPLES = 250_000
MAXIMUM_SECONDS = 100_000  # rows of the timeline, one per second
FEW = 100  # what a person chooses: places, workloads
MANY = 10_000  # what a machine has: devices, limits, mount options

Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]
# A setting of the kernel, which may be negative.
Setting = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
Text = Annotated[str, Meta(max_length=10_000)]
Name = Annotated[str, Meta(pattern="^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$")]
# Four months: a longer time is not a measurement.
Nanoseconds = Annotated[int, Meta(ge=0, le=10**16)]
# JSON may hold numbers that are beyond a float: these would become infinite.
Finite = Annotated[float, Meta(ge=-sys.float_info.max, le=sys.float_info.max)]
FileSizes = Annotated[list[Annotated[int, Meta(ge=0, le=2**50)]], Meta(max_length=100_000)]
Column = Annotated[Sequence[Nanoseconds], Meta(max_length=MAXIMUM_SAMPLES)]
# Times of single downloads, None where a step was not there.
StepTimes = Annotated[list[Nanoseconds | None], Meta(max_length=10_000)]
SparseColumn = Annotated[Sequence[Count | None], Meta(max_length=MAXIMUM_SECONDS)]
Duration = Annotated[int, Meta(ge=1, le=10**16)]  # nanoseconds of what did take time
# Sums over all samples of a file stay within 64 bits.
Operations = Annotated[int, Meta(ge=1, le=10**12)]
Few = Meta(max_length=FEW)
Many = Meta(max_length=MANY)


class ResultPart(Struct, frozen=True, kw_only=True):
    """The base of every part of the file.

    The `inconsistency` of some is the first problem between their values, as 'key: problem', or
    None.
    """


# Where several measurements took turns: how many samples each had at the end of every turn.
TurnEnds = Annotated[list[Count], Many] | None


class Columns(ResultPart, frozen=True):
    """Samples by column; one that the worker could not fill is None."""

    @property
    def known(self) -> dict[str, Sequence[int]]:
        named = ((name, getattr(self, name)) for name in self.__struct_fields__)
        return {name: column for name, column in named if column is not None}

    @property
    def inconsistency(self) -> str | None:
        if len(set(map(len, self.known.values()))) > 1:
            return "samples: its columns differ in length"
        return None

    def turns_inconsistency(self, turn_ends: TurnEnds) -> str | None:
        bounds = [0, *(turn_ends or ())]
        rows = len(next(iter(self.known.values())))
        if any(end <= start for start, end in pairwise(bounds)) or bounds[-1] > rows:
            return f"turn_ends: do not increase from 1 to {rows:,} at most, as the samples do"
        return None


class _DeviceBytes(ResultPart, frozen=True):
    read: Count
    written: Count


class OutcomeState(StrEnum):
    COMPLETED = "completed"  # all that was planned
    TIME_BUDGET = "time-budget"  # the time budget ended it; what was measured until then is kept
    STOPPED = "stopped"  # a signal ended it
    SKIPPED = "skipped"  # this place or machine cannot measure it: not a failure
    FAILED = "failed"
    NOT_STARTED = "not-started"  # the run ended before
    RUNNING = "running"  # the file was written during the run, and not again at its end


class ResultOutcome(ResultPart, frozen=True):
    """How the whole run or one entry of it ended, and why; a completed one has no reason."""

    state: OutcomeState
    reason: Text | None

    @property
    def explanation(self) -> str | None:
        """Return the reason for people; None for what completed."""
        if self.state is OutcomeState.COMPLETED:
            return None
        if self.state is OutcomeState.RUNNING:
            return "still running, or killed"
        if self.state is OutcomeState.NOT_STARTED:
            return "not started" + (f": {self.reason}" if self.reason else "")
        return self.reason or "no reason given"


# Bytes that each device read and wrote, by its name.
BytesByDevice = Annotated[dict[Text, _DeviceBytes], Many]


class BatchColumns(Columns, frozen=True):
    """One row per sample; start_ns counts from the script's start, by the monotonic clock.

    The reader returns the columns as arrays of 64-bit integers.
    """

    start_ns: Column
    duration_ns: Annotated[Sequence[Duration], Meta(max_length=MAXIMUM_SAMPLES)]
    operations: Annotated[Sequence[Operations], Meta(max_length=MAXIMUM_SAMPLES)]


class ProcessTimes(ResultPart, frozen=True):
    """Sums over all processes that did the operations, of the time in which they did them.

    It is the time on a CPU, in user mode and in the kernel, and the time waiting for a CPU. The
    latter is null where the worker cannot know it. For the rest of `wall_ns` they were blocked.
    """

    wall_ns: Duration
    user_ns: Nanoseconds
    kernel_ns: Nanoseconds
    waiting_ns: Nanoseconds | None


class _Parameters(ResultPart, frozen=True, omit_defaults=True):
    """What was chosen before the run. Each workload has the first two, and some of the others."""

    samples_planned: Count
    time_limit_s: Annotated[float, Meta(ge=0, le=10**9)]
    operation: Name | None = None
    block_bytes: Count | None = None
    depth: Count | None = None
    file_bytes: Count | None = None
    concurrency: Name | None = None
    files: Count | None = None
    files_bytes: Count | None = None
    sizes_sha256: Text | None = None
    window_ns: Count | None = None
    write_bytes: Count | None = None
    warm_up: Count | None = None
    writes_a_process: Count | None = None  # of variants that take one process after the other
    blob_bytes: Count | None = None
    passes: Count | None = None
    target: Text | None = None
    object_bytes: Count | None = None
    objects_planned: Count | None = None
    objects_at_once: Count | None = None
    delay_ns: Count | None = None
    piece_bytes: Count | None = None


class DownloadSteps(ResultPart, frozen=True):
    """What the steps of each download took, one row per download, in the order of their sets.

    `redirect_ns` is all before the request that was answered with the bytes; the steps after it are
    of this request. `body_ns` are the bytes, `second_half_ns` the second half of these; `tls_ns` is
    without a value for http, `sync_ns` without a place.
    """

    redirect_ns: StepTimes
    resolve_ns: StepTimes
    connect_ns: StepTimes
    tls_ns: StepTimes
    first_byte_ns: StepTimes
    body_ns: StepTimes
    second_half_ns: StepTimes
    sync_ns: StepTimes

    def times_ns(self, name: str) -> list[int]:
        return [time_ns for time_ns in getattr(self, name) if time_ns is not None]

    @property
    def is_aligned(self) -> bool:
        return len({len(getattr(self, name)) for name in self.__struct_fields__}) == 1


class _Latency(ResultPart, frozen=True):
    p99: Nanoseconds  # of single operations


class _Observations(ResultPart, frozen=True):
    """What only a run can tell. Each workload has some of these; sums are of all samples together.

    Validity rules compare `method`, `python` and `http_version` between pools.
    """

    method: Text | None = None
    python: Text | None = None
    http_version: Text | None = None
    latency_ns: _Latency | None = None
    not_visible: Count | None = None
    cpu_ns: Count | None = None
    expect_100_stalls: Count | None = None
    resident_bytes: Count | None = None  # of the archive, in memory before the first sample
    unpacked_bytes: Count | None = None
    sync_ns: Nanoseconds | None = None  # only with a final sync
    written_bytes: Count | None = None
    retries: Count | None = None  # sets of downloads that were repeated
    steps: DownloadSteps | None = None
    address_family: Text | None = None
    answered_by: Annotated[dict[Name, Text], Few] | None = None  # the host, and headers of it
    object_bytes: Count | None = None
    redirects: Count | None = None  # before the answer with the bytes
    tls_version: Text | None = None


class BatchEntry(ResultPart, frozen=True, kw_only=True):
    """An entry of any workload but cache-retrieve."""

    place: Name
    variant: Name
    threads: Count | None
    run_ns: Count | None
    device_bytes: BytesByDevice | None
    process_times: ProcessTimes | None = None
    turn_ends: TurnEnds = None
    samples: BatchColumns
    outcome: ResultOutcome
    parameters: _Parameters
    observed: _Observations

    @property
    def inconsistency(self) -> str | None:
        steps = self.observed.steps
        if steps is not None and not steps.is_aligned:
            return "observed.steps: its columns differ in length"
        return self.samples.inconsistency or self.samples.turns_inconsistency(self.turn_ends)


class WorkloadFigure(Struct, frozen=True):
    """A figure that only this workload has; exactly one of the four sources is set."""

    name: str
    label: str
    over_variant: tuple[str, str] | None = None  # times of the first variant over the second's
    over_one_thread: bool = False  # operations of several threads over one thread's
    total_of: Callable[[Any], int | None] | None = None  # a count in an entry, summed
    mean_of: Callable[[Any], float | None] | None = None  # a value of an entry, over the workers
    per_operation: bool = False  # `mean_of` is divided by the entry's operations
    unit: str = ""  # of `mean_of`
    higher_is_better: bool = False
    # What the figure of one side shows by itself, where it passes a limit. The template has slots
    # for the figure (`percent`, `ratio` or `count`), `threads` and `variant`.
    finding: str = ""
    at_most: float | None = None
    at_least: float | None = None
    needs_spare_cpu: bool = False  # only where a side has more CPUs than threads


class Workload(Struct, frozen=True):
    """One workload: what one operation is, and the figure that people know it by.

    Verdicts are always on times, so that above 1 is slower for every workload; a rate is only
    another way to show the same time. The worker's class has the same unit.
    """

    name: str
    operation: str  # what is done once
    unit: str
    unit_ns: float = 0  # 0: a rate, operations per second
    samples: str = "batches"
    per_place: bool = True  # otherwise the place makes no difference
    without_place: tuple[str, ...] = ()  # variants for which it makes none
    written_bytes: Callable[[Any], int | None] | None = None  # into files, by an entry
    # The share of the time in which the operations wait until all is on the disk, by an entry.
    synced: Callable[[Any], float | None] = lambda _entry: None
    figures: tuple[WorkloadFigure, ...] = ()

    @property
    def higher_is_better(self) -> bool:
        return self.unit_ns == 0

    def uses_place(self, variant: str) -> bool:
        return self.per_place and variant not in self.without_place

    def shown(self, operation_ns: float) -> float:
        if self.unit_ns:
            return operation_ns / self.unit_ns
        return NS_PER_S / operation_ns if operation_ns > 0 else float("inf")
