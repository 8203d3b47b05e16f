# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""For an inconclusive comparison: how many workers more would decide it.

The number is the smallest at which the verdict that the data lean to would be reached in 80 of 100
repetitions, were the estimate true and the workers as different as assumed.
"""

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import chdtri, nctdtr, ndtr

from io_benchmark.analysis.inference import estimates, student
from io_benchmark.analysis.inference.estimates import Estimate, SideData
from io_benchmark.analysis.inference.levels import EQUIVALENCE_LEVEL, LEVEL, two_sided
from io_benchmark.analysis.model import Advice, Verdict
from io_benchmark.analysis.statements import Statement, count, share, statement

# 80 of 100 are promised. The formulas are those of equal variances; Welch's test, which judges in
# the end, loses up to three of 100 against them (measured in tests/simulation).
POWER = 0.83
WORKERS_AT_MOST = 100
# What is assumed counts as much as five workers' evidence beside what was seen.
ASSUMED_DEGREES = 4
SLICES = 200


def pooled_variation(sides: Sequence[SideData], assumed: float) -> tuple[float, float]:
    """The between-worker variation to plan with, and the degrees of freedom that were seen."""
    squares, degrees = 0.0, 0.0
    for side in sides:
        if side.count > 1:
            squares += student.sample_variance(side.log_means) * (side.count - 1)
            degrees += side.count - 1
    total = squares + ASSUMED_DEGREES * assumed**2
    return math.sqrt(total / (degrees + ASSUMED_DEGREES)), degrees


def chance_of_difference(log_ratio: float, variation: float, workers: int, level: float) -> float:
    """That the interval lies wholly on the side of 1 that the estimate is on."""
    degrees = 2 * workers - 2
    shift = abs(log_ratio) / (variation * math.sqrt(2 / workers))
    return 1 - float(nctdtr(degrees, shift, student.quantile(two_sided(level), degrees)))


def chance_of_equivalence(log_ratio: float, variation: float, workers: int, margin: float) -> float:
    """That the 90 % interval lies inside the margin, over what the error may turn out to be."""
    degrees = 2 * workers - 2
    error = variation * math.sqrt(2 / workers)
    edge = math.log1p(margin)
    reach = student.quantile(two_sided(EQUIVALENCE_LEVEL), degrees)
    # The estimated variance over the true one is chi-squared over its degrees of freedom.
    middles = (np.arange(SLICES) + 0.5) / SLICES
    estimated = error * np.sqrt(chdtri(degrees, middles) / degrees)
    room = np.maximum(edge - reach * estimated, 0.0)
    chances = ndtr((room - log_ratio) / error) - ndtr((-room - log_ratio) / error)
    return float(np.mean(chances))


def workers_needed(
    log_ratio: float, variation: float, margin: float, comparisons: int, leaning: Verdict
) -> int | None:
    """The number a side, or None when more than can be asked for."""
    # The first of Holm's steps, which is the hardest, so that the number is not too small.
    level = 1 - (1 - LEVEL) / comparisons
    for workers in range(2, 2 * WORKERS_AT_MOST + 1):
        if leaning is Verdict.EQUIVALENT:
            chance = chance_of_equivalence(log_ratio, variation, workers, margin)
        else:
            chance = chance_of_difference(log_ratio, variation, workers, level)
        if chance >= POWER:
            return workers
    return None


def advise(
    found: Estimate,
    sides: tuple[SideData, SideData],
    *,
    assumed: float,
    margin: float,
    comparisons: int,
) -> Advice:
    variation, seen_degrees = pooled_variation(sides, assumed)
    # One worker's mean is not known exactly either: a repetition would meet that as well.
    per_worker = math.sqrt(variation**2 + _finite(found.within_variance) / 2)
    low, high = estimates.margin_bounds(margin)
    if low <= found.ratio <= high:
        leaning = Verdict.EQUIVALENT
    else:
        leaning = Verdict.SLOWER if found.ratio > 1 else Verdict.FASTER
    needed = workers_needed(found.log_ratio, per_worker, margin, comparisons, leaning)
    fewest = min(side.count for side in sides)
    add = None if needed is None else max(1, needed - fewest)
    if add is not None and add > WORKERS_AT_MOST:
        add = None
    basis = (
        "workers vary by {variation}, including an assumed {assumed}"
        if seen_degrees == 0
        else "workers vary by {variation}, estimated from these workers and an assumed {assumed}"
    )
    assumption = statement(basis, variation=share(per_worker), assumed=share(assumed))
    return Advice(leaning, add, per_worker, _message(leaning, add, assumption))


def _message(leaning: Verdict, workers_to_add: int | None, assumption: Statement) -> Statement:
    if workers_to_add is None:
        return statement(
            f"probably {leaning}, not proven; not decidable by repetition: it would take more than "
            "{most} workers per pool if {assumption}",
            most=count(WORKERS_AT_MOST),
            assumption=assumption,
        )
    workers = "worker" if workers_to_add == 1 else "workers"
    return statement(
        f"probably {leaning}, not proven; {{add}} more {workers} per pool should settle it if "
        "{assumption}",
        add=count(workers_to_add),
        assumption=assumption,
    )


def _finite(value: float) -> float:
    return value if math.isfinite(value) else 0.0
