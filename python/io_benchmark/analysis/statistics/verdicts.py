# SPDX-License-Identifier: MPL-2.0
"""From estimates to verdicts: several candidates and looks share the error of their tests."""

from collections.abc import Sequence
from typing import NamedTuple

from io_benchmark.analysis.model.comparison import Interval, Verdict
from io_benchmark.analysis.model.looks import Look
from io_benchmark.analysis.statistics.levels import LEVEL, margin_bounds
from io_benchmark.analysis.statistics.looks import equivalence_level, p_value_of
from io_benchmark.analysis.statistics.ratios import Estimate


class Adjusted(NamedTuple):
    """A test that is made together with others."""

    p_value: float
    level: float  # of the interval that decides as the p-value does


def adjust(estimates: Sequence[Estimate], looks: Sequence[Look]) -> list[Adjusted]:
    """Return each test of a ratio, adjusted for all of them together and for their looks."""
    return holm([estimate.p_value for estimate in estimates], looks)


def verdict_of(estimate: Estimate, look: Look, level: float, margin: float) -> Verdict:
    """Return what an estimate decides, at the level that its adjusted test has."""
    if not estimate.can_decide:
        return Verdict.INCONCLUSIVE
    return _verdict(estimate.interval(level), interval_of_equivalence(estimate, look), margin)


def interval_of_equivalence(estimate: Estimate, look: Look) -> Interval:
    """Return the interval that shows equivalence where it is within the margin."""
    return estimate.interval(equivalence_level(look))


def holm(p_values: Sequence[float], looks: Sequence[Look]) -> list[Adjusted]:
    """Return each candidate's adjusted p-value, and the level of its interval, which decides alike.

    Holm's steps: the smallest p-value is compared with alpha / m, the next with alpha / (m - 1),
    until one fails; that one and all above it are not rejected, so their intervals are those of
    the step that failed. A look spends a part of the error, by which its p-value is divided first.
    """
    alpha = 1 - LEVEL
    first_step = alpha / max(1, len(p_values))
    # The part is smallest at the smallest level, and is not too large at the others.
    parts = [p_value_of(look, first_step) / first_step for look in looks]
    of_looks = [min(1.0, p_value / part) for p_value, part in zip(p_values, parts, strict=True)]
    rising = sorted(range(len(of_looks)), key=of_looks.__getitem__)
    tests = [Adjusted(1.0, LEVEL)] * len(of_looks)
    largest = 0.0  # an adjusted p-value is at least that of the test before
    failed_step: float | None = None
    for done, index in enumerate(rising):
        left = len(rising) - done
        largest = max(largest, min(1.0, left * of_looks[index]))
        step = alpha / left if failed_step is None else failed_step
        if of_looks[index] > step:
            failed_step = step
        tests[index] = Adjusted(largest, 1 - step * parts[index])
    return tests


def _verdict(adjusted: Interval, interval_90: Interval, margin: float) -> Verdict:
    """Return what two intervals decide; equivalence comes first."""
    low, high = margin_bounds(margin)
    if interval_90.within(low, high):
        return Verdict.EQUIVALENT
    if adjusted.excludes(1.0) and not adjusted.within(low, high):
        return Verdict.SLOWER if adjusted.low_ratio > 1.0 else Verdict.FASTER
    return Verdict.INCONCLUSIVE
