# SPDX-License-Identifier: MPL-2.0
"""From pairs of sides to comparisons: several candidates and looks share the error of their tests.

Once a look has decided, its verdict stands: a test that went on would have further chances to be wrong,
and more workers of the baseline, for the sake of other candidates, must not withdraw it.
"""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.model.comparison import Comparison, Interval, Verdict
from io_benchmark.analysis.model.subject import Subject
from io_benchmark.analysis.statistics.advice import advise
from io_benchmark.analysis.statistics.levels import LEVEL, margin_bounds
from io_benchmark.analysis.statistics.looks import Look
from io_benchmark.analysis.statistics.pairs import Pair
from io_benchmark.analysis.statistics.ratios import Estimate


class Judgement(Struct, frozen=True):
    """A ratio with its verdict, where several ratios are tested together."""

    estimate: Estimate
    look: Look
    p_value: float  # adjusted
    level: float  # of the interval that decides as the p-value does
    margin: float

    @classmethod
    def of(
        cls, estimates: Sequence[Estimate], looks: Sequence[Look], margin: float
    ) -> "list[Judgement]":
        tests = _holm([estimate.p_value for estimate in estimates], looks)
        return [
            cls(estimate, look, *test, margin)
            for estimate, look, test in zip(estimates, looks, tests, strict=True)
        ]

    @property
    def interval(self) -> Interval:
        return self.estimate.interval(self.level)

    @property
    def interval_90(self) -> Interval:
        """Return the interval that shows equivalence."""
        return self.estimate.interval(self.look.equivalence_level)

    @property
    def verdict(self) -> Verdict:
        if not self.estimate.can_decide:
            return Verdict.INCONCLUSIVE
        return _verdict(self.interval, self.interval_90, self.margin)


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
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    tests = [(1.0, LEVEL)] * len(p_values)
    running, failed_step = 0.0, 0.0
    for left, index in zip(range(len(order), 0, -1), order, strict=True):
        running = max(running, min(1.0, left * p_values[index]))
        step = failed_step or alpha / left
        if p_values[index] > step:
            failed_step = step
        tests[index] = running, 1 - step * parts[index]
    return tests


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
            in_schedule = pair.look.label is None or pair.look.schedule is not None
            earlier = replace(comparison, of_all=by_all, workers=look.counts)
            comparison = by_all if in_schedule and later.verdict is judgement.verdict else earlier
        elif pair.schedule is not None and comparison.verdict is Verdict.INCONCLUSIVE:
            advice = advise(judgement.estimate, pair, margin=margin, comparisons=len(pairs))
            comparison = replace(comparison, advice=advice)
        comparisons.append(comparison)
    return tuple(comparisons)


def _judge_pairs(pairs: Sequence[Pair], margin: float) -> list[Judgement]:
    estimates, looks = [pair.estimate for pair in pairs], [pair.look for pair in pairs]
    return Judgement.of(estimates, looks, margin)


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
        assumed_variation=None if estimate.assumed_variation is None else pair.variation,
        means_ns=(pair.candidate_side.mean_ns, pair.baseline_side.mean_ns),
    )
