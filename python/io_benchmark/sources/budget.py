# SPDX-License-Identifier: MPL-2.0
"""The limits of all results of one command together, in bytes read and in memory kept.

The reader of a result limits its size, but anyone's task can leave many. Results over the budget
are left out and named. Small results are read before large ones, so a few large ones displace no
others.
"""

import math
import time
from collections.abc import Iterator

from msgspec import Struct, field

from io_benchmark.number_text import listed, number_of
from io_benchmark.results import CacheRetrieveEntry
from io_benchmark.sources.run_results import RunResult
from io_benchmark.text import clean

_MB = 1_000_000
# 1,000 results of 2,000 samples have 190 to 300 MB, and need 260 MB of memory.
READ_BYTES = 384 * _MB
_KEPT_BYTES = 320 * _MB
# All pools together. Comparing one takes a few ms; all workloads in one place have thirty.
_MAXIMUM_SUBJECTS = 1_000
# A larger result is read after all others, and few at once. Results of full runs have 0.3 MB.
SMALL_BYTES = 512 * 1024
LARGE_AT_ONCE = 2
_NAMES_LISTED, _NAME_LENGTH = 3, 90


class Budget(Struct):
    """What is left to read and to keep; all readings of one command share it."""

    read_bytes: float = READ_BYTES  # valid or not
    kept_bytes: float = _KEPT_BYTES
    most_subjects: float = _MAXIMUM_SUBJECTS
    # When requests must end, by the monotonic clock, so that time is left for a report.
    ends_s: float | None = None
    _left_out: list[str] = field(default_factory=list)
    _refused_bytes: float = math.inf  # the smallest file that could not be kept
    _reasons: set[str] = field(default_factory=set)
    _subjects: set[tuple[object, ...]] = field(default_factory=set)

    def allows_reading(self, source: str, size_bytes: int = 0) -> bool:
        """Return whether a result of at least this size may be read; else count it as left out."""
        if self.read_bytes <= 0:
            return self._leave_out(source, f"{READ_BYTES // _MB} MB of files")
        return size_bytes < self._refused_bytes or self._leave_out(source)

    def left_s(self) -> float | None:
        """Return how long reading may still take; None for no limit."""
        return None if self.ends_s is None else max(0.0, self.ends_s - time.monotonic())

    def keep(self, run_result: RunResult) -> bool:
        """Return whether a result may be kept; else count it as left out."""
        new = set(_subjects(run_result)) - self._subjects
        # A result may use half of what is left: later ones have other things to compare.
        if len(self._subjects) + 2 * len(new) > self.most_subjects:
            limit = f"{self.most_subjects:,} different measurements of pools"
            return self._leave_out(run_result.source, limit)
        if run_result.weight_bytes > self.kept_bytes:
            self._refused_bytes = min(self._refused_bytes, run_result.size_bytes)
            return self._leave_out(run_result.source, f"{_KEPT_BYTES // _MB} MB into memory")
        self.kept_bytes -= run_result.weight_bytes
        self._subjects |= new
        return True

    def _leave_out(self, source: str, *reasons: str) -> bool:
        self._left_out.append(source)
        self._reasons.update(reasons)
        return False

    def take_left_out(self) -> list[str]:
        """Return one line for all results that were left out since the last call."""
        names, self._left_out = sorted(self._left_out), []
        if not names:
            return []
        shown = listed([clean(name, _NAME_LENGTH) for name in names], _NAMES_LISTED)
        limit = " and ".join(sorted(self._reasons))
        line = f"left out {number_of(len(names), 'result')}: one command reads at most {limit}"
        return [f"{line}; give fewer tasks or folders at once. Left out: {shown}"]


def _subjects(run_result: RunResult) -> Iterator[tuple[object, ...]]:
    """Yield what a result has measured; each is compared separately."""
    for entry in run_result.result.workloads:
        workload = (run_result.pool, entry.__struct_config__.tag, entry.place)
        if isinstance(entry, CacheRetrieveEntry):
            yield (*workload, entry.destination, entry.fidelity)
        else:
            yield (*workload, entry.variant, entry.threads)
