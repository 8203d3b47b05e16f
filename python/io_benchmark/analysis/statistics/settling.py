# SPDX-License-Identifier: MPL-2.0
"""The chance that more workers settle an inconclusive comparison, and how many are enough.

The chance is over what the truth and the workers' variation may be, by the present workers: a
posterior distribution. The present workers count among the later ones. In tests/simulation the
number is right in 75 to 92 of 100 cases, whatever the truth.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from io_benchmark.analysis.model.looks import Look
from io_benchmark.analysis.statistics.levels import LEVEL
from io_benchmark.analysis.statistics.looks import equivalence_level, p_value_of
from io_benchmark.analysis.statistics.variances import MeanVariance, reach, tail

# The chance that is required of one more worker, and of so many or more. A few may be wrong more
# often, because the next look corrects that. Chosen by tests/simulation/test_settling.py.
LEAST_CHANCE = 0.45
CHANCE = 0.80
_MANY = 11
# What the truth may be before anything is measured: equal pools with this chance, else a ratio
# whose logarithm has this deviation. Chosen.
_EQUAL_CHANCE = 0.2
_RATIO_DEVIATION = 0.15
# No variance is smaller, also of workers that measured exactly the same: a chance divides by it.
_LEAST_VARIANCE = 1e-18
# Quantiles of the normal distribution at the middles of six equal parts.
_NORMALS = (-1.383, -0.674, -0.210, 0.210, 0.674, 1.383)

Stretches = Sequence[tuple[Look, range]]  # numbers of workers that have one look's level


class _Later(NamedTuple):
    """What ln of a later ratio may be."""

    probability: float
    mean: float
    deviation: float


class Question(NamedTuple):
    """What is known of a comparison whose sides have so many workers each."""

    log_ratio: float
    workers: float  # in each of two equal sides
    seen: MeanVariance  # of these workers
    variance: MeanVariance  # the same, with what is assumed
    within_variance: float  # of the difference of two single workers, beside that
    between_pushes: float  # a variance that more workers do not reduce
    margin: float
    comparisons: int
    is_continued: bool = True  # the present workers count among the later ones
    least_chance: float = LEAST_CHANCE  # of one more worker

    @property
    def variation(self) -> float:
        """Return how far the means of single workers are expected to differ."""
        return math.sqrt(self.variance.variance + self.within_variance / 2)

    @property
    def _present(self) -> tuple[MeanVariance, float]:
        """Return what is kept of the present workers: their variation and their number."""
        if self.is_continued:
            return self.seen, self.workers
        return MeanVariance(0.0, 0.0), 0.0

    def workers_needed(self, stretches: Stretches) -> int | None:
        """Return the number per side; None if it is in none of the stretches."""
        _, counted = self._present
        for look, numbers in stretches:
            few: list[int] = []
            many: list[int] = []
            for number in numbers:
                if number - counted >= _MANY:
                    many.append(number)
                elif number > counted:
                    few.append(number)
            for number in few:
                if self.chance(look, number) >= self._required_chance(number - counted):
                    return number
            # More workers have a better chance, as long as the level is the same.
            place = bisect_left(many, CHANCE, key=partial(self.chance, look))
            if place < len(many):
                return many[place]
        return None

    def _required_chance(self, added: float) -> float:
        """Return the chance that is required of a few more workers."""
        part = (added - 1) / (_MANY - 1)
        return self.least_chance + part * (CHANCE - self.least_chance)

    def chance(self, look: Look, workers: int) -> float:
        """Return the chance that so many workers per side reach a verdict.

        It is over what is not known yet.
        """
        # The present workers are part of what will be estimated.
        known, counted = self._present
        degrees = known.degrees + 2 * (workers - counted)
        if not counted:
            degrees -= 2
        # The first of Holm's steps, which is the hardest, so that the number is not too small.
        level_to_differ = 1 - p_value_of(look, (1 - LEVEL) / self.comparisons)
        to_differ = reach(level_to_differ, degrees)
        to_be_equal = reach(equivalence_level(look), degrees)
        margin = math.log1p(self.margin)
        within = self.within_variance / 2
        chances = []
        for normal in _NORMALS:
            between = self._variance_at(normal)
            estimated = known.variance * known.degrees + between * (degrees - known.degrees)
            variance = 2 * (estimated / degrees + within) / workers + self.between_pushes
            error = math.sqrt(max(variance, _LEAST_VARIANCE))
            for later in self._later_ratios(between + within, workers):
                chance = _chance_of_verdict(
                    later.mean / error,
                    later.deviation / error,
                    to_differ,
                    to_be_equal,
                    margin / error,
                )
                chances.append(later.probability * chance)
        return math.fsum(chances) / len(_NORMALS)

    def _variance_at(self, normal: float) -> float:
        """Return what the variance between workers may be, at a quantile of what is known of it.

        The quantile of chi-squared is that of Wilson and Hilferty (1931, PNAS 17:684).
        """
        part = 2 / (9 * self.variance.degrees)
        variance = self.variance.variance / (1 - part + normal * math.sqrt(part)) ** 3
        return max(variance, _LEAST_VARIANCE)

    def _later_ratios(self, variance: float, workers: int) -> list[_Later]:
        """Return what the later ratio may be, by the variance of the means of single workers.

        The pools are equal, or differ by a ratio of which the present one is an estimate.
        """
        log_ratio = self.log_ratio
        _, counted = self._present
        added = workers - counted
        new_push = 0.0 if counted else self.between_pushes
        error = 2 * variance / self.workers + new_push
        # Densities count only as parts of their sum. Far from both means they would all be 0.
        least = log_ratio**2 / (2 * (error + _RATIO_DEVIATION**2))
        cases = []
        for weight, spread in ((_EQUAL_CHANCE, 0.0), (1 - _EQUAL_CHANCE, _RATIO_DEVIATION**2)):
            total = error + spread
            exponent = least - log_ratio**2 / (2 * total)
            density = weight * math.exp(exponent) / math.sqrt(total)
            truth = log_ratio * spread / total
            truth_error = error * spread / total
            mean = (counted * log_ratio + added * truth) / workers
            later = truth_error + 2 * variance / added + new_push
            cases.append(_Later(density, mean, added / workers * math.sqrt(later)))
        densities = math.fsum(case.probability for case in cases)
        return [case._replace(probability=case.probability / densities) for case in cases]


def _chance_of_verdict(
    mean: float, deviation: float, to_differ: float, to_be_equal: float, margin: float
) -> float:
    """Return the chance that a later ratio is outside what chance explains, or inside the margin.

    All are in units of the error that is estimated then: the ratio's logarithm, how far the
    intervals of a difference and of equivalence reach, and the margin.
    """

    def chance_beyond(edge: float) -> float:
        above = tail((edge - mean) / deviation, math.inf)
        below = tail((edge + mean) / deviation, math.inf)
        return above + below

    differs = chance_beyond(max(to_differ, margin - to_differ))
    is_not_equal = chance_beyond(max(0.0, margin - to_be_equal))
    return min(1.0, differs + 1 - is_not_equal)
