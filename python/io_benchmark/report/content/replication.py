# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""How many workers each pool had, and how many a verdict still needs: one row a side."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from io_benchmark.analysis.model import Comparison, Verdict
from io_benchmark.analysis.report_model import Report, SubjectReport, WorkerLine

UNKNOWN = "unknown"


class Standing(StrEnum):
    DECIDED = "decided"
    OPEN = "open"
    NOT_BY_REPETITION = "not by repetition"
    NO_VERDICT = "no verdict"


@dataclass(frozen=True)
class Replication:
    """One side's workers. What needs most of them counts, over subjects and comparisons."""

    side: str
    runs: int  # whose results were read
    workers: int  # machines that these ran on; one that is not known counts as another
    workers_compared: int  # those that every verdict rests on
    standing: Standing
    workers_needed: int | None  # in all, where it is open
    workers_to_add: int | None


def of_report(report: Report) -> tuple[Replication, ...]:
    """Each subject's baseline before its candidates, then what was not compared."""
    compared = (side for part in report.subjects for side in part.figures)
    read: dict[str, list[WorkerLine]] = {}
    for line in report.workers:
        read.setdefault(line.side, []).append(line)
    order = dict.fromkeys([*compared, *read])
    return tuple(_of_side(side, read[side], report.subjects) for side in order if side in read)


def _of_side(
    side: str, lines: Sequence[WorkerLine], subjects: Sequence[SubjectReport]
) -> Replication:
    found = [
        (part, comparison)
        for part in subjects
        for comparison in part.comparisons
        if side in (comparison.candidate, comparison.baseline)
    ]
    standing, needed, to_add = _standing(side, found)
    return Replication(
        side=side,
        runs=len(lines),
        workers=_machines(lines),
        workers_compared=min((_count(part, side) for part, _ in found), default=0),
        standing=standing,
        workers_needed=needed,
        workers_to_add=to_add,
    )


def _machines(lines: Sequence[WorkerLine]) -> int:
    known = Counter(line.machine for line in lines)
    unknown = known.pop(UNKNOWN, 0)
    return len(known) + unknown


def _standing(
    side: str, found: Sequence[tuple[SubjectReport, Comparison]]
) -> tuple[Standing, int | None, int | None]:
    if not found:
        return Standing.NO_VERDICT, None, None
    needed = to_add = 0
    undecided = [one for one in found if one[1].verdict is Verdict.INCONCLUSIVE]
    if not undecided:
        return Standing.DECIDED, None, None
    for part, comparison in undecided:
        added = comparison.advice.workers_to_add if comparison.advice is not None else None
        if added is None:
            return Standing.NOT_BY_REPETITION, None, None
        # The advice counts from the side that has fewer.
        fewest = min(_count(part, comparison.candidate), _count(part, comparison.baseline))
        needed = max(needed, fewest + added)
        to_add = max(to_add, fewest + added - _count(part, side))
    return Standing.OPEN, needed, to_add


def _count(part: SubjectReport, side: str) -> int:
    return part.figures[side].workers if side in part.figures else 0
