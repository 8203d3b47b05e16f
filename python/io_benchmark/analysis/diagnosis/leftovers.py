# SPDX-License-Identifier: MPL-2.0
"""What the supported causes leave over of a difference, part by part of the time."""

import math
from collections.abc import Sequence

from io_benchmark.analysis.diagnosis.case import Case
from io_benchmark.analysis.diagnosis.cause_rule import CauseRule
from io_benchmark.analysis.evidence_model import Leftover, LeftoverPart
from io_benchmark.analysis.model import Cause
from io_benchmark.analysis.parts.division import Division, PartDifference
from io_benchmark.analysis.parts.time_parts import Kind, Part

# Predictions are not better than this; less is not worth a sentence.
_LEAST_SHARE = 0.1
# A part with less than this of the leftover is not named.
_NAMED_SHARE = 0.2


def left_over(causes: Sequence[Cause], rules: Sequence[CauseRule], case: Case) -> Leftover | None:
    """Return what the supported causes do not explain; None where that may be nothing."""
    division = case.division
    supported = [cause for cause in causes if cause.state.holds]
    if not supported or division is None or not case.ratio:
        return None
    sign = 1 if case.candidate_is_slower else -1
    whole_ns = sign * division.difference_ns
    if whole_ns <= 0:
        return None
    left_ns = {
        Part(part.phase, part.kind): max(0.0, sign * part.difference_ns) for part in division.parts
    }
    acts_through = {rule.name: rule.acts_through for rule in rules}
    for cause in supported:
        _take(left_ns, _explained_ns(cause, case), acts_through[cause.name], case)
    rest_ns = min(whole_ns, math.fsum(left_ns.values()))
    if rest_ns < max(_LEAST_SHARE * whole_ns, _margin_ns(division, left_ns)):
        return None
    largest = sorted(left_ns.items(), key=lambda item: -item[1])
    parts = tuple(
        LeftoverPart(part.phase, part.kind, ns)
        for part, ns in largest
        if ns >= _NAMED_SHARE * rest_ns
    )
    return Leftover(rest_ns, rest_ns / whole_ns, parts)


def _explained_ns(cause: Cause, case: Case) -> float:
    """Return the time that a cause explains; without a size all of its parts."""
    times = [view.mean_ns for view in case.slower if view.mean_ns is not None]
    if cause.share is None or not times or not case.ratio:
        return math.inf
    slower_ns = math.fsum(times) / len(times)
    return slower_ns * -math.expm1(-cause.share * abs(math.log(case.ratio)))


def _take(
    left_ns: dict[Part, float], explained_ns: float, acts_through: frozenset[Part], case: Case
) -> None:
    """Subtract what a cause explains from its parts, and from what was not recorded of their phases."""
    parts = case.parts_of_workload(acts_through)
    parts |= {Part(part.phase, Kind.UNEXPLAINED) for part in parts}
    mine = [part for part in left_ns if not acts_through or part in parts]
    for part in sorted(mine, key=lambda each: -left_ns[each]):
        taken_ns = min(left_ns[part], explained_ns)
        left_ns[part] -= taken_ns
        explained_ns -= taken_ns


def _margin_ns(division: Division, left_ns: dict[Part, float]) -> float:
    """Return the uncertainty of the parts that have a rest."""
    uncertain = [part for part in division.parts if left_ns[Part(part.phase, part.kind)] > 0]
    return math.hypot(*map(_half_width_ns, uncertain))


def _half_width_ns(part: PartDifference) -> float:
    if part.low_ns is None or part.high_ns is None:
        return 0.0
    return (part.high_ns - part.low_ns) / 2
