# SPDX-License-Identifier: MPL-2.0
"""The trials of an entry of cache-retrieve: a few retrieves, each time with one thing changed.

They run after the entry's retrieves, in rounds: each round has one block of each kind. All blocks have the
same files in the same order.
"""

from enum import StrEnum
from typing import Annotated

from msgspec import Meta

from io_benchmark.results.common_types import MANY, Count, Few, Nanoseconds, ResultPart, Text

_ROUNDS = 20
_Column = Annotated[list[Nanoseconds], Meta(max_length=MANY)]
_Positive = Annotated[int, Meta(ge=1, le=10**16)]


class TrialKind(StrEnum):
    """What was changed in a block; nothing in a normal one."""

    NORMAL = "normal"
    LOOKUP = "lookup"  # the lookup was answered by the process itself, without grep
    UNLINK = "unlink"  # the destination was removed before each copy
    MEMORY = "memory"  # list, cache and destination were in memory
    PACE = "pace"  # the copies were limited to a rate


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
    lookup_ns: _Column
    copy_ns: _Column


class Trials(ResultPart, frozen=True):
    """All trials of one entry; the blocks are in the order of time."""

    state: _TrialsProgress
    reason: Text | None
    pace_bytes_per_s: _Positive | None
    file_indexes: Annotated[list[Count], Meta(max_length=MANY)]
    duration_ns: Nanoseconds
    ceilings: Annotated[list[_Ceiling], Few]
    blocks: Annotated[list[_TrialBlock], Meta(max_length=_ROUNDS * len(TrialKind))]
