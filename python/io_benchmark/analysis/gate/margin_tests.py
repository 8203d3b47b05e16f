# SPDX-License-Identifier: MPL-2.0
"""Is the candidate within the margin, on one measurement?

It passes where the upper end of the ratio's one-sided 95 % interval is below the limit: if the
candidate is slower by the margin, it passes in 5 of 100 gates. Because each measurement must pass,
their levels are not adjusted (an intersection-union test; Berger 1982, Technometrics 24:295). It
fails where the lower end of the two-sided interval is above the limit, at a level that is adjusted
for all measurements, because a single one is enough. Several looks share the error as in any
comparison (`statistics/looks.py`).
"""

import math

from msgspec.structs import replace

from io_benchmark.analysis.comparing.comparisons import estimate_of
from io_benchmark.analysis.gate.gate_model import Answer, MarginTest
from io_benchmark.analysis.model.comparison import Interval
from io_benchmark.analysis.model.measurement import ComparedSides
from io_benchmark.analysis.model.side import Side
from io_benchmark.analysis.model.subject import Subject
from io_benchmark.analysis.statistics.levels import DEFAULT_WORKER_VARIATION, LEVEL
from io_benchmark.analysis.statistics.looks import equivalence_level, p_value_of
from io_benchmark.analysis.statistics.variances import FEWEST_FOR_VARIATION, MeanVariance


def margin_test(
    subject: Subject, pair: ComparedSides, usual: Side | None, margin: float, measurements: int
) -> MarginTest:
    """Return what one of so many measurements says.

    `usual` are the baseline's workers without the slow ones, where it has some. The candidate
    passes by its ratio to these, and fails only if it is slower than all together as well.
    """
    with_usual = pair if usual is None else replace(pair, baseline=usual)
    estimate = estimate_of(with_usual)
    highest = estimate.interval(equivalence_level(pair.look)).high_ratio
    interval = _interval(with_usual, measurements)
    lowest = min(interval.low_ratio, _interval(pair, measurements).low_ratio)
    limit = 1 + margin
    answer = Answer.NOT_DECIDED
    is_enough = min(with_usual.counts) >= FEWEST_FOR_VARIATION
    if is_enough and estimate.can_decide:
        if highest < limit:
            answer = Answer.PASSED
        elif lowest > limit:
            answer = Answer.FAILED
    return MarginTest(
        subject=subject,
        answer=answer,
        ratio=estimate.ratio,
        interval=interval,
        highest_ratio=highest,
        variation_ratio=_variation(with_usual),
        workers=with_usual.counts,
        slow_of_baseline=pair.baseline.count - with_usual.baseline.count,
    )


def _interval(pair: ComparedSides, measurements: int) -> Interval:
    level = 1 - p_value_of(pair.look, (1 - LEVEL) / measurements)
    return estimate_of(pair).interval(level)


def _variation(pair: ComparedSides) -> float:
    """Return how far further workers are expected to vary, by these and by what is assumed."""
    assumed = MeanVariance.assumed(DEFAULT_WORKER_VARIATION)
    seen = MeanVariance.pooled([pair.candidate.log_means, pair.baseline.log_means])
    parts = [assumed] if seen is None else [assumed, seen]
    return math.sqrt(MeanVariance.combined(parts).variance)
