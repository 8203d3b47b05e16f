# SPDX-License-Identifier: MPL-2.0
"""How many workers an inconclusive comparison needs, and which verdict is more probable.

That is the smallest number with which a verdict is probable, whichever it is; `settling` finds it.
Here are the words, and what is offered where it is large.
"""

import math
from collections.abc import Sequence

from msgspec.structs import replace

from io_benchmark.analysis.model.comparison import Advice, PushVariation, Verdict, WorkerVariation
from io_benchmark.analysis.model.looks import SINGLE, Look, Schedule
from io_benchmark.analysis.model.statements import Statement, count, share, statement
from io_benchmark.analysis.statistics.levels import margin_bounds
from io_benchmark.analysis.statistics.ratios import Estimate
from io_benchmark.analysis.statistics.settling import CHANCE, Question, Stretches
from io_benchmark.analysis.statistics.variances import LogMeans, MeanVariance
from io_benchmark.number_text import plural

# More workers per pool are not advised. Chosen.
_MOST_WORKERS = 100
# From so many more workers on, a wider margin is offered with which so few more settle it. Chosen.
_TOO_MANY = 20
_FEW = 6
_MARGINS = (0.06, 0.08, 0.1, 0.12, 0.15, 0.2, 0.25, 0.3)
_ONE_LOOK = ((SINGLE, range(2, 2 * _MOST_WORKERS + 1)),)


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

    `log_means` are those of the candidate's and the baseline's workers. Without a schedule the
    workers are looked at once. With `is_one_step` a few workers have the chance of many, for those
    who cannot add a few more at the next look.
    """
    counts = len(log_means[0]), len(log_means[1])
    question, sources = _question(estimate, log_means, assumed, pushes, margin, comparisons)
    if is_one_step:
        question = question._replace(least_chance=CHANCE)
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
    stretches: Stretches = _ONE_LOOK
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
    """Return the more probable verdict."""
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
) -> tuple[Question, str]:
    """Return what is known of a comparison, and the words for where the variation comes from."""
    sources = "including an assumed {assumed}"
    variance = MeanVariance.assumed(assumed.expected_ratio)
    seen = MeanVariance.pooled(log_means)
    if seen is not None:
        sources = "estimated from these workers and an assumed {assumed}"
        variance = MeanVariance.combined([seen, variance])
    between_pushes = pushes.unshared * pushes.ratio**2 if pushes is not None else 0.0
    # One worker's mean is not known exactly either, and would not be in a repetition.
    within = estimate.within_variance - between_pushes
    question = Question(
        log_ratio=estimate.log_ratio,
        workers=Schedule.per_equal_pool(len(log_means[0]), len(log_means[1])),
        seen=seen or MeanVariance(0.0, 0.0),
        variance=variance,
        within_variance=max(0.0, within) if math.isfinite(within) else 0.0,
        between_pushes=between_pushes,
        margin=margin,
        comparisons=comparisons,
    )
    return question, sources


def _with_margin(advice: Advice, question: Question, stretches: Stretches) -> Advice:
    """Offer the smallest wider margin with which a few more workers settle it."""
    look, number = SINGLE, 0
    for stretch_look, numbers in stretches:
        for few_more in numbers:
            if 0 < few_more - question.workers <= _FEW:
                look, number = stretch_look, few_more
    if not number:
        return advice
    for margin in _MARGINS:
        wider = question._replace(margin=margin)
        if margin > question.margin and wider.chance(look, number) >= CHANCE:
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


def _obstacle(
    schedule: Schedule | None, stretches: Sequence[object], needed_anew: int | None
) -> Statement:
    """Return why more workers would not decide.

    `needed_anew` is the number that a new measurement with one look needs.
    """
    has_looks = schedule is not None and schedule.is_declared and not schedule.is_planned
    if schedule is None or not has_looks or needed_anew is None or needed_anew > _MOST_WORKERS:
        return statement("that would take more than {most} per pool", most=count(_MOST_WORKERS))
    if stretches:
        reason = "the chance at the last declared look, {last} workers per pool, is too small"
    else:
        reason = "no look is declared after {last} workers per pool"
    return statement(
        reason + "; a new measurement with {needed} per pool and one look should settle it",
        last=count(schedule.looks[-1]),
        needed=count(needed_anew),
    )
