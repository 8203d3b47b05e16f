# SPDX-License-Identifier: MPL-2.0
"""How many workers an inconclusive comparison needs, and which verdict is more probable.

That is the smallest number with which a verdict is probable, whichever it is. The chance is over what the
truth and the workers' variation may be, by the present workers: a posterior distribution. The present
workers count among the later ones. In tests/simulation the advice is right in 75 to 92 of 100 cases,
whatever the truth.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from msgspec.structs import replace

from io_benchmark.analysis.model.comparison import Advice, PushVariation, Verdict, WorkerVariation
from io_benchmark.analysis.model.looks import SINGLE, Look, Schedule
from io_benchmark.analysis.model.statements import Statement, count, share, statement
from io_benchmark.analysis.statistics.levels import LEVEL, margin_bounds
from io_benchmark.analysis.statistics.looks import equivalence_level, p_value_of
from io_benchmark.analysis.statistics.ratios import Estimate
from io_benchmark.analysis.statistics.variances import LogMeans, MeanVariance, reach, tail
from io_benchmark.number_text import plural

# The chance that is required of one more worker, and of eleven or more. A few may be wrong more often,
# because the next look corrects that.
_LEAST_CHANCE, _CHANCE, _MANY = 0.45, 0.80, 11
_MOST_WORKERS = 100
_Stretches = Sequence[tuple[Look, range]]  # of numbers of workers
_ONE_LOOK = ((SINGLE, range(2, 2 * _MOST_WORKERS + 1)),)
# From so many more workers on, a margin is offered with which so few more settle it.
_TOO_MANY, _FEW = 20, 6
_MARGINS = (0.06, 0.08, 0.1, 0.12, 0.15, 0.2, 0.25, 0.3)
# The assumed variation counts as much as that of five workers.
_ASSUMED_DEGREES = 4.0
# What the truth may be before anything is measured: equal pools, or a ratio with this deviation.
_EQUAL, _DEVIATION = 0.2, 0.15
# Also of workers that measured exactly the same.
_LEAST_VARIANCE = 1e-18
# Quantiles of the normal distribution at the middles of six equal parts.
_NORMALS = (-1.383, -0.674, -0.210, 0.210, 0.674, 1.383)


class _Question(NamedTuple):
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
    least_chance: float = _LEAST_CHANCE  # of one more worker

    @property
    def variation(self) -> float:
        """Return how far the means of single workers are expected to differ."""
        return math.sqrt(self.variance.variance + self.within_variance / 2)

    @property
    def _present(self) -> tuple[MeanVariance, float]:
        """Return what is kept of the present workers: their variation and their number."""
        return (self.seen, self.workers) if self.is_continued else (MeanVariance(0.0, 0.0), 0.0)

    def workers_needed(self, stretches: _Stretches) -> int | None:
        """Return the number per side; None if it is in none of the stretches, which have one level each."""
        _, counted = self._present
        for look, numbers in stretches:
            left = [number for number in numbers if number > counted]
            for number in left:
                added = min(number - counted, _MANY)
                required = self._required_chance(added)
                if added < _MANY and self.chance(look, number) >= required:
                    return number
            # More workers have a better chance, as long as the level is the same.
            many = [number for number in left if number - counted >= _MANY]
            place = bisect_left(many, _CHANCE, key=partial(self.chance, look))
            if place < len(many):
                return many[place]
        return None

    def _required_chance(self, added: float) -> float:
        part = (added - 1) / (_MANY - 1)
        return self.least_chance + part * (_CHANCE - self.least_chance)

    def chance(self, look: Look, workers: int) -> float:
        """Return the chance that so many workers per side reach a verdict, over what is not known yet."""
        # The present workers are part of what will be estimated.
        known, counted = self._present
        degrees = known.degrees + 2 * (workers - counted) - (0 if counted else 2)
        # The first of Holm's steps, which is the hardest, so that the number is not too small.
        levels = (1 - p_value_of(look, (1 - LEVEL) / self.comparisons), equivalence_level(look))
        reaches = [reach(level, degrees) for level in levels]
        margin, chances = math.log1p(self.margin), []
        for normal in _NORMALS:
            part = 2 / (9 * self.variance.degrees)
            between = self.variance.variance / (1 - part + normal * math.sqrt(part)) ** 3
            between = max(between, _LEAST_VARIANCE)
            estimated = known.variance * known.degrees + between * (degrees - known.degrees)
            within = self.within_variance / 2
            variance = 2 * (estimated / degrees + within) / workers + self.between_pushes
            error = math.sqrt(max(variance, _LEAST_VARIANCE))
            chances += [
                weight
                * _chance_of_verdict(mean / error, deviation / error, reaches, margin / error)
                for weight, mean, deviation in self._later_means(between + within, workers)
            ]
        return math.fsum(chances) / len(_NORMALS)

    def _later_means(self, variance: float, workers: int) -> list[tuple[float, float, float]]:
        """Return what ln of the later ratio may be: a probability, its mean and its deviation, for each case.

        The pools are equal, or differ by a ratio of which the present one is an estimate.
        """
        log_ratio, (_, counted) = self.log_ratio, self._present
        added, new_push = workers - counted, 0.0 if counted else self.between_pushes
        error = 2 * variance / self.workers + new_push
        cases = []
        # Densities count only as shares of their sum. Far from both means they would all be 0.
        least = log_ratio**2 / (2 * (error + _DEVIATION**2))
        for weight, spread in ((_EQUAL, 0.0), (1 - _EQUAL, _DEVIATION**2)):
            total = error + spread
            exponent = least - log_ratio**2 / (2 * total)
            density = weight * math.exp(exponent) / math.sqrt(total)
            truth, truth_error = log_ratio * spread / total, error * spread / total
            mean = (counted * log_ratio + added * truth) / workers
            later = truth_error + 2 * variance / added + new_push
            cases.append((density, mean, added / workers * math.sqrt(later)))
        densities = math.fsum(density for density, *_ in cases)
        return [(density / densities, mean, deviation) for density, mean, deviation in cases]


def advise(
    estimate: Estimate,
    log_means: tuple[LogMeans, LogMeans],
    assumed: WorkerVariation,
    *,
    margin: float,
    comparisons: int,
    look: Look = SINGLE,
    schedule: Schedule | None = None,
    pushes: PushVariation | None = None,
    is_one_machine: bool = False,
    is_one_step: bool = False,
) -> Advice:
    """Return how many workers to add, and which verdict is more probable.

    `log_means` are those of the candidate's and the baseline's workers. Without a schedule the workers
    are looked at once. With `is_one_step` a few workers have the chance of many, for those who cannot
    add a few more at the next look.
    """
    counts = len(log_means[0]), len(log_means[1])
    question, sources = _question(estimate, log_means, assumed, pushes, margin, comparisons)
    if is_one_step:
        question = question._replace(least_chance=_CHANCE)
    variation = question.variation
    leaning = _leaning(estimate.ratio, margin)
    lead = f"probably {leaning}, not proven; "
    hopeless = lead + "more workers are not expected to settle it: {obstacle}"
    if is_one_machine:
        # Another run on it is no further worker.
        obstacle = statement("one machine ran all of these tasks")
        return Advice(leaning, None, variation, statement(hopeless, obstacle=obstacle), obstacle)
    assumption = statement(
        "workers vary by {variation}, " + sources,
        variation=share(variation),
        assumed=share(assumed.expected_ratio),
    )
    stretches: _Stretches = _ONE_LOOK
    if schedule is not None:
        stretches = schedule.stretches(counts, look, 2 * _MOST_WORKERS)
    total = question.workers_needed(stretches)
    add = _MOST_WORKERS + 1 if total is None else max(1, total - min(counts))
    if add > _MOST_WORKERS:
        anew = question._replace(is_continued=False)
        needed_anew = anew.workers_needed(_ONE_LOOK)
        obstacle = _obstacle(schedule, stretches, needed_anew)
        # Pushes are the obstacle only where workers of one push would decide.
        in_one_push = anew._replace(between_pushes=0.0)
        if pushes and not needed_anew and in_one_push.workers_needed(_ONE_LOOK):
            obstacle = pushes.obstacle
        message = statement(hopeless + " if {assumption}", obstacle=obstacle, assumption=assumption)
        advice = Advice(leaning, None, variation, message, obstacle)
    else:
        message = statement(
            lead
            + f"{{add}} more {plural(add, 'worker')} per pool should settle it if {{assumption}}",
            add=count(add),
            assumption=assumption,
        )
        advice = Advice(leaning, add, variation, message)
    return _with_margin(advice, question, stretches) if add > _TOO_MANY else advice


def _leaning(ratio: float, margin: float) -> Verdict:
    low, high = margin_bounds(margin)
    if low <= ratio <= high:
        return Verdict.EQUIVALENT
    return Verdict.SLOWER if ratio > 1 else Verdict.FASTER


def _question(
    estimate: Estimate,
    log_means: tuple[LogMeans, LogMeans],
    assumed: WorkerVariation,
    pushes: PushVariation | None,
    margin: float,
    comparisons: int,
) -> tuple[_Question, str]:
    """Return what is known of a comparison, and the words for where the variation comes from."""
    sources = "including an assumed {assumed}"
    variance = MeanVariance(assumed.expected_ratio**2, _ASSUMED_DEGREES)
    seen = MeanVariance.pooled(log_means)
    if seen is not None:
        sources = "estimated from these workers and an assumed {assumed}"
        variance = MeanVariance.combined([seen, variance])
    between_pushes = pushes.unshared * pushes.ratio**2 if pushes is not None else 0.0
    # One worker's mean is not known exactly either, and would not be in a repetition.
    within = estimate.within_variance - between_pushes
    question = _Question(
        estimate.log_ratio,
        Schedule.per_equal_pool(len(log_means[0]), len(log_means[1])),
        seen or MeanVariance(0.0, 0.0),
        variance,
        max(0.0, within) if math.isfinite(within) else 0.0,
        between_pushes,
        margin,
        comparisons,
    )
    return question, sources


def _with_margin(advice: Advice, question: _Question, stretches: _Stretches) -> Advice:
    """Offer the smallest wider margin with which a few more workers settle it."""
    soon = [
        (look, number)
        for look, numbers in stretches
        for number in numbers
        if 0 < number - question.workers <= _FEW
    ]
    for margin in _MARGINS if soon else ():
        look, number = soon[-1]
        wider = question._replace(margin=margin)
        if margin > question.margin and wider.chance(look, number) >= _CHANCE:
            add = math.ceil(number - question.workers)
            message = statement(
                "{advice}; or accept ±{margin}: {add} more",
                advice=advice.message,
                margin=share(margin),
                add=count(add),
            )
            return replace(
                advice, message=message, wider_margin_ratio=margin, workers_at_wider_margin=add
            )
    return advice


def _chance_of_verdict(
    mean: float, deviation: float, reaches: Sequence[float], margin: float
) -> float:
    """Return the chance that a later ratio is outside what chance explains, or inside the margin.

    All are in units of the error that is estimated then.
    """
    to_differ, to_be_equal = reaches
    outside, inside = max(to_differ, margin - to_differ), max(0.0, margin - to_be_equal)
    differs, is_not_equal = (
        sum(tail((edge - sign * mean) / deviation, math.inf) for sign in (1, -1))
        for edge in (outside, inside)
    )
    return min(1.0, differs + 1 - is_not_equal)


def _obstacle(
    schedule: Schedule | None, stretches: Sequence[object], needed_anew: int | None
) -> Statement:
    """Return why more workers would not decide, by the number that a measurement with one look needs."""
    has_looks = schedule is not None and schedule.is_declared and not schedule.is_planned
    if schedule is None or not has_looks or needed_anew is None or needed_anew > _MOST_WORKERS:
        return statement("that would take more than {most} per pool", most=count(_MOST_WORKERS))
    reason = (
        "the chance at the last declared look, {last} workers per pool, is too small"
        if stretches
        else "no look is declared after {last} workers per pool"
    )
    return statement(
        reason + "; a new measurement with {needed} per pool and one look should settle it",
        last=count(schedule.looks[-1]),
        needed=count(needed_anew),
    )
