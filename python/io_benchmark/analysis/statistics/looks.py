# SPDX-License-Identifier: MPL-2.0
"""How strict a look at the data has to be.

Outside a declared look the level is so strict that it costs hardly anything.

The data of a look are part of the data of the next. The chance that any of the looks is wrong comes
from the distribution of all of them: a sum of normal values that is observed after each worker,
integrated step by step (Armitage, McPherson and Rowe 1969, JRSS A 132:235; Jennison and Turnbull
2000, chapter 19). The levels are applied to p-values of Student's t, which keeps the error also
with few workers (chapter 4.4 there; tests/simulation shows it).
"""

import itertools
import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from io_benchmark.analysis.model.looks import FEWEST_WORKERS, MOST_WORKERS, Look, Schedule
from io_benchmark.analysis.statistics.levels import EQUIVALENCE_LEVEL, LEVEL
from io_benchmark.analysis.statistics.variances import quantile


class Spending(NamedTuple):
    """What the looks of a schedule may spend of the error, relative to each other."""

    first: float
    later: float
    last: float


# Three workers seldom show a difference, and what is not shown by 24 seldom matters. Chosen.
TO_DIFFER = Spending(first=0.5, later=1.0, last=0.2)
# Equivalence needs more workers. Chosen.
TO_BE_EQUIVALENT = Spending(first=0.1, later=1.0, last=1.0)
# A number of workers that is not a look gets this part of the error. Chosen: it costs hardly
# anything.
_UNSCHEDULED = 0.01
# The chance is integrated at numbers of workers that differ by this factor or by one.
_GROWTH = 1.08
# What `_common_factor` computes for the looks that are assumed: to differ, among one to three
# comparisons, and to be equivalent. To compute one takes longer than to read a result.
_ASSUMED_FACTORS = {
    (TO_DIFFER, 1 - LEVEL): 0.008321612313617364,
    (TO_DIFFER, (1 - LEVEL) / 2): 0.0037645729297637502,
    (TO_DIFFER, (1 - LEVEL) / 3): 0.0023843526866451324,
    (TO_BE_EQUIVALENT, 1 - EQUIVALENCE_LEVEL): 0.012984510835373575,
}
# The last correction makes a chance that is so close a hundred times closer.
_CLOSE = 1e-2
# The density of the sum is known at points between two looks: so many per standard deviation, and
# so many more, keep five digits of the chance. Rules of so many points are kept.
_NODES_PER_DEVIATION = 2.8
_FEWEST_NODES = 4
_NODES_STEP = 8


def p_value_of(look: Look, alpha: float, spending: Spending = TO_DIFFER) -> float:
    """Return the largest p-value that decides, if all looks together keep `alpha`."""
    if look.schedule is not None:
        return _scheduled_p_value(look.schedule, look.workers, alpha, spending)
    is_single = look.label is None
    return alpha if is_single else _UNSCHEDULED * alpha


def equivalence_level(look: Look) -> float:
    """Return the level of the interval that shows equivalence."""
    return 1 - p_value_of(look, 1 - EQUIVALENCE_LEVEL, TO_BE_EQUIVALENT)


def _scheduled_p_value(schedule: Schedule, workers: int, alpha: float, spending: Spending) -> float:
    """Return the largest p-value that decides at a scheduled number of workers."""
    least = _UNSCHEDULED * alpha if schedule.is_declared else 0.0
    factor = None
    if schedule == Schedule():
        factor = _ASSUMED_FACTORS.get((spending, alpha))
    if factor is None:
        numbers = tuple(sorted({*_numbers_of_workers(), *schedule.looks}))
        shares = tuple(_share(schedule, number, spending) for number in numbers)
        factor = _common_factor(numbers, shares, alpha, least)
    return max(_share(schedule, workers, spending) * factor, least)


def _share(schedule: Schedule, workers: int, spending: Spending) -> float:
    """Return what the look at this number of workers may spend, relative to the others."""
    if schedule.is_declared and workers not in schedule.looks:
        return 0.0
    position = schedule.position(workers)
    if position == 0:
        return spending.first
    # Nothing comes after the last one that is declared, so that it keeps what is left.
    is_last = not schedule.is_declared and position == len(schedule.looks) - 1
    return spending.last if is_last else spending.later


def _numbers_of_workers() -> list[int]:
    """Return the numbers of workers at which somebody may look, as far as the chance needs them."""
    numbers = [FEWEST_WORKERS]
    while numbers[-1] < MOST_WORKERS:
        numbers.append(max(numbers[-1] + 1, int(numbers[-1] * _GROWTH)))
    return numbers


@lru_cache(maxsize=64)
def _common_factor(
    counts: tuple[int, ...], shares: tuple[float, ...], alpha: float, least: float
) -> float:
    """Return the factor with which the looks' shares are p-values that keep `alpha` together.

    No look has a p-value below `least`, whatever its share is.
    """

    def chance_of(factor: float) -> float:
        return _chance_of_crossing(counts, [max(share * factor, least) for share in shares])

    # The chance of all looks grows nearly with a power of the factor.
    factor = alpha
    chance = chance_of(factor)
    power = 1.0
    while abs(chance / alpha - 1) > _CLOSE:
        change = math.log(alpha / chance) / power
        factor *= math.exp(change)
        chance_before = chance
        chance = chance_of(factor)
        power = math.log(chance / chance_before) / change
    return factor * math.exp(math.log(alpha / chance) / power)


@lru_cache
def _nodes(count: int) -> Any:
    """Return the nodes of Gauss and Legendre between -1 and 1, and their weights."""
    from numpy.polynomial.legendre import leggauss

    return leggauss(count)


def _chance_of_crossing(counts: Sequence[int], p_values: Sequence[float]) -> float:
    """Return the chance that any look has a smaller two-sided p-value where nothing differs.

    `counts` are the workers at each look, in rising order.
    """
    # Most comparisons do not need it.
    import numpy as np

    # Before the first look the sum is 0.
    points = np.zeros(1)
    density = np.ones(1)
    steps = [after - before for before, after in itertools.pairwise((0, *counts))]
    next_steps = [*steps[1:], math.inf]
    looks = zip(counts, p_values, steps, next_steps, strict=True)
    for workers, p_value, step, next_step in looks:
        edge = quantile(p_value / 2, math.inf) * math.sqrt(workers)
        deviations = edge / math.sqrt(min(step, next_step))
        needed = _NODES_PER_DEVIATION * deviations + _FEWEST_NODES
        nodes, weights = _nodes(_NODES_STEP * math.ceil(needed / _NODES_STEP))
        distances = nodes[:, None] * edge - points
        # The density of the sum and a normal value with the variance `step`.
        spread = np.exp(-(distances**2) / (2 * step)) / math.sqrt(2 * math.pi * step)
        density = spread @ density * weights * edge
        points = nodes * edge
    return max(0.0, 1 - math.fsum(density))
