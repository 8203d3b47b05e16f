# SPDX-License-Identifier: MPL-2.0
"""Types and small parts that all parts of the result file share."""

import sys
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

from msgspec import Meta, Struct

# Far above the usual: 2,000 samples by default, and tasks of a few hours.
MAXIMUM_SAMPLES = 250_000
MAXIMUM_SECONDS = 100_000  # rows of the timeline, one per second
FEW = 100  # what a person chooses: places, workloads
MANY = 10_000  # what a machine has: devices, limits, mount options

Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Text = Annotated[str, Meta(max_length=10_000)]
Name = Annotated[str, Meta(pattern="^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$")]
# Four months: a longer time is not a measurement.
Nanoseconds = Annotated[int, Meta(ge=0, le=10**16)]
# JSON may hold numbers that are beyond a float: these would become infinite.
Finite = Annotated[float, Meta(ge=-sys.float_info.max, le=sys.float_info.max)]
FileSizes = Annotated[list[Annotated[int, Meta(ge=0, le=2**50)]], Meta(max_length=100_000)]
Column = Annotated[Sequence[Nanoseconds], Meta(max_length=MAXIMUM_SAMPLES)]
SparseColumn = Annotated[Sequence[Count | None], Meta(max_length=MAXIMUM_SECONDS)]
Few = Meta(max_length=FEW)
Many = Meta(max_length=MANY)


class ResultPart(Struct, frozen=True, kw_only=True):
    """The base of every part of the file."""


class Columns(ResultPart, frozen=True):
    """Samples by column; one that the worker could not fill is None."""

    @property
    def known(self) -> dict[str, Sequence[int]]:
        """Return the columns that the file has, by their names."""
        named = ((name, getattr(self, name)) for name in self.__struct_fields__)
        return {name: column for name, column in named if column is not None}

    @property
    def inconsistency(self) -> str | None:
        if len(set(map(len, self.known.values()))) > 1:
            return "samples: its columns differ in length"
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
