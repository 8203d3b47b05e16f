# SPDX-License-Identifier: MPL-2.0
"""cache-retrieve: look a URL up in a list, copy the cached file that it names."""

from operator import add
from typing import Annotated

from io_benchmark.results.common_types import (
    BytesByDevice,
    Column,
    Columns,
    Count,
    FileSizes,
    Many,
    Name,
    ResultOutcome,
    ResultPart,
    Text,
)
from io_benchmark.results.trials import Trials
from io_benchmark.results.workload import Workload

PHASES, KINDS = ("lookup", "copy"), ("user", "kernel", "waiting")
SPENT_COLUMNS = tuple(f"{phase}_{kind}_ns" for phase in PHASES for kind in KINDS)


class _CacheState(ResultPart, frozen=True):
    """How cold the cache really was when the first retrieve began."""

    cache_bytes: Count
    resident_bytes: Count | None


class _Trim(ResultPart, frozen=True):
    """A sync between retrieves, outside the timed parts."""

    sync_ns: Count


class RetrieveColumns(Columns, frozen=True):
    """One row per retrieve; start_ns counts from the script's start, by the monotonic clock.

    What was spent in user mode, in the kernel and waiting for a CPU is null where the worker cannot know
    it. The reader returns the columns as arrays of 64-bit integers, these of 32-bit ones where they fit.
    """

    file_index: Column
    start_ns: Column
    lookup_ns: Column
    copy_ns: Column
    lookup_user_ns: Column | None = None
    lookup_kernel_ns: Column | None = None
    lookup_waiting_ns: Column | None = None
    copy_user_ns: Column | None = None
    copy_kernel_ns: Column | None = None
    copy_waiting_ns: Column | None = None


class CacheRetrieveEntry(ResultPart, frozen=True, tag_field="name", tag="cache-retrieve"):
    """One pass over the sequence of retrieves, to one destination."""

    place: Name
    destination: Name
    fidelity: Name
    retrieves_planned: Count
    file_sizes_bytes: FileSizes
    sequence_sha256: Text
    cache_state: _CacheState | None
    lookup_method: Text | None
    copy_method: Text | None
    run_ns: Count | None
    trims: Annotated[list[_Trim], Many] | None
    shares_extents: bool | None
    final_sync_ns: Count | None
    dirty_before_sync_bytes: Count | None
    writeback_before_sync_bytes: Count | None
    device_bytes: BytesByDevice | None
    samples: RetrieveColumns
    outcome: ResultOutcome
    final_sync_device_bytes: BytesByDevice | None = None
    trials: Trials | None = None

    @property
    def inconsistency(self) -> str | None:
        """Return the first inconsistency between values, as 'key: problem', or None."""
        samples = self.samples
        if samples.inconsistency:
            return samples.inconsistency
        rows = len(samples.copy_ns)
        if not all(map(add, samples.lookup_ns, samples.copy_ns)):
            return "samples: a retrieve took no time at all"
        if rows > self.retrieves_planned:
            return f"samples: {rows:,} retrieves, but {self.retrieves_planned:,} were planned"
        if rows and max(samples.file_index) >= len(self.file_sizes_bytes):
            return "samples.file_index: names a file that file_sizes_bytes does not have"
        return self._trials_inconsistency()

    def _trials_inconsistency(self) -> str | None:
        trials = self.trials
        if trials is None:
            return None
        if max(trials.file_indexes, default=-1) >= len(self.file_sizes_bytes):
            return "trials.file_indexes: names a file that file_sizes_bytes does not have"
        rows = len(trials.file_indexes)
        if any(not len(each.lookup_ns) == len(each.copy_ns) == rows for each in trials.blocks):
            return f"trials.blocks: a block does not have {rows:,} retrieves, as trials.file_indexes has"
        return None


WORKLOAD = Workload(
    "cache-retrieve",
    CacheRetrieveEntry,
    position=0,
    operation="retrieve",
    unit="ms",
    unit_ns=1e6,
    samples="retrieves",
)
