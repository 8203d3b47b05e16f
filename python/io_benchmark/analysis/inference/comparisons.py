# SPDX-License-Identifier: MPL-2.0
"""From pairs of sides to comparisons: several candidates and looks share the error of their tests.

Once a look has decided, its verdict stands: a test that went on would have further chances to be wrong,
and more workers of the baseline, for the sake of other candidates, must not withdraw it.

An inconclusive comparison is advised how many workers to add: the smallest number with which 80 of 100
repetitions would reach the more probable verdict, if the estimate is true and workers vary as assumed.
"""

import functools
import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.inference.estimates import WORKERS_AND_PAST, Estimate
from io_benchmark.analysis.inference.looks import SINGLE, Look, Schedule
from io_benchmark.analysis.inference.pairs import Pair
from io_benchmark.analysis.inference.priors import shown_by_past
from io_benchmark.analysis.levels import LEVEL
from io_benchmark.analysis.model import (
    DIFFERENT,
    Advice,
    Comparison,
    Interval,
    Subject,
    Verdict,
    WorkerVariation,
)
from io_benchmark.analysis.statements import Statement, count, share, statement
from io_benchmark.analysis.variances import MeanVariance, reach, tail

# 80 of 100 are promised. The formulas are those of equal variances; Welch's test, which gives the
# verdict, reaches up to three of 100 fewer (measured in tests/simulation).
_POWER = 0.83
_MOST_WORKERS = 100
_ONE_LOOK = ((SINGLE, range(2, 2 * _MOST_WORKERS + 1)),)
# The assumed variation counts as much as that of five workers.
_PRIOR_DEGREES = 4.0
# Errors whose density is e⁻³⁰ of the highest are left out. So many steps give three digits or more.
_NEGLIGIBLE = 30.0
_STEPS = 200


class Judgement(Struct, frozen=True):
    """A ratio with its verdict, where several ratios are tested together."""

    estimate: Estimate
    look: Look
    p_value: float  # adjusted
    level: float  # of the interval that decides as the p-value does
    margin: float

    @property
    def interval(self) -> Interval:
        return self.estimate.interval(self.level)

    @property
    def interval_90(self) -> Interval:
        """Return the interval that shows equivalence."""
        return self.estimate.interval(self.look.equivalence_level)

    @property
    def verdict(self) -> Verdict:
        """Return the verdict; a single worker differs only by more than workers of one pool may."""
        by_intervals = _verdict(self.interval, self.interval_90, self.margin)
        if by_intervals in DIFFERENT and self.estimate.may_be_one_worker(self.level):
            return Verdict.INCONCLUSIVE
        return by_intervals


def judge(estimates: Sequence[Estimate], looks: Sequence[Look], margin: float) -> list[Judgement]:
    tests = _holm([estimate.p_value for estimate in estimates], looks)
    return [
        Judgement(estimate, look, *test, margin)
        for estimate, look, test in zip(estimates, looks, tests, strict=True)
    ]


def _holm(p_values: Sequence[float], looks: Sequence[Look]) -> list[tuple[float, float]]:
    """Return each candidate's adjusted p-value, and the level of the interval that decides as it does.

    Holm's steps: the smallest p-value is compared with alpha / m, the next with alpha / (m - 1),
    until one fails; that one and all above it are not rejected, so their intervals are those of
    the step that failed. A look spends a part of the error, by which its p-value is divided first.
    """
    alpha = 1 - LEVEL
    first = alpha / max(1, len(p_values))
    # The part is smallest at the smallest level, and is not too large at the others.
    parts = [look.p_value(first) / first for look in looks]
    p_values = [min(1.0, p / part) for p, part in zip(p_values, parts, strict=True)]
    order = sorted(range(len(p_values)), key=lambda index: (p_values[index], index))
    tests = [(1.0, LEVEL)] * len(p_values)
    running, failed_step = 0.0, 0.0
    for rank, index in enumerate(order):
        left = len(order) - rank
        running = max(running, min(1.0, left * p_values[index]))
        step = failed_step or alpha / left
        if p_values[index] > step:
            failed_step = step
        tests[index] = running, 1 - step * parts[index]
    return tests


def margin_bounds(margin: float) -> tuple[float, float]:
    """Return symmetric bounds: 1/1.05 to 1.05 for a margin of 5 %."""
    return 1 / (1 + margin), 1 + margin


def _verdict(adjusted: Interval, interval_90: Interval, margin: float) -> Verdict:
    low, high = margin_bounds(margin)
    if interval_90.within(low, high):
        return Verdict.EQUIVALENT
    if adjusted.excludes(1.0) and not adjusted.within(low, high):
        return Verdict.SLOWER if adjusted.low_ratio > 1.0 else Verdict.FASTER
    return Verdict.INCONCLUSIVE


def compare_sides(
    subject: Subject, pairs: Sequence[Pair], *, margin: float
) -> tuple[Comparison, ...]:
    """Compare each candidate with its baseline; the tests are adjusted for all pairs together.

    An inconclusive comparison of a pair with a schedule is advised how many workers it needs.
    """
    decided = _decided_before(pairs, margin)
    looks = [decided.get(number, pair) for number, pair in enumerate(pairs)]
    judgements = _judge_pairs(looks, margin)
    later_judgements = _judge_pairs(pairs, margin) if decided else judgements
    comparisons = []
    for pair, look, judgement, later in zip(
        pairs, looks, judgements, later_judgements, strict=True
    ):
        comparison = _comparison(subject, look, judgement)
        if look is not pair:
            by_all = _comparison(subject, pair, later)
            agrees = pair.look.is_scheduled and later.verdict is judgement.verdict
            earlier = replace(comparison, of_all=by_all, workers=look.counts)
            comparison = by_all if agrees else earlier
        elif pair.schedule is not None and comparison.verdict is Verdict.INCONCLUSIVE:
            advice = advise(judgement.estimate, pair, margin=margin, comparisons=len(pairs))
            comparison = replace(comparison, advice=advice)
        comparisons.append(comparison)
    return tuple(comparisons)


def _judge_pairs(pairs: Sequence[Pair], margin: float) -> list[Judgement]:
    return judge([pair.estimate for pair in pairs], [pair.look for pair in pairs], margin)


def _decided_before(pairs: Sequence[Pair], margin: float) -> dict[int, Pair]:
    """Return the pairs for which an earlier look reached a verdict, as they were at that look.

    The key is the position in `pairs`. The looks are repeated in their order. A decided pair keeps its
    p-value, so that Holm's steps leave the same part of the error to the other pairs as at that look.
    """
    decided: dict[int, Pair] = {}
    for workers in sorted({workers for pair in pairs for workers in pair.earlier}):
        current = [
            decided.get(number) or pair.earlier.get(workers, pair)
            for number, pair in enumerate(pairs)
        ]
        for number, judgement in enumerate(_judge_pairs(current, margin)):
            was_look = workers in pairs[number].earlier
            if was_look and judgement.verdict is not Verdict.INCONCLUSIVE:
                decided[number] = current[number]
    return decided


def _comparison(subject: Subject, pair: Pair, judgement: Judgement) -> Comparison:
    estimate = judgement.estimate
    return Comparison(
        subject=subject,
        baseline=pair.baseline,
        candidate=pair.candidate,
        ratio=estimate.ratio,
        interval=judgement.interval,
        interval_90=judgement.interval_90,
        p_value=judgement.p_value,
        verdict=judgement.verdict,
        method=estimate.method,
        assumed_variation_ratio=estimate.assumed_variation,
        variation_to_explain_ratio=estimate.variation_to_explain(judgement.level),
        advice=None,
        look=pair.look.label,
        assumed_variation=_known_variation(estimate, pair),
        means_ns=(pair.candidate_side.mean_ns, pair.baseline_side.mean_ns),
    )


def _known_variation(estimate: Estimate, pair: Pair) -> WorkerVariation | None:
    """Return what is known of the workers' variation beyond those that are compared, if it counts."""
    if estimate.method == WORKERS_AND_PAST:
        return shown_by_past(pair.priors)
    return None if estimate.assumed_variation is None else pair.variation


def advise(estimate: Estimate, pair: Pair, *, margin: float, comparisons: int) -> Advice:
    """Return how many workers to add, and which verdict is more probable.

    Without a schedule the workers are looked at once.
    """
    assumed = pair.variation.expected_ratio
    measured = MeanVariance.pooled([pair.candidate_side.log_means, pair.baseline_side.log_means])
    prior = MeanVariance(assumed**2, _PRIOR_DEGREES)
    variance = MeanVariance.combined([prior] if measured is None else [measured, prior]).variance
    between_pushes = pair.push_variation.variance.variance if pair.push_variation else 0.0
    # One worker's mean is not known exactly either, and would not be in a repetition.
    within = estimate.within_variance - between_pushes
    within = max(0.0, within) if math.isfinite(within) else 0.0
    variation = math.sqrt(variance + within / 2)
    low, high = margin_bounds(margin)
    leaning = Verdict.SLOWER if estimate.ratio > 1 else Verdict.FASTER
    if low <= estimate.ratio <= high:
        leaning = Verdict.EQUIVALENT
    lead = f"probably {leaning}, not proven; "
    hopeless = lead + "more workers are not expected to settle it: {obstacle}"
    if pair.is_one_machine:
        # Another run on it is no further worker.
        obstacle = statement("one machine ran all of these tasks")
        return Advice(leaning, None, variation, statement(hopeless, obstacle=obstacle), obstacle)
    basis = ", including an" if measured is None else ", estimated from these workers and an"
    assumption = statement(
        f"workers vary by {{variation}}{basis} assumed {{assumed}}",
        variation=share(variation),
        assumed=share(assumed),
    )
    question = _Question(
        estimate.log_ratio, variation, between_pushes, margin, comparisons, leaning
    )
    chance = partial(_chance, question)
    stretches: Sequence[tuple[Look, range]] = _ONE_LOOK
    if pair.schedule is not None:
        stretches = pair.schedule.stretches(pair.counts, pair.look, 2 * _MOST_WORKERS)
    total = _workers_needed(chance, stretches)
    add = _MOST_WORKERS + 1 if total is None else max(1, total - min(pair.counts))
    if add > _MOST_WORKERS:
        needed_anew = _workers_needed(chance, _ONE_LOOK)
        obstacle = _obstacle(pair.schedule, stretches, needed_anew)
        # Pushes are the obstacle only where workers of one push would decide.
        in_one_push = partial(_chance, question._replace(between_pushes=0.0))
        if pair.push_variation and not needed_anew and _workers_needed(in_one_push, _ONE_LOOK):
            obstacle = pair.push_variation.obstacle
        message = statement(hopeless + " if {assumption}", obstacle=obstacle, assumption=assumption)
        return Advice(leaning, None, variation, message, obstacle)
    workers = "worker" if add == 1 else "workers"
    message = statement(
        lead + f"{{add}} more {workers} per pool should settle it if {{assumption}}",
        add=count(add),
        assumption=assumption,
    )
    return Advice(leaning, add, variation, message)


def _workers_needed(
    chance: Callable[[Look, int], float], stretches: Sequence[tuple[Look, range]]
) -> int | None:
    """Return the number per side; None if it is in none of the stretches, which have one level each."""
    for look, numbers in stretches:
        # More workers have a better chance, as long as the level is the same.
        place = bisect_left(numbers, _POWER, key=partial(chance, look))
        if place < len(numbers):
            return numbers[place]
    return None


class _Question(NamedTuple):
    """The verdict to be reached, if the estimate is true and workers vary as assumed."""

    log_ratio: float
    variation: float  # between workers
    between_pushes: float  # a variance that more workers do not reduce
    margin: float
    comparisons: int
    leaning: Verdict


def _chance(question: _Question, look: Look, workers: int) -> float:
    """Return the chance that so many workers per side reach the verdict, over the possible errors."""
    degrees = 2 * workers - 2
    error = math.sqrt(question.variation**2 * 2 / workers + question.between_pushes)
    shift = abs(question.log_ratio) / error
    if question.leaning is not Verdict.EQUIVALENT:
        # The first of Holm's steps, which is the hardest, so that the number is not too small.
        errors = reach(1 - look.p_value((1 - LEVEL) / question.comparisons), degrees)
        return math.fsum(
            chance * tail(errors * estimated - shift, math.inf)
            for estimated, chance in _estimated_errors(degrees)
        )
    errors, edge = reach(look.equivalence_level, degrees), math.log1p(question.margin) / error
    chances = []
    for estimated, chance in _estimated_errors(degrees):
        room = edge - errors * estimated
        if room > 0:
            within = tail(-room - shift, math.inf) - tail(room - shift, math.inf)
            chances.append(chance * within)
    return math.fsum(chances)


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


def _obstacle(
    schedule: Schedule | None, stretches: Sequence[object], needed_anew: int | None
) -> Statement:
    """Return why more workers would not decide, by the number that a measurement with one look needs."""
    has_looks = schedule is not None and schedule.is_declared and not schedule.is_planned
    if schedule is None or not has_looks or needed_anew is None or needed_anew > _MOST_WORKERS:
        return statement("that would take more than {most} per pool", most=count(_MOST_WORKERS))
    reason = (
        "the chance at the last declared look, {last} workers per pool, is below 80 %"
        if stretches
        else "no look is declared after {last} workers per pool"
    )
    return statement(
        reason + "; a new measurement with {needed} per pool and one look should settle it",
        last=count(schedule.looks[-1]),
        needed=count(needed_anew),
    )
