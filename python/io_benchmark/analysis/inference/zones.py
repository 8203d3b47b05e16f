# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Zones that may be the difference between two sides: data centres differ as pools do.

Where both sides have workers in one zone, sides are compared within zones as well, by least squares on
the logarithms of the workers' means. If zones do not matter, both ratios estimate the same one, and their
difference has a known variance (Hausman 1978, Econometrica 46:1251).
"""

import math
from collections import Counter
from collections.abc import Sequence
from operator import mul
from statistics import fmean

from io_benchmark.analysis.inference import distributions
from io_benchmark.analysis.inference.estimates import SideData
from io_benchmark.analysis.inference.levels import DEFAULT_MARGIN, LEVEL
from io_benchmark.analysis.model import Problem, Run, Severity, Subject
from io_benchmark.analysis.observed.machine_identity import by_machine
from io_benchmark.analysis.statements import (
    Quantity,
    Statement,
    Unit,
    count,
    joined,
    statement,
)

_RULE = "zones"
_PLACE = ("cloud", "region", "zone")
_Zone = tuple[str, ...]


def uneven_zones(
    subject: Subject,
    data: tuple[SideData, SideData],
    candidate: Sequence[Run],
    baseline: Sequence[Run],
) -> list[Problem]:
    """Return a problem where the zones of two sides may be what differs, as far as they are known.

    `data` are the candidate's and the baseline's machines, in the order of their runs.
    """
    ours, theirs = _zones(candidate), _zones(baseline)
    if min(len(ours), len(theirs)) < 2 or not all((*ours, *theirs)):
        return []
    sides = baseline[0].worker.side, candidate[0].worker.side
    if not set(ours) & set(theirs):
        message = statement(
            "{baseline} and {candidate} have no zone in common: a difference may be that of the zones",
            baseline=sides[0],
            candidate=sides[1],
        )
        workers = _workers(sides, theirs, ours)
        return [Problem(_RULE, Severity.WARNING, subject, sides, message, workers)]
    logs = [log for side in data for log in side.log_means]
    within = _ratio_within_zones(logs, [*ours, *theirs], len(ours))
    if within is None:
        return []
    message = statement(
        "{baseline} and {candidate} have different shares of zones; within zones the ratio is {within}",
        baseline=sides[0],
        candidate=sides[1],
        within=Quantity(within, Unit.RATIO),
    )
    workers = _workers(sides, theirs, ours)
    return [Problem(_RULE, Severity.WARNING, subject, sides, message, workers)]


def _zones(runs: Sequence[Run]) -> list[_Zone]:
    """Return the zone of each machine; empty where it is not known."""
    locations = [machine[0].worker.result.task.location for machine in by_machine(runs)]
    return [
        tuple(location.get(name, "") for name in _PLACE) if location.get("zone") else ()
        for location in locations
    ]


def _workers(sides: tuple[str, str], *zones: Sequence[_Zone]) -> Statement:
    """Return 'Workers of intel: 5 in us-central1-a, 1 in us-central1-f; of amd-16: …'."""
    baseline, candidate = (
        joined(
            statement("{workers} in {zone}", workers=count(workers), zone=zone[-1])
            for zone, workers in sorted(Counter(of_side).items())
        )
        for of_side in zones
    )
    return statement(
        "Workers of {baseline}: {in_baseline}; of {candidate}: {in_candidate}.",
        baseline=sides[0],
        in_baseline=baseline,
        candidate=sides[1],
        in_candidate=candidate,
    )


def _ratio_within_zones(
    log_means: Sequence[float], zones: Sequence[_Zone], candidates: int
) -> float | None:
    """Return the ratio within zones, where it differs from the ratio over all by more than chance.

    The first `candidates` means are the candidate's.
    """
    degrees = len(log_means) - len(set(zones)) - 1
    if degrees < 1 or len(set(zones)) == 1:
        return None
    baselines = len(log_means) - candidates
    side = [1.0] * candidates + [0.0] * baselines
    # The side's part that zones do not predict.
    alone = _off_zone_means(side, zones)
    square = math.fsum(map(mul, alone, alone))
    within = math.fsum(map(mul, alone, log_means)) / square
    over_all = fmean(log_means[:candidates]) - fmean(log_means[candidates:])
    without_side = [log - within * share for log, share in zip(log_means, side, strict=True)]
    rest = _off_zone_means(without_side, zones)
    variance = math.fsum(map(mul, rest, rest)) / degrees
    extra = 1 / square - 1 / candidates - 1 / baselines
    shift = abs(within - over_all)
    if shift <= math.log1p(DEFAULT_MARGIN) or extra <= 0:
        return None
    error = math.sqrt(variance * extra)
    is_chance = error > 0 and 2 * distributions.tail(shift / error, degrees) > 1 - LEVEL
    return None if is_chance else math.exp(within)


def _off_zone_means(values: Sequence[float], zones: Sequence[_Zone]) -> list[float]:
    """Return what least squares by zones leave: each value less the mean of its zone."""
    of_zone: dict[_Zone, list[float]] = {}
    for value, zone in zip(values, zones, strict=True):
        of_zone.setdefault(zone, []).append(value)
    means = {zone: fmean(in_zone) for zone, in_zone in of_zone.items()}
    return [value - means[zone] for value, zone in zip(values, zones, strict=True)]
