# SPDX-License-Identifier: MPL-2.0
"""How many more workers should settle an inconclusive comparison.

The number is the smallest with which 80 of 100 repetitions would reach the more probable verdict, if
the estimate is true and workers vary as assumed.
"""

import bisect
import functools
import math
from collections.abc import Callable, Sequence
from functools import partial

from io_benchmark.analysis.inference import decisions
from io_benchmark.analysis.inference.estimates import Estimate
from io_benchmark.analysis.inference.levels import LEVEL
from io_benchmark.analysis.inference.looks import SINGLE, Schedule
from io_benchmark.analysis.inference.pairs import Pair
from io_benchmark.analysis.inference.variances import MeanVariance, reach, tail
from io_benchmark.analysis.model import Advice, Verdict
from io_benchmark.analysis.statements import Statement, count, share, statement

# 80 of 100 are promised. The formulas are those of equal variances; Welch's test, which gives the
# verdict, reaches up to three of 100 fewer (measured in tests/simulation).
_POWER = 0.83
MOST_WORKERS = 100
# The assumed variation counts as much as that of five workers.
_PRIOR_DEGREES = 4
# Errors whose density is e⁻³⁰ of the highest are left out. So many steps give three digits or more.
_NEGLIGIBLE = 30.0
_STEPS = 200


@functools.lru_cache(maxsize=256)
def _estimated_errors(degrees: int) -> Sequence[tuple[float, float]]:
    """Return what an estimated error can be, in units of the true one, each with its probability.

    Its square is chi-squared over its degrees of freedom. The steps are even in the logarithm.
    """
    width = math.sqrt(_NEGLIGIBLE / degrees)
    lowest, step = -width - width**2, (2 * width + width**2) / _STEPS
    logs = [lowest + step * number for number in range(_STEPS + 1)]
    densities = [math.exp(degrees * (log - math.expm1(2 * log) / 2)) for log in logs]
    total = math.fsum(densities)
    return [(math.exp(log), density / total) for log, density in zip(logs, densities, strict=True)]


def _chance_of_difference(log_ratio: float, variation: float, level: float, workers: int) -> float:
    degrees = 2 * workers - 2
    shift = abs(log_ratio) / (variation * math.sqrt(2 / workers))
    errors = reach(level, degrees)
    return math.fsum(
        chance * tail(errors * estimated - shift, math.inf)
        for estimated, chance in _estimated_errors(degrees)
    )


def _chance_of_equivalence(
    log_ratio: float, variation: float, level: float, margin: float, workers: int
) -> float:
    """Return the chance that the interval is within the margin, over the possible errors."""
    degrees = 2 * workers - 2
    error = variation * math.sqrt(2 / workers)
    shift, edge = log_ratio / error, math.log1p(margin) / error
    errors = reach(level, degrees)
    chances = []
    for estimated, chance in _estimated_errors(degrees):
        room = edge - errors * estimated
        if room > 0:
            within = tail(-room - shift, math.inf) - tail(room - shift, math.inf)
            chances.append(chance * within)
    return math.fsum(chances)


def _workers_needed(
    log_ratio: float,
    variation: float,
    margin: float,
    comparisons: int,
    leaning: Verdict,
    schedule: Schedule | None = None,
    stretches: Sequence[range] = (range(2, 2 * MOST_WORKERS + 1),),
) -> int | None:
    """Return the number per side; None if it is in none of the stretches, which have one level each."""
    # The first of Holm's steps, which is the hardest, so that the number is not too small.
    first_step = (1 - LEVEL) / comparisons
    for numbers in filter(len, stretches):
        look = SINGLE if schedule is None else schedule.look(numbers[0])
        if leaning is Verdict.EQUIVALENT:
            level = look.equivalence_level
            chance = partial(_chance_of_equivalence, log_ratio, variation, level, margin)
        else:
            level = 1 - look.p_value(first_step)
            chance = partial(_chance_of_difference, log_ratio, variation, level)
        # More workers have a better chance, as long as the level is the same.
        place = bisect.bisect_left(numbers, _POWER, key=chance)
        if place < len(numbers):
            return numbers[place]
    return None


def advise(estimate: Estimate, pair: Pair, *, margin: float, comparisons: int) -> Advice:
    """Return how many workers to add, and which verdict is more probable.

    Without a schedule the workers are looked at once.
    """
    assumed = pair.variation.expected_ratio
    sides = (pair.candidate_side, pair.baseline_side)
    seen = MeanVariance.pooled([side.log_means for side in sides]) or MeanVariance(0.0, 0.0)
    squares = seen.variance * seen.degrees + _PRIOR_DEGREES * assumed**2
    variance = squares / (seen.degrees + _PRIOR_DEGREES)
    # One worker's mean is not known exactly either, and would not be in a repetition.
    within = estimate.within_variance if math.isfinite(estimate.within_variance) else 0.0
    variation = math.sqrt(variance + within / 2)
    low, high = decisions.margin_bounds(margin)
    if low <= estimate.ratio <= high:
        leaning = Verdict.EQUIVALENT
    else:
        leaning = Verdict.SLOWER if estimate.ratio > 1 else Verdict.FASTER
    text = f"probably {leaning}, not proven; "
    hopeless = text + "more workers are not expected to settle it: {obstacle}"
    if pair.is_one_machine:
        # Another run on it is no further worker.
        obstacle = statement("one machine ran all of these tasks")
        return Advice(leaning, None, variation, statement(hopeless, obstacle=obstacle), obstacle)
    needed = partial(_workers_needed, estimate.log_ratio, variation, margin, comparisons, leaning)
    basis = ", estimated from these workers and an" if seen.degrees else ", including an"
    assumption = statement(
        f"workers vary by {{variation}}{basis} assumed {{assumed}}",
        variation=share(variation),
        assumed=share(assumed),
    )
    add = _workers_to_add(pair, needed)
    if add is None:
        obstacle = _obstacle(pair.schedule, pair.counts, needed())
        message = statement(hopeless + " if {assumption}", obstacle=obstacle, assumption=assumption)
        return Advice(leaning, None, variation, message, obstacle)
    workers = "worker" if add == 1 else "workers"
    message = statement(
        text + f"{{add}} more {workers} per pool should settle it if {{assumption}}",
        add=count(add),
        assumption=assumption,
    )
    return Advice(leaning, add, variation, message)


def _workers_to_add(pair: Pair, needed: Callable[..., int | None]) -> int | None:
    schedule = pair.schedule
    if schedule is None:
        total = needed()
    else:
        total = needed(schedule, schedule.stretches(pair.counts, pair.look, 2 * MOST_WORKERS))
    if total is None:
        return None
    add = max(1, total - min(pair.counts))
    return add if add <= MOST_WORKERS else None


def _obstacle(
    schedule: Schedule | None, counts: tuple[int, int], needed_anew: int | None
) -> Statement:
    """Return why more workers would not decide, by the number that a measurement with one look needs."""
    is_declared = schedule is not None and schedule.is_declared and not schedule.is_planned
    if schedule is None or not is_declared or needed_anew is None or needed_anew > MOST_WORKERS:
        return statement("that would take more than {most} per pool", most=count(MOST_WORKERS))
    reason = (
        "no look is declared after {last} workers per pool"
        if schedule.next_look(*counts) is None
        else "the chance at the last declared look, {last} workers per pool, is below 80 %"
    )
    return statement(
        reason + "; a new measurement with {needed} per pool and one look should settle it",
        last=count(schedule.looks[-1]),
        needed=count(needed_anew),
    )
