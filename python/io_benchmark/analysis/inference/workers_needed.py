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
from io_benchmark.analysis.inference.estimates import Estimate, SideData
from io_benchmark.analysis.inference.levels import LEVEL
from io_benchmark.analysis.inference.looks import SINGLE, Schedule
from io_benchmark.analysis.inference.pairs import Pair
from io_benchmark.analysis.inference.variances import reach, sample_variance, tail
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


def _pooled_variation(sides: Sequence[SideData], assumed: float) -> tuple[float, float]:
    """Pool the variation between these workers with the assumed one.

    Return it with the degrees of freedom that are from these workers.
    """
    squares, degrees = 0.0, 0.0
    for side in sides:
        if side.count > 1:
            squares += sample_variance(side.log_means) * (side.count - 1)
            degrees += side.count - 1
    total = squares + _PRIOR_DEGREES * assumed**2
    return math.sqrt(total / (degrees + _PRIOR_DEGREES)), degrees


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
    """Return the chance that the interval excludes 1, in the direction of the estimate."""
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
            level = 1 - look.to_differ.p_value(first_step)
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
    sides = (pair.candidate_side, pair.baseline_side)
    assumed = pair.variation.expected_ratio
    variation, degrees = _pooled_variation(sides, assumed)
    # One worker's mean is not known exactly either, and would not be in a repetition.
    per_worker = math.sqrt(variation**2 + _finite(estimate.within_variance) / 2)
    low, high = decisions.margin_bounds(margin)
    if low <= estimate.ratio <= high:
        leaning = Verdict.EQUIVALENT
    else:
        leaning = Verdict.SLOWER if estimate.ratio > 1 else Verdict.FASTER
    if pair.is_one_machine:
        # Another run on it is no further worker.
        reason = statement("one machine ran all of these tasks")
        return Advice(leaning, None, per_worker, _message(leaning, reason), reason)
    needed = partial(_workers_needed, estimate.log_ratio, per_worker, margin, comparisons, leaning)
    add = _workers_to_add(pair, needed)
    basis = (
        "workers vary by {variation}, including an assumed {assumed}"
        if degrees == 0
        else "workers vary by {variation}, estimated from these workers and an assumed {assumed}"
    )
    assumption = statement(basis, variation=share(per_worker), assumed=share(assumed))
    if add is None:
        obstacle = _obstacle(pair, needed())
        return Advice(leaning, None, per_worker, _message(leaning, obstacle, assumption), obstacle)
    workers = "worker" if add == 1 else "workers"
    message = statement(
        f"probably {leaning}, not proven; {{add}} more {workers} per pool should settle it if "
        "{assumption}",
        add=count(add),
        assumption=assumption,
    )
    return Advice(leaning, add, per_worker, message)


def _workers_to_add(pair: Pair, needed: Callable[..., int | None]) -> int | None:
    """Return how many workers each side still needs; None where they would not decide."""
    if pair.schedule is None:
        wanted = needed()
    else:
        stretches = pair.schedule.stretches(pair.counts, pair.look, 2 * MOST_WORKERS)
        wanted = needed(pair.schedule, stretches)
    if wanted is None:
        return None
    add = max(1, wanted - min(pair.counts))
    return add if add <= MOST_WORKERS else None


def _obstacle(pair: Pair, needed_anew: int | None) -> Statement:
    """Return why more workers would not decide, by the number that a measurement with one look needs."""
    schedule = pair.schedule
    is_declared = schedule is not None and schedule.is_declared and not schedule.is_planned
    if schedule is None or not is_declared or needed_anew is None or needed_anew > MOST_WORKERS:
        return statement("that would take more than {most} per pool", most=count(MOST_WORKERS))
    template = (
        "no look is declared after {last} workers per pool"
        if schedule.next_look(*pair.counts) is None
        else "the chance at the last declared look, {last} workers per pool, is below 80 %"
    )
    return statement(
        template + "; a new measurement with {needed} per pool and one look should settle it",
        last=count(schedule.looks[-1]),
        needed=count(needed_anew),
    )


def _message(
    leaning: Verdict, obstacle: Statement, assumption: Statement | None = None
) -> Statement:
    text = (
        f"probably {leaning}, not proven; more workers are not expected to settle it: {{obstacle}}"
    )
    if assumption is None:
        return statement(text, obstacle=obstacle)
    return statement(f"{text} if {{assumption}}", obstacle=obstacle, assumption=assumption)


def _finite(value: float) -> float:
    return value if math.isfinite(value) else 0.0
