# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""From the workers of several sides to their comparisons: estimates, tests, verdicts and advice."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from io_benchmark.analysis.inference import estimates, levels
from io_benchmark.analysis.inference.estimates import AdjustedTest, Estimate, SideData
from io_benchmark.analysis.inference.workers_needed import advise
from io_benchmark.analysis.model import Comparison, Subject, Verdict


def compare_sides(
    subject: Subject,
    pairs: Sequence[tuple[str, str]],
    data: Mapping[str, SideData],
    *,
    margin: float,
    assumed: float,
    advised: bool = True,
) -> tuple[Comparison, ...]:
    """Compare each candidate with its baseline; the tests are adjusted for all pairs together.

    Unless `advised` is false, an inconclusive comparison has the number of workers that it needs.
    """
    found = [
        Estimate.of_sides(data[candidate], data[baseline], assumed) for candidate, baseline in pairs
    ]
    tests = estimates.holm([estimate.p_value for estimate in found])
    comparisons = []
    for (candidate, baseline), estimate, test in zip(pairs, found, tests, strict=True):
        comparison = _comparison(subject, (candidate, baseline), estimate, test, margin)
        if advised and comparison.verdict is Verdict.INCONCLUSIVE:
            advice = advise(
                estimate,
                (data[candidate], data[baseline]),
                assumed=assumed,
                margin=margin,
                comparisons=len(pairs),
            )
            comparison = replace(comparison, advice=advice)
        comparisons.append(comparison)
    return tuple(comparisons)


def _comparison(
    subject: Subject,
    pair: tuple[str, str],
    estimate: Estimate,
    test: AdjustedTest,
    margin: float,
) -> Comparison:
    candidate, baseline = pair
    adjusted = estimate.interval(test.level)
    at_90 = estimate.interval(levels.EQUIVALENCE_LEVEL)
    return Comparison(
        subject=subject,
        baseline=baseline,
        candidate=candidate,
        ratio=estimate.ratio,
        interval=adjusted,
        interval_90=at_90,
        p_value=test.p_value,
        verdict=estimates.verdict(adjusted, at_90, margin),
        method=estimate.method,
        assumed_variation_ratio=estimate.assumed_variation,
        variation_to_explain_ratio=estimate.variation_to_explain(test.level),
        advice=None,
    )
