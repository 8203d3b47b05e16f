# SPDX-License-Identifier: MPL-2.0
"""Zones that may be the difference between two sides: data centres differ as pools do.

Where both sides have workers in one zone, the sides are compared within such zones as well: the ratio by
least squares on the logarithms of the workers' means, its interval by the same method as that of all workers.
"""

import math
from collections import Counter
from collections.abc import Sequence
from itertools import compress
from operator import mul

from msgspec.structs import replace

from io_benchmark.analysis.inference import decisions
from io_benchmark.analysis.inference.estimates import Estimate, SideData
from io_benchmark.analysis.inference.levels import DEFAULT_MARGIN, LEVEL
from io_benchmark.analysis.inference.pairs import Pair
from io_benchmark.analysis.model import Problem, Run, Severity, Subject
from io_benchmark.analysis.observed.machine_identity import by_machine
from io_benchmark.analysis.statements import (
    Quantity,
    Statement,
    Unit,
    count,
    joined,
    share,
    statement,
)

RULE = "zones"
_PLACE = ("cloud", "region", "zone")
_Zone = tuple[str, ...]


def uneven_zones(
    subject: Subject, pair: Pair, candidate: Sequence[Run], baseline: Sequence[Run]
) -> list[Problem]:
    """Return a problem where the zones of two sides may be what differs, as far as they are known.

    Its explanation has the ratio within zones. The pair's workers are in the order of their runs.
    """
    ours, theirs = _zones(candidate), _zones(baseline)
    if min(len(ours), len(theirs)) < 2 or not all((*ours, *theirs)):
        return []
    within = _within_zones(pair, ours, theirs)
    if within is None:
        explanation = statement(
            "They have no zone in common, so zone and pool cannot be told apart."
        )
    else:
        workers, estimate = within
        shift = abs(
            estimate.log_ratio - math.log(pair.candidate_side.mean_ns / pair.baseline_side.mean_ns)
        )
        regions = [{zone[:-1] for zone in zones} for zones in (ours, theirs)]
        if regions[0] == regions[1] and shift <= math.log1p(DEFAULT_MARGIN):
            return []
        ((_, level),) = decisions.holm([estimate.p_value], [pair.look])
        interval = estimate.interval(level)
        explanation = statement(
            "Within the zones that both have, with {workers} of {all} workers, the ratio is {ratio} "
            "({level} interval {low} to {high}).",
            workers=count(workers),
            all=count(len(ours) + len(theirs)),
            ratio=Quantity(estimate.ratio, Unit.RATIO),
            level=share(LEVEL),
            low=Quantity(interval.low_ratio, Unit.RATIO),
            high=Quantity(interval.high_ratio, Unit.RATIO),
        )
    message = statement(
        "workers of {baseline}: {in_baseline}; of {candidate}: {in_candidate}",
        baseline=pair.baseline,
        in_baseline=_counted(theirs),
        candidate=pair.candidate,
        in_candidate=_counted(ours),
    )
    sides = pair.baseline, pair.candidate
    return [Problem(RULE, Severity.WARNING, subject, sides, message, explanation)]


def _zones(runs: Sequence[Run]) -> list[_Zone]:
    locations = [machine[0].worker.result.task.location for machine in by_machine(runs)]
    return [
        tuple(location.get(name, "") for name in _PLACE) if location.get("zone") else ()
        for location in locations
    ]


def _counted(zones: Sequence[_Zone]) -> Statement:
    """Return '5 in us-central1-a, 1 in us-central1-f'."""
    return joined(
        statement("{workers} in {zone}", workers=count(workers), zone=zone[-1])
        for zone, workers in sorted(Counter(zones).items())
    )


def _within_zones(
    pair: Pair, ours: Sequence[_Zone], theirs: Sequence[_Zone]
) -> tuple[int, Estimate] | None:
    """Return the ratio within the zones that both have, and of how many workers; None: there is none."""
    common = set(ours) & set(theirs)
    if not common:
        return None
    is_common = [[zone in common for zone in zones] for zones in (ours, theirs)]
    candidate, baseline = (
        SideData(tuple(compress(side.log_means, kept)), tuple(compress(side.runs, kept)))
        for side, kept in zip((pair.candidate_side, pair.baseline_side), is_common, strict=True)
    )
    zones = [zone for zone in (*ours, *theirs) if zone in common]
    # What zones do not predict of the side.
    candidates = Counter(zones[: candidate.count])
    shares = {zone: candidates[zone] / number for zone, number in Counter(zones).items()}
    is_candidate = [1.0] * candidate.count + [0.0] * baseline.count
    rest = [side - shares[zone] for side, zone in zip(is_candidate, zones, strict=True)]
    square = math.fsum(map(mul, rest, rest))
    log_ratio = math.fsum(map(mul, rest, (*candidate.log_means, *baseline.log_means))) / square
    estimate = Estimate.of_sides(candidate, baseline, pair.variation.ratio, pair.look)
    # Unequal shares of the zones make least squares less precise.
    loss = 1 / square / (1 / candidate.count + 1 / baseline.count)
    return len(zones), replace(estimate, log_ratio=log_ratio, variance=loss * estimate.variance)
