# SPDX-License-Identifier: MPL-2.0
"""Which look at the data a comparison is, and how strict it has to be.

Who looks again after adding workers has several chances to be wrong. So the 5 % are divided among the
looks of a schedule:

- assumed: nothing says when somebody looks. Every number of workers counts as a look; a number between
  two scheduled ones has the level of the look before.
- declared, by `--looks` or by each task of both sides, as `submit --until-decided` makes them: the error
  is for these numbers of workers alone, which gets each of them more. A plan declares a single look: all
  tasks of both sides were created at once as so many replicates, each with a result or ended without one.

Outside a declared look the level is so strict that it costs hardly anything.

The data of a look are part of the data of the next. The chance that any of the looks is wrong comes from
the distribution of all of them: a sum of normal values that is observed after each worker, integrated
step by step (Armitage, McPherson and Rowe 1969, JRSS A 132:235; Jennison and Turnbull 2000, chapter 19).
The levels are applied to p-values of Student's t, which keeps the error also with few workers (chapter
4.4 there; tests/simulation shows it).
"""

import itertools
import math
import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from msgspec import Struct

from io_benchmark.analysis.model.run import Worker
from io_benchmark.analysis.model.statements import Statement, count, statement
from io_benchmark.analysis.statistics.levels import EQUIVALENCE_LEVEL, LEVEL
from io_benchmark.analysis.statistics.variances import quantile

# Workers per pool at the looks that are assumed where nothing is declared.
_DEFAULT_LOOKS = (3, 6, 12, 24)
_FEWEST_WORKERS, _MOST_WORKERS = 2, 100
# What the first, the last and each other look may spend, relative to each other. Three workers seldom
# show a difference, and what is not shown by 24 seldom matters. Equivalence needs more workers.
_TO_DIFFER, _TO_BE_EQUIVALENT = (0.5, 1.0, 0.2), (0.1, 1.0, 1.0)
# A number of workers that is not a look gets this part of the error.
_UNSCHEDULED = 0.01
# The chance is integrated at numbers of workers that differ by this factor or by one.
_GROWTH = 1.08
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
# What `_common_factor` computes for the looks that are assumed: to differ, among one to three
# comparisons, and to be equivalent. To compute one takes longer than to read a result.
_ASSUMED_FACTORS = {
    (_TO_DIFFER, 1 - LEVEL): 0.008321612313617364,
    (_TO_DIFFER, (1 - LEVEL) / 2): 0.0037645729297637502,
    (_TO_DIFFER, (1 - LEVEL) / 3): 0.0023843526866451324,
    (_TO_BE_EQUIVALENT, 1 - EQUIVALENCE_LEVEL): 0.012984510835373575,
}
# The last correction makes a chance that is so close a hundred times closer.
_CLOSE = 1e-2
# The density of the sum is known at points between two looks: so many keep five digits of the chance.
_NODES_PER_DEVIATION, _FEWEST_NODES, _NODES_STEP = 2.8, 4, 8


class Look(Struct, frozen=True):
    """One reading of the data."""

    label: Statement | None = None  # which look it is; None: a single one, nothing is adjusted
    workers: int = 0
    schedule: "Schedule | None" = None  # None: it is in no schedule, or a single one

    def p_value(self, alpha: float, relative: tuple[float, float, float] = _TO_DIFFER) -> float:
        """Return the largest p-value that decides, if all looks together keep `alpha`."""
        if self.schedule is not None:
            return self.schedule.p_value(self.workers, alpha, relative)
        return alpha if self.label is None else _UNSCHEDULED * alpha

    @property
    def equivalence_level(self) -> float:
        return 1 - self.p_value(1 - EQUIVALENCE_LEVEL, _TO_BE_EQUIVALENT)


SINGLE = Look()


class Schedule(Struct, frozen=True):
    """When the data are looked at, in workers per pool."""

    looks: tuple[int, ...] = _DEFAULT_LOOKS
    is_declared: bool = False
    is_planned: bool = False  # by the tasks themselves: a single look

    @classmethod
    def parse(cls, declaration: str) -> "Schedule | None":
        """Parse a declaration, a rising list of numbers of workers; None for anything else."""
        numbers = declaration.split(",")
        looks = tuple(int(number) for number in numbers if re.fullmatch("[0-9]{1,3}", number))
        is_rising = len(looks) == len(numbers) and looks == tuple(sorted(set(looks)))
        if not is_rising or looks[0] < _FEWEST_WORKERS or looks[-1] > _MOST_WORKERS:
            return None
        return cls(looks, is_declared=True)

    @staticmethod
    def per_equal_pool(first: int, second: int) -> float:
        """Return how many workers in each of two equal pools would tell as much."""
        return 2 * first * second / (first + second)

    def look(self, workers: float) -> Look:
        number = int(workers)
        if number < _FEWEST_WORKERS or (self.is_declared and self.looks == (number,)):
            return SINGLE
        if self.is_declared and number not in self.looks:
            label = statement(
                "{workers} workers per pool are not among the looks {looks}",
                workers=count(number),
                looks=",".join(map(str, self.looks)),
            )
            return Look(label)
        position = self._position(number)
        label = statement(
            "{ordinal} of at most {looks} looks",
            ordinal=_ORDINALS[position] if position < len(_ORDINALS) else f"{position + 1}th",
            looks=count(len(self.looks)),
        )
        return Look(label, number, self)

    def next_look(self, first: int, second: int) -> int | None:
        number = int(self.per_equal_pool(first, second))
        return next((look for look in self.looks if look > number), None)

    def of_sides(self, sides: Sequence[Sequence[Worker]]) -> "Schedule":
        """Return the schedule that holds for two sides, by all results of each.

        One that is declared is believed; then the one that all tasks name. Without these, a plan is
        a single look, because it was made before there were results: each task names the number of
        replicates that were created with it.
        """
        if self.is_declared:
            return self
        plans = {worker.plan[1] for worker in itertools.chain(*sides)}
        recorded = Schedule.parse(*plans) if len(plans) == 1 else None
        if recorded is not None and len(recorded.looks) > 1:
            return recorded
        numbers = [_replicates_planned(side) for side in sides]
        if None in numbers:
            return self
        return Schedule((max(filter(None, numbers)),), is_declared=True, is_planned=True)

    def look_of_sides(
        self, counts: Sequence[int], sides: Sequence[Sequence[Worker]], lost: Sequence[int] = (0, 0)
    ) -> Look:
        """Return the look of two sides, by their independent workers and by all results of each.

        `lost` is the number of each side's tasks that ended and left no result.
        """
        if min(counts) < _FEWEST_WORKERS:
            return SINGLE
        if not self.is_planned:
            return self.look(self.per_equal_pool(*counts))
        # Some runs of a plan are refused, or share a machine. One that is still to come is another
        # look, and so is one that was added later, also in place of one that was lost.
        for side, without_result in zip(sides, lost, strict=True):
            planned = _replicates_planned(side) or 0
            if len(side) + without_result != planned:
                ended = " and {lost} without a result" if without_result else ""
                label = statement(
                    f"{{side}} has {{runs}} runs{ended}, and its one look was planned at {{planned}}",
                    side=side[0].side,
                    runs=count(len(side)),
                    lost=count(without_result),
                    planned=count(planned),
                )
                return Look(label)
        return SINGLE

    def stretches(self, counts: Sequence[int], look: Look, most: int) -> list[tuple[Look, range]]:
        """Return numbers of workers with one level each, in rising order up to `most`, with their look.

        They are those that two sides may reach after a look. Nothing follows the last declared one. After
        that of a plan any number may follow, because the tasks do not say that nobody looks again.
        """
        if self.is_declared:
            now = int(self.per_equal_pool(*counts))
            # A single worker, of those that are still to come, is no look.
            if self.is_planned and look == SINGLE and min(counts) >= _FEWEST_WORKERS:
                now = max(now, self.looks[-1])
            stretches = [range(number, number + 1) for number in self.looks if number > now]
            if self.is_planned:
                stretches.append(range(max(now, self.looks[-1]) + 1, most + 1))
        else:
            starts = [_FEWEST_WORKERS, *self.looks[1:], most + 1]
            stretches = [range(*ends) for ends in itertools.pairwise(starts)]
        return [(self.look(stretch[0]), stretch) for stretch in stretches if stretch]

    def p_value(self, workers: int, alpha: float, relative: tuple[float, float, float]) -> float:
        """Return the largest p-value that decides at a scheduled number of workers."""
        least = _UNSCHEDULED * alpha if self.is_declared else 0.0
        factor = _ASSUMED_FACTORS.get((relative, alpha)) if self == Schedule() else None
        if factor is None:
            numbers = tuple(sorted({*_numbers_of_workers(), *self.looks}))
            shares = tuple(self._share(number, relative) for number in numbers)
            factor = _common_factor(numbers, shares, alpha, least)
        return max(self._share(workers, relative) * factor, least)

    def _share(self, workers: int, relative: tuple[float, float, float]) -> float:
        """Return what the look at this number of workers may spend, relative to the others."""
        if self.is_declared and workers not in self.looks:
            return 0.0
        first, middle, last = relative
        position = self._position(workers)
        if position == 0:
            return first
        # Nothing comes after the last one that is declared.
        return middle if self.is_declared or position < len(self.looks) - 1 else last

    def _position(self, workers: int) -> int:
        return max(0, bisect_right(self.looks, workers) - 1)


def _numbers_of_workers() -> list[int]:
    numbers = [_FEWEST_WORKERS]
    while numbers[-1] < _MOST_WORKERS:
        numbers.append(max(numbers[-1] + 1, int(numbers[-1] * _GROWTH)))
    return numbers


def _replicates_planned(workers: Sequence[Worker]) -> int | None:
    """Return how many runs were planned at once; None where one run has no or a different plan."""
    plans = {worker.plan for worker in workers}
    numbers = dict(plans).values()
    if len(numbers) < len(plans) or not all(re.fullmatch("[0-9]{1,3}", plan) for plan in numbers):
        return None
    return sum(map(int, numbers)) if numbers and min(map(int, numbers)) > 1 else None


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
    factor, chance, power = alpha, chance_of(alpha), 1.0
    while abs(chance / alpha - 1) > _CLOSE:
        change = math.log(alpha / chance) / power
        factor *= math.exp(change)
        chance_before, chance = chance, chance_of(factor)
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

    points, density = np.zeros(1), np.ones(1)  # before the first look the sum is 0
    steps = [after - before for before, after in itertools.pairwise((0, *counts))]
    looks = zip(counts, p_values, steps, [*steps[1:], math.inf], strict=True)
    for workers, p_value, step, next_step in looks:
        edge = quantile(p_value / 2, math.inf) * math.sqrt(workers)
        deviations = edge / math.sqrt(min(step, next_step))
        needed = _NODES_PER_DEVIATION * deviations + _FEWEST_NODES
        nodes, weights = _nodes(_NODES_STEP * math.ceil(needed / _NODES_STEP))
        distances = nodes[:, None] * edge - points
        # The density of the sum and a normal value with the variance `step`.
        spread = np.exp(-(distances**2) / (2 * step)) / math.sqrt(2 * math.pi * step)
        points, density = nodes * edge, spread @ density * weights * edge
    return max(0.0, 1 - math.fsum(density))
