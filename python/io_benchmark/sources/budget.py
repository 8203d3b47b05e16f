# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The limits of all results of one command together, in bytes read and in memory kept.

The reader of a result limits its size, but anyone's task can leave many. Results over the budget are
left out and named. Small results are read before large ones, so a few large ones displace no others.
"""

import math
import time
from typing import TYPE_CHECKING

from msgspec import Struct, field

from io_benchmark.results import CacheRetrieveEntry, Result
from io_benchmark.results.workloads.cache_retrieve import SPENT_COLUMNS
from io_benchmark.text import clean

if TYPE_CHECKING:
    from io_benchmark.sources.protocol import RunResult

_MB = 1_000_000
# 1,000 results of 2,000 samples have 190 to 300 MB, and need 260 MB of memory.
READ_BYTES = 384 * _MB
_KEPT_BYTES = 320 * _MB
# Of all pools together. Comparing one takes a few ms; all workloads in one place have thirty.
_MAXIMUM_SUBJECTS = 1_000
# A larger result is read after all others, and few at once. Results of full runs have 0.3 MB.
SMALL_BYTES = 512 * 1024
LARGE_AT_ONCE = 2
_NAMES_SHOWN = 3
_NAME_LENGTH = 90

# Measured memory of decoded parts. A sample's times are used in several ways, what was spent is only
# averaged, which takes no more than the array.
_SAMPLE_VALUE_BYTES = 14
_TIMELINE_VALUE_BYTES = 10
_SECOND_BYTES = 40  # of a drawn timeline
_VALUE_BYTES = 40
_QUOTATION_MARK_BYTES = 32
_OBJECT_BYTES = 160
_LIST_BYTES = 100
_OF_NUMBERS = b"0123456789 "


class Budget(Struct):
    """What is left to read and to keep; all readings of one command share it."""

    read_bytes: float = READ_BYTES
    kept_bytes: float = _KEPT_BYTES
    most_subjects: float = _MAXIMUM_SUBJECTS
    # When requests must end, by the monotonic clock, so that time is left for a report.
    ends_s: float | None = None
    _left_out: list[str] = field(default_factory=list)
    _refused_bytes: float = math.inf  # the smallest file that could not be kept
    _reasons: set[str] = field(default_factory=set)
    _subjects: set[tuple[object, ...]] = field(default_factory=set)

    def allows_reading(self, source: str, size_bytes: int = 0) -> bool:
        """Return whether another result of at least this size may be read; else count it as left out."""
        if self.read_bytes > 0 and size_bytes < self._refused_bytes:
            return True
        self._left_out.append(source)
        if self.read_bytes <= 0:
            self._reasons.add(f"{READ_BYTES // _MB} MB of files")
        return False

    def left_s(self) -> float | None:
        """Return how long reading may still take; None for no limit."""
        return None if self.ends_s is None else max(0.0, self.ends_s - time.monotonic())

    def spend(self, size_bytes: int) -> None:
        """Count bytes that were read, valid or not."""
        self.read_bytes -= size_bytes

    def keep(self, run_result: "RunResult") -> bool:
        """Return whether a result may be kept; else count it as left out."""
        new = {(run_result.pool, *subject) for subject in _subjects(run_result)} - self._subjects
        # A result may use half of what is left: later ones have other things to compare.
        if len(self._subjects) + 2 * len(new) > self.most_subjects:
            self._left_out.append(run_result.source)
            self._reasons.add(f"{self.most_subjects:,} different measurements of pools")
            return False
        if run_result.weight_bytes > self.kept_bytes:
            self._left_out.append(run_result.source)
            self._refused_bytes = min(self._refused_bytes, run_result.size_bytes)
            self._reasons.add(f"{_KEPT_BYTES // _MB} MB into memory")
            return False
        self.kept_bytes -= run_result.weight_bytes
        self._subjects |= new
        return True

    def take_left_out(self) -> list[str]:
        """Return one line for all results that were left out since the last call."""
        names, self._left_out = sorted(self._left_out), []
        if not names:
            return []
        results = "1 result" if len(names) == 1 else f"{len(names):,} results"
        shown = ", ".join(clean(name, _NAME_LENGTH) for name in names[:_NAMES_SHOWN])
        more = f" and {len(names) - _NAMES_SHOWN:,} more" if len(names) > _NAMES_SHOWN else ""
        limit = " and ".join(sorted(self._reasons))
        line = (
            f"left out {results}: one command reads at most {limit}; give fewer tasks or folders "
            f"at once"
        )
        return [f"{line}. Left out: {shown}{more}"]


def _subjects(run_result: "RunResult") -> set[tuple[object, ...]]:
    """Return what a result has measured; each is compared separately."""
    return {
        (
            entry.__struct_config__.tag,
            entry.place,
            *(
                (entry.destination, entry.fidelity)
                if isinstance(entry, CacheRetrieveEntry)
                else (entry.variant, entry.threads)
            ),
        )
        for entry in run_result.result.workloads
    }


def weight_bytes(result: Result, data: bytes) -> int:
    """Return an upper bound of the memory that a decoded result needs."""
    # Counting in all of it takes three times as long.
    structure = data.translate(None, _OF_NUMBERS)
    commas, marks, objects, lists = map(structure.count, (b",", b'"', b"{", b"["))
    columns = [
        (name, getattr(entry.samples, name))
        for entry in result.workloads
        for name in entry.samples.__struct_fields__
    ]
    known = [(name, column) for name, column in columns if column is not None]
    samples = sum(len(column) for _, column in known)
    samples_bytes = sum(
        len(column) * (column.itemsize if name in SPENT_COLUMNS else _SAMPLE_VALUE_BYTES)
        for name, column in known
    )
    timeline = seconds = 0
    if result.timeline is not None:
        tables = [result.timeline.columns, *result.timeline.devices.values()]
        lengths = [len(column) for table in tables for column in table.values()]
        timeline, seconds = sum(lengths), max(lengths, default=0)
    return (
        samples_bytes
        + timeline * _TIMELINE_VALUE_BYTES
        + seconds * _SECOND_BYTES
        + max(0, commas - samples - timeline) * _VALUE_BYTES
        + marks * _QUOTATION_MARK_BYTES
        + objects * _OBJECT_BYTES
        + lists * _LIST_BYTES
    )
