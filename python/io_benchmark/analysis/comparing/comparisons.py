# SPDX-License-Identifier: MPL-2.0
"""From pairs of sides to comparisons.

Once a look has decided, its verdict stands: a test that went on would have further chances to be
wrong, and more workers of the baseline, for the sake of other candidates, must not withdraw it.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from io_benchmark.analysis.comparing.looks import Earlier
from io_benchmark.analysis.comparing.pushes import variance_of_pushes
from io_benchmark.analysis.model.comparison import Comparison, Verdict
from io_benchmark.analysis.model.measurement import ComparedSides
from io_benchmark.analysis.model.once import once
from io_benchmark.analysis.model.run import UNKNOWN
from io_benchmark.analysis.model.subject import Subject
from io_benchmark.analysis.statistics.advice import advise
from io_benchmark.analysis.statistics.ratios import Estimate
from io_benchmark.analysis.statistics.verdicts import (
    Adjusted,
    adjust,
    interval_of_equivalence,
    verdict_of,
)


@once
def estimate_of(pair: ComparedSides) -> Estimate:
    """Return the ratio of two sides, with all the errors that are known of it."""
    estimate = Estimate.of_workers(
        pair.candidate.workers, pair.baseline.workers, pair.variation.ratio, pair.look
    )
    if pair.pushes is None:
        return estimate
    return estimate.with_further(variance_of_pushes(pair.pushes))


def compare_sides(
    subject: Subject,
    pairs: Sequence[ComparedSides],
    *,
    margin: float,
    earlier: Sequence[Earlier] | None = None,
) -> tuple[Comparison, ...]:
    """Compare each candidate with its baseline; the tests are adjusted for all pairs together.

    `earlier` has what was compared of each pair at the looks before this one.
    """
    decided = _decided_before(pairs, earlier or [{} for _ in pairs], margin)
    deciding = [decided.get(number, pair) for number, pair in enumerate(pairs)]
    comparisons = _compare(subject, deciding, margin)
    if not decided:
        return tuple(comparisons)
    by_all = _compare(subject, pairs, margin)
    for number, pair in decided.items():
        comparison, later = comparisons[number], by_all[number]
        look = pairs[number].look
        in_schedule = look.label is None or look.schedule is not None
        if in_schedule and later.verdict is comparison.verdict:
            comparisons[number] = later
        else:
            comparisons[number] = replace(comparison, of_all=later, workers=pair.counts)
    return tuple(comparisons)


def with_advice(
    comparisons: Sequence[Comparison], pairs: Sequence[ComparedSides], *, margin: float
) -> tuple[Comparison, ...]:
    """Return the comparisons, those without a verdict with how many workers they need."""
    advised = []
    for comparison, pair in zip(comparisons, pairs, strict=True):
        if comparison.verdict is Verdict.INCONCLUSIVE:
            machines = {run.worker.machine for run in (*pair.candidate, *pair.baseline)}
            advice = advise(
                estimate_of(pair),
                (pair.candidate.log_means, pair.baseline.log_means),
                pair.variation,
                look=pair.look,
                schedule=pair.schedule,
                margin=margin,
                comparisons=len(pairs),
                pushes=pair.pushes,
                is_one_machine=len(machines) == 1 and UNKNOWN not in machines,
            )
            advised.append(replace(comparison, advice=advice))
        else:
            advised.append(comparison)
    return tuple(advised)


def _adjusted(pairs: Sequence[ComparedSides]) -> list[Adjusted]:
    return adjust([*map(estimate_of, pairs)], [pair.look for pair in pairs])


def _compare(subject: Subject, pairs: Sequence[ComparedSides], margin: float) -> list[Comparison]:
    return [
        _comparison(subject, pair, adjusted, margin)
        for pair, adjusted in zip(pairs, _adjusted(pairs), strict=True)
    ]


def _decided_before(
    pairs: Sequence[ComparedSides], earlier: Sequence[Earlier], margin: float
) -> dict[int, ComparedSides]:
    """Return the pairs for which an earlier look reached a verdict, as they were at that look.

    The key is the position in `pairs`. The looks are repeated in their order. A decided pair keeps
    its p-value, so that Holm's steps leave the same part of the error to the other pairs as at that
    look.
    """
    decided: dict[int, ComparedSides] = {}
    for workers in sorted({workers for looks in earlier for workers in looks}):
        current = [
            decided.get(number) or earlier[number].get(workers, pair)
            for number, pair in enumerate(pairs)
        ]
        for number, adjusted in enumerate(_adjusted(current)):
            pair = current[number]
            verdict = verdict_of(estimate_of(pair), pair.look, adjusted.level, margin)
            if workers in earlier[number] and verdict is not Verdict.INCONCLUSIVE:
                decided[number] = pair
    return decided


def _comparison(
    subject: Subject, pair: ComparedSides, adjusted: Adjusted, margin: float
) -> Comparison:
    estimate = estimate_of(pair)
    candidate, baseline = pair.names
    return Comparison(
        subject=subject,
        baseline=baseline,
        candidate=candidate,
        ratio=estimate.ratio,
        interval=estimate.interval(adjusted.level),
        interval_90=interval_of_equivalence(estimate, pair.look),
        p_value=adjusted.p_value,
        verdict=verdict_of(estimate, pair.look, adjusted.level, margin),
        method=estimate.method,
        assumed_variation_ratio=estimate.assumed_variation,
        variation_to_explain_ratio=estimate.variation_to_explain(adjusted.level),
        advice=None,
        look=pair.look.label,
        assumed_variation=None if estimate.assumed_variation is None else pair.variation,
        means_ns=(pair.candidate.mean_ns, pair.baseline.mean_ns),
    )
