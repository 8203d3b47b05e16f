# SPDX-License-Identifier: MPL-2.0
"""How much of a difference is that the slower side waits longer for a CPU.

Where a CPU is shared, more work also waits longer, and long work longer than short work. So waiting
for others is compared where both sides have about the same work to do.
"""

import math
from operator import attrgetter
from typing import NamedTuple

from io_benchmark.analysis.diagnosis.case import Case
from io_benchmark.analysis.diagnosis.rules import is_enough
from io_benchmark.analysis.observed.worker_view import View
from io_benchmark.analysis.parts.division import Division
from io_benchmark.analysis.parts.time_parts import ON_CPU, Kind, Phase

_STOLEN_SHARE = 0.05
# Competitors empty the caches, so that the same work takes up to this much longer.
_SAME_WORK_RATIO = 3.0
_STOLEN = attrgetter("stolen_share")


class StolenTime(NamedTuple):
    """The shares of both sides' CPU time that other guests took, and of the difference if known."""

    of_slower: float
    of_faster: float
    of_difference: float | None


def stolen_time(case: Case) -> StolenTime | None:
    """Return what other guests took where the slower side lost more, and that costs enough."""
    slower, faster = case.means(_STOLEN)
    if not case.differs or slower is None or faster is None:
        return None
    share = _share_stolen(case)
    if slower - faster < _STOLEN_SHARE or not (share is None or is_enough(share)):
        return None
    return StolenTime(slower, faster, share)


def share_for_others(case: Case) -> float | None:
    """Return the part of the difference in which the slower side waits for others of its machine.

    None where a side did not record for how long it waited.
    """
    division = case.division
    if division is None or not division.difference_ns:
        return None
    phases = {part.phase for part in division.parts if part.kind is Kind.WAITING}
    if not phases:
        return None
    longer_ns = math.fsum(_waits_longer_ns(division, phase, case) for phase in phases)
    return longer_ns / abs(division.difference_ns) - max(0.0, _share_stolen(case) or 0.0)


def _waits_longer_ns(division: Division, phase: Phase, case: Case) -> float:
    """Return how much longer the slower side waits in a phase, for the same work."""
    times = {
        part.kind: (part.baseline_ns, part.candidate_ns)
        for part in division.parts
        if part.phase is phase
    }
    sides = (1, 0) if case.candidate_is_slower else (0, 1)
    worked = [math.fsum(times[kind][side] for kind in ON_CPU if kind in times) for side in sides]
    waited = [times[Kind.WAITING][side] for side in sides]
    if not all(worked) or worked[0] >= _SAME_WORK_RATIO * worked[1]:
        return 0.0
    return waited[0] - waited[1] * worked[0] / worked[1]


def _share_stolen(case: Case) -> float | None:
    """Return the part of the difference that other guests took, by the CPU time that was worked.

    None where a side did not record one of the two.
    """
    slower, faster = case.means(_stolen_per_work)
    worked_ns, difference_ns = case.slower.mean(_worked_ns), case.difference_ns
    if slower is None or faster is None or worked_ns is None or not difference_ns:
        return None
    return worked_ns * (slower - faster) / abs(difference_ns)


def _stolen_per_work(view: View) -> float | None:
    stolen = view.stolen_share
    return None if stolen is None or stolen >= 1 else stolen / (1 - stolen)


def _worked_ns(view: View) -> float | None:
    if view.entry is None:
        return None
    times = [time_ns for part, time_ns in view.entry.parts_ns.items() if part.kind in ON_CPU]
    return math.fsum(times) if times else None
