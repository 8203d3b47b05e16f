# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""How many workers each pool had, and how many a verdict still needs."""

from collections import Counter
from collections.abc import Collection, Sequence
from enum import StrEnum

from msgspec import Struct

from io_benchmark.analysis.model import UNKNOWN, Comparison, Verdict
from io_benchmark.analysis.report_model import SubjectReport, WorkerLine


class _Decision(StrEnum):
    """Whether a side's verdicts have enough workers."""

    DECIDED = "decided"
    OPEN = "open"
    NOT_BY_REPETITION = "not by repetition"
    NO_VERDICT = "no verdict"


class Replication(Struct, frozen=True):
    """One side's workers; the comparison that needs most of them counts."""

    side: str
    runs: int  # whose results were read
    workers: int  # machines; a run whose machine is unknown counts as a separate one
    workers_compared: int  # those that every verdict is based on
    standing: _Decision
    workers_needed: int | None  # in total, where it is open
    workers_to_add: int | None

    @property
    def cells(self) -> tuple[str, ...]:
        """Return what the table has of the side, below Runs, Workers, Workers needed."""
        workers = f"{self.workers:,}"
        if 0 < self.workers_compared < self.workers:
            workers = f"{self.workers_compared:,} of {workers}"
        return f"{self.runs:,}", workers, self._needed

    @property
    def _needed(self) -> str:
        match self.standing:
            case _Decision.DECIDED:
                return "enough"
            case _Decision.NOT_BY_REPETITION:
                return "more would not settle it"
            case _Decision.NO_VERDICT:
                return "no verdict"
        if self.workers_to_add == 0:
            return "enough here, too few in another pool"
        return f"{self.workers_to_add:,} more, {self.workers_needed:,} in total"

    @staticmethod
    def of_sides(
        subjects: Sequence[SubjectReport], workers: Sequence[WorkerLine]
    ) -> tuple["Replication", ...]:
        """Count each side: a measurement's baseline before its candidates, then what was not compared."""
        compared = (side for part in subjects for side in part.figures)
        lines_by_side: dict[str, list[WorkerLine]] = {}
        for line in workers:
            if line.is_counted:
                lines_by_side.setdefault(line.side, []).append(line)
        order = dict.fromkeys([*compared, *lines_by_side])
        return tuple(
            _count_side(side, lines_by_side[side], subjects)
            for side in order
            if side in lines_by_side
        )


def _count_side(
    side: str, lines: Sequence[WorkerLine], subjects: Sequence[SubjectReport]
) -> Replication:
    compared = [
        (part, comparison)
        for part in subjects
        for comparison in part.comparisons
        if side in (comparison.candidate, comparison.baseline)
    ]
    never = SubjectReport.not_by_repetition(subjects)
    standing, needed, to_add = _workers_needed(side, compared, never)
    return Replication(
        side=side,
        runs=len(lines),
        workers=_count_machines(lines),
        workers_compared=min((part.workers(side) for part, _ in compared), default=0),
        standing=standing,
        workers_needed=needed,
        workers_to_add=to_add,
    )


def _count_machines(lines: Sequence[WorkerLine]) -> int:
    known = Counter(line.machine for line in lines)
    unknown = known.pop(UNKNOWN, 0)
    return len(known) + unknown


def _workers_needed(
    side: str, compared: Sequence[tuple[SubjectReport, Comparison]], never: Collection[str]
) -> tuple[_Decision, int | None, int | None]:
    if not compared:
        return _Decision.NO_VERDICT, None, None
    undecided = [each for each in compared if each[1].verdict is Verdict.INCONCLUSIVE]
    if not undecided:
        return _Decision.DECIDED, None, None
    known = [
        (part, count)
        for part, comparison in undecided
        if (count := part.workers_wanted(comparison)) is not None
        and comparison.candidate not in never
    ]
    if not known:
        return _Decision.NOT_BY_REPETITION, None, None
    needed = max(count for _, count in known)
    return _Decision.OPEN, needed, max(0, *(count - part.workers(side) for part, count in known))
