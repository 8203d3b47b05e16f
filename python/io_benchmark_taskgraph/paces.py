# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Which pools of a group must run once more to confirm a cause, and at which pace.

`io-benchmark submit --confirm` decides by the whole comparison. Without its statistics, this is the
same rule by mean times; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean
from typing import Any, NamedTuple

# Smaller differences of the times are not tried.
LEAST_RATIO = 1.1
# Nearer than this, two ceilings do not make copies differ.
CEILINGS_DIFFER_RATIO = 1.2
# Nearer than this, a pace is the other pool's ceiling.
SAME_PACE_RATIO = 1.1
_NS_PER_S = 10**9
_WORKLOAD = "cache-retrieve"


class Pace(NamedTuple):
    """A pool whose copies must be limited to what another pool's disks can write."""

    pool: str
    bytes_per_s: int
    against: str  # the slower pool, whose ceiling this is

    def is_like(self, pool: str | None, bytes_per_s: int) -> bool:
        """Return whether a run of a pool at this rate shows the same."""
        return self.pool == pool and _is_same(bytes_per_s, self.bytes_per_s)

    @staticmethod
    def missing(entries: Iterable[_MeasuredEntry], baseline: str | None) -> list[Pace]:
        """Return the missing runs; the baseline is the last pool by name, unless given."""
        entries = list(entries)
        found: list[Pace] = []
        for subject in dict.fromkeys(entry.subject for entry in entries):
            of_pools: dict[str, list[_MeasuredEntry]] = {}
            for entry in entries:
                if entry.subject == subject:
                    of_pools.setdefault(entry.pool, []).append(entry)
            against = baseline if baseline in of_pools else max(of_pools)
            for pool in sorted(of_pools):
                pace = _pace(of_pools[pool], of_pools[against])
                if pace is None:
                    continue
                if not any(
                    known.is_like(pace.pool, pace.bytes_per_s) for known in found
                ):
                    found.append(pace)
        return found


@dataclass(frozen=True)
class _MeasuredEntry:
    """What a pool's run measured of one subject."""

    pool: str
    subject: tuple[str, ...]  # place, destination and fidelity
    mean_ns: float
    ceiling: float | None  # bytes per second
    paced_at: int | None


def entries_of(result: Any) -> list[_MeasuredEntry]:
    """Return the entries with trials of a result file; none where it is malformed."""
    try:
        pool = str(result["task"]["pool"])
        entries = [entry for entry in result["workloads"] if entry["name"] == _WORKLOAD]
        return [_entry(pool, entry) for entry in entries if entry.get("trials")]
    except (AttributeError, KeyError, TypeError, ValueError, ArithmeticError):
        return []


def _entry(pool: str, entry: dict[str, Any]) -> _MeasuredEntry:
    samples, trials = entry["samples"], entry["trials"]
    subject = (entry["place"], entry["destination"], entry["fidelity"])
    times_ns = [sum(pair) for pair in zip(samples["lookup_ns"], samples["copy_ns"])]
    written = sum(each["written_bytes"] for each in trials["ceilings"])
    taken_ns = sum(each["duration_ns"] for each in trials["ceilings"])
    ceiling = written / (taken_ns / _NS_PER_S) if taken_ns else None
    return _MeasuredEntry(
        pool, subject, fmean(times_ns), ceiling, trials["pace_bytes_per_s"]
    )


def _is_same(bytes_per_s: float, wanted_bytes_per_s: float) -> bool:
    return 1 / SAME_PACE_RATIO <= bytes_per_s / wanted_bytes_per_s <= SAME_PACE_RATIO


def _pace(
    candidate: list[_MeasuredEntry], baseline: list[_MeasuredEntry]
) -> Pace | None:
    sides = (candidate, baseline)
    means_ns = [fmean(entry.mean_ns for entry in side) for side in sides]
    slower, faster = sides if means_ns[0] > means_ns[1] else reversed(sides)
    if max(means_ns) < LEAST_RATIO * min(means_ns):
        return None
    low, high = _ceiling(slower), _ceiling(faster)
    if low is None or high is None or high < CEILINGS_DIFFER_RATIO * low:
        return None
    paced = [entry.paced_at for entry in faster if entry.paced_at]
    if any(_is_same(rate, low) for rate in paced):
        return None
    return Pace(faster[0].pool, round(low), slower[0].pool)


def _ceiling(entries: list[_MeasuredEntry]) -> float | None:
    known = [entry.ceiling for entry in entries if entry.ceiling is not None]
    return fmean(known) if known else None
