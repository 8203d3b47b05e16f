# SPDX-License-Identifier: MPL-2.0
"""cache-retrieve: look a URL up in a list, copy the cached file that it names."""

from enum import StrEnum
from operator import add
from typing import Annotated

from msgspec import Meta

from io_benchmark.number_text import number_of
from io_benchmark.results.parts import (
    MANY,
    BytesByDevice,
    Column,
    Columns,
    Count,
    Few,
    FileSizes,
    Many,
    Name,
    Nanoseconds,
    ResultOutcome,
    ResultPart,
    Text,
    TurnEnds,
    Workload,
)

PHASES, KINDS = ("lookup", "copy"), ("user", "kernel", "waiting")
SPENT_COLUMNS = tuple(f"{phase}_{kind}_ns" for phase in PHASES for kind in KINDS)
# What results of 1.0.0 may have measured instead: the steps of cached_download.sh, which start four
# processes. They are compared with each other, and no cause is named: rules are about one grep and
# one copy per retrieve.
REAL = "real"
SEED = "seed"  # all others
_ROUNDS = 20
_TrialColumn = Annotated[list[Nanoseconds], Meta(max_length=MANY)]
_Positive = Annotated[int, Meta(ge=1, le=10**16)]


class TrialKind(StrEnum):
    """What was changed in a block; nothing in a normal one."""

    NORMAL = "normal"
    LOOKUP = "lookup"  # the lookup was answered by the process itself, without grep
    UNLINK = "unlink"  # the destination was removed before each copy
    MEMORY = "memory"  # list, cache and destination were in memory
    PACE = "pace"  # the copies were limited to a rate
    COPY_FILE = "copy-file"  # Windows copied each file, by CopyFileEx
    EXCLUDED = "excluded"  # the destination was in a folder that Defender excludes


class _TrialsProgress(StrEnum):
    COMPLETED = "completed"
    INCOMPLETE = "incomplete"  # what was complete is kept
    NOT_RUN = "not-run"


class _Ceiling(ResultPart, frozen=True):
    """A file that was written and synced while the disks were idle otherwise."""

    written_bytes: Annotated[int, Meta(ge=1, le=2**50)]
    duration_ns: _Positive


class _TrialBlock(ResultPart, frozen=True):
    """The times of one block's retrieves, in the order of the trials' files."""

    trial: TrialKind
    lookup_ns: _TrialColumn
    copy_ns: _TrialColumn


class Trials(ResultPart, frozen=True):
    """A few retrieves, each time with one thing changed.

    They run after the entry's retrieves, in rounds: each round has one block of each kind. All
    blocks have the same files in the same order, and are in the order of time.
    """

    state: _TrialsProgress
    reason: Text | None
    pace_bytes_per_s: _Positive | None
    file_indexes: Annotated[list[Count], Meta(max_length=MANY)]
    duration_ns: Nanoseconds
    ceilings: Annotated[list[_Ceiling], Few]
    blocks: Annotated[list[_TrialBlock], Meta(max_length=_ROUNDS * len(TrialKind))]


class _CacheState(ResultPart, frozen=True):
    """How cold the cache really was when the first retrieve began."""

    cache_bytes: Count
    resident_bytes: Count | None


class _Trim(ResultPart, frozen=True):
    """A sync between retrieves, outside the timed parts."""

    sync_ns: Count


class RetrieveColumns(Columns, frozen=True):
    """One row per retrieve; start_ns counts from the script's start, by the monotonic clock.

    What was spent in user mode, in the kernel and waiting for a CPU is null where the worker cannot
    know it. The reader returns the columns as arrays of 64-bit integers, these of 32-bit ones where
    they fit.
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
    turn_ends: TurnEnds = None
    fidelity: Name = SEED  # or REAL

    @property
    def resident_share(self) -> float | None:
        """Return the part of the cache that was in memory at first; None: it is not known."""
        state = self.cache_state
        if state is None or state.resident_bytes is None or state.cache_bytes == 0:
            return None
        return state.resident_bytes / state.cache_bytes

    @property
    def inconsistency(self) -> str | None:
        samples = self.samples
        if samples.inconsistency:
            return samples.inconsistency
        rows = len(samples.copy_ns)
        if not all(map(add, samples.lookup_ns, samples.copy_ns)):
            return "samples: a retrieve took no time at all"
        if rows > self.retrieves_planned:
            return (
                f"samples: {number_of(rows, 'retrieve')}, more than the "
                f"{self.retrieves_planned:,} planned"
            )
        if rows and max(samples.file_index) >= len(self.file_sizes_bytes):
            return "samples.file_index: names a file that file_sizes_bytes does not have"
        turns, trials = samples.turns_inconsistency(self.turn_ends), self.trials
        if turns or trials is None:
            return turns
        if max(trials.file_indexes, default=-1) >= len(self.file_sizes_bytes):
            return "trials.file_indexes: names a file that file_sizes_bytes does not have"
        rows = len(trials.file_indexes)
        if any(not len(block.lookup_ns) == len(block.copy_ns) == rows for block in trials.blocks):
            return (
                f"trials.blocks: a block does not have {number_of(rows, 'retrieve')}, as "
                "trials.file_indexes has"
            )
        return None


WORKLOAD = Workload(
    "cache-retrieve", operation="retrieve", unit="ms", unit_ns=1e6, samples="retrieves"
)
