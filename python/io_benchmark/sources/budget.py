# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""How much the results of one command may take together, in bytes read and in memory kept.

One result is bounded by its reader; anyone's task may leave many. What is over the budget is left
out by name. Small results are read before large ones, so that a few large ones displace nobody.
"""

import math
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from io_benchmark.results import CacheRetrieveEntry, Result
from io_benchmark.text import clean

if TYPE_CHECKING:
    from io_benchmark.sources.protocol import RunResult

MB = 1_000_000
# 1,000 results of 2,000 samples have 120 to 200 MB and take as much memory.
READ_BYTES = 256 * MB
KEPT_BYTES = 260 * MB
# Of all pools together. Each takes a few ms to compare; every workload in one place has thirty.
MAXIMUM_SUBJECTS = 1_000
# Above this a result is read after all others, and few at once. Those of full runs have 0.2 MB.
SMALL_BYTES = 512 * 1024
LARGE_AT_ONCE = 2
NAMES_SHOWN = 3
NAME_LENGTH = 90

# What decoded parts take, measured. A sample's times are looked at in several ways.
_SAMPLE_VALUE_BYTES = 14
_TIMELINE_VALUE_BYTES = 10
_SECOND_BYTES = 40  # what is drawn of the timeline
_VALUE_BYTES = 40
_QUOTATION_MARK_BYTES = 32
_OBJECT_BYTES = 160
_LIST_BYTES = 100


@dataclass
class Budget:
    """What is left to read and to keep; everything that reads results for one command shares it."""

    read_bytes: float = READ_BYTES
    kept_bytes: float = KEPT_BYTES
    most_subjects: float = MAXIMUM_SUBJECTS
    # By the monotonic clock: when reading from elsewhere ends, so that there is a report at all.
    ends_s: float | None = None
    _left_out: list[str] = field(default_factory=list)
    _refused_bytes: float = math.inf  # the smallest file that could not be kept
    _reasons: set[str] = field(default_factory=set)
    _subjects: set[tuple[object, ...]] = field(default_factory=set)

    def allows_reading(self, source: str, size_bytes: int = 0) -> bool:
        """May another result, of at least this size, be read? If not, it counts as left out."""
        if self.read_bytes > 0 and size_bytes < self._refused_bytes:
            return True
        self._left_out.append(source)
        if self.read_bytes <= 0:
            self._reasons.add("all the bytes")
        return False

    def left_s(self) -> float | None:
        """How long reading may still take; None where nobody waits for it."""
        return None if self.ends_s is None else max(0.0, self.ends_s - time.monotonic())

    def spend(self, size_bytes: int) -> None:
        """So much was read, whatever became of it."""
        self.read_bytes -= size_bytes

    def keep(self, measured: "RunResult") -> bool:
        """May a result be kept? If not, it counts as left out."""
        new = {(measured.pool, *subject) for subject in _subjects(measured)} - self._subjects
        # A result may take half of what is left: the next ones have other things to compare.
        if len(self._subjects) + 2 * len(new) > self.most_subjects:
            self._left_out.append(measured.source)
            self._reasons.add(f"{self.most_subjects:,} different measurements of pools")
            return False
        if measured.weight_bytes > self.kept_bytes:
            self._left_out.append(measured.source)
            self._refused_bytes = min(self._refused_bytes, measured.size_bytes)
            self._reasons.add(f"{KEPT_BYTES // MB} MB of memory")
            return False
        self.kept_bytes -= measured.weight_bytes
        self._subjects |= new
        return True

    def take_left_out(self) -> list[str]:
        """One line for all that was left out since this was last called."""
        names, self._left_out = sorted(self._left_out), []
        if not names:
            return []
        results = "1 result" if len(names) == 1 else f"{len(names):,} results"
        shown = ", ".join(clean(name, NAME_LENGTH) for name in names[:NAMES_SHOWN])
        more = f" and {len(names) - NAMES_SHOWN:,} more" if len(names) > NAMES_SHOWN else ""
        limit = " and ".join(sorted(self._reasons))
        line = (
            f"left out {results}: the others take {limit} that one command may have; "
            f"give fewer tasks or folders at once"
        )
        return [f"{line}. Left out: {shown}{more}"]


def _subjects(measured: "RunResult") -> set[tuple[object, ...]]:
    """What a result has measured, each of which is compared by itself."""
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
        for entry in measured.result.workloads
    }


def weight_bytes(result: Result, data: bytes) -> int:
    """How much memory a result takes once it is read, from above."""
    import numpy as np  # noqa: PLC0415 - takes 0.06 s, which `fetch` need not wait for

    characters = np.frombuffer(data, np.uint8)
    commas, marks, objects, lists = (
        int(np.count_nonzero(characters == ord(character))) for character in ',"{['
    )
    samples = sum(
        len(getattr(entry.samples, name))
        for entry in result.workloads
        for name in entry.samples.__struct_fields__
    )
    timeline = seconds = 0
    if result.timeline is not None:
        tables = [result.timeline.columns, *result.timeline.devices.values()]
        lengths = [len(column) for table in tables for column in table.values()]
        timeline, seconds = sum(lengths), max(lengths, default=0)
    return (
        samples * _SAMPLE_VALUE_BYTES
        + timeline * _TIMELINE_VALUE_BYTES
        + seconds * _SECOND_BYTES
        + max(0, commas - samples - timeline) * _VALUE_BYTES
        + marks * _QUOTATION_MARK_BYTES
        + objects * _OBJECT_BYTES
        + lists * _LIST_BYTES
    )
