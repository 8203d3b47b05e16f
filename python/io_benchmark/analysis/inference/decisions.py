# SPDX-License-Identifier: MPL-2.0
"""From estimates to verdicts: several candidates and several looks share the error."""

from collections.abc import Sequence

from msgspec import Struct

from io_benchmark.analysis.inference.estimates import Estimate
from io_benchmark.analysis.inference.levels import LEVEL
from io_benchmark.analysis.inference.looks import SINGLE, Look
from io_benchmark.analysis.model import DIFFERENT, Interval, Verdict


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
        by_intervals = verdict(self.interval, self.interval_90, self.margin)
        if by_intervals in DIFFERENT and self.estimate.may_be_one_worker(self.level):
            return Verdict.INCONCLUSIVE
        return by_intervals


def judge(estimates: Sequence[Estimate], looks: Sequence[Look], margin: float) -> list[Judgement]:
    tests = holm([estimate.p_value for estimate in estimates], looks)
    return [
        Judgement(estimate, look, *test, margin)
        for estimate, look, test in zip(estimates, looks, tests, strict=True)
    ]


def holm(p_values: Sequence[float], looks: Sequence[Look] = ()) -> list[tuple[float, float]]:
    """Return each candidate's adjusted p-value, and the level of the interval that decides as it does.

    Holm's steps: the smallest p-value is compared with alpha / m, the next with alpha / (m - 1),
    until one fails; that one and all above it are not rejected, so their intervals are those of
    the step that failed. A look spends a part of the error, by which its p-value is divided first.
    """
    alpha = 1 - LEVEL
    first = alpha / max(1, len(p_values))
    # The part is smallest at the smallest level, and is not too large at the others.
    parts = [look.p_value(first) / first for look in looks or [SINGLE] * len(p_values)]
    p_values = [min(1.0, p / part) for p, part in zip(p_values, parts, strict=True)]
    order = sorted(range(len(p_values)), key=lambda at: (p_values[at], at))
    tests = [(1.0, LEVEL)] * len(p_values)
    running, failed_at = 0.0, 0.0
    for rank, at in enumerate(order):
        left = len(order) - rank
        running = max(running, min(1.0, left * p_values[at]))
        step = failed_at or alpha / left
        if p_values[at] > step:
            failed_at = step
        tests[at] = running, 1 - step * parts[at]
    return tests


def margin_bounds(margin: float) -> tuple[float, float]:
    """Return symmetric bounds: 1/1.05 to 1.05 for a margin of 5 %."""
    return 1 / (1 + margin), 1 + margin


def verdict(adjusted: Interval, at_90: Interval, margin: float) -> Verdict:
    low, high = margin_bounds(margin)
    if at_90.within(low, high):
        return Verdict.EQUIVALENT
    if adjusted.excludes(1.0) and not adjusted.within(low, high):
        return Verdict.SLOWER if adjusted.low_ratio > 1.0 else Verdict.FASTER
    return Verdict.INCONCLUSIVE
