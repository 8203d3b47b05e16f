# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""From the workers of several sides to their comparisons: estimates, tests, verdicts and advice."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from io_benchmark.analysis.inference import decisions
from io_benchmark.analysis.inference.decisions import AdjustedTest
from io_benchmark.analysis.inference.estimates import Estimate, SideData
from io_benchmark.analysis.inference.looks import SINGLE, Look, Schedule
from io_benchmark.analysis.inference.worker_variation import WorkerVariation
from io_benchmark.analysis.inference.workers_needed import advise
from io_benchmark.analysis.model import Comparison, Subject, Verdict


@dataclass(frozen=True)
class Pair:
    """A candidate and its baseline, with what is compared of both."""

    candidate: str
    baseline: str
    ours: SideData  # the candidate's
    theirs: SideData
    variation: WorkerVariation  # assumed where a side has one or two workers
    look: Look = SINGLE
    schedule: Schedule | None = None  # for more workers


def compare_sides(
    subject: Subject,
    pairs: Sequence[Pair],
    *,
    margin: float,
    advised: bool = True,
    are_pools: bool = True,
) -> tuple[Comparison, ...]:
    """Compare each candidate with its baseline; the tests are adjusted for all pairs together.

    Unless `advised` is false, an inconclusive comparison has the number of workers that it needs. If
    `are_pools` is false, a single worker is compared for itself, and not for its pool.
    """
    found = [
        Estimate.of_sides(pair.ours, pair.theirs, pair.variation.ratio, pair.look) for pair in pairs
    ]
    if not are_pools:
        found = [replace(estimate, single_sides=0) for estimate in found]
    tests = decisions.holm([estimate.p_value for estimate in found], [pair.look for pair in pairs])
    comparisons = []
    for pair, estimate, test in zip(pairs, found, tests, strict=True):
        comparison = _comparison(subject, pair, estimate, test, margin)
        if advised and comparison.verdict is Verdict.INCONCLUSIVE:
            advice = advise(
                estimate,
                (pair.ours, pair.theirs),
                assumed=pair.variation.expected_ratio,
                margin=margin,
                comparisons=len(pairs),
                schedule=pair.schedule,
            )
            comparison = replace(comparison, advice=advice)
        comparisons.append(comparison)
    return tuple(comparisons)


def _comparison(
    subject: Subject, pair: Pair, estimate: Estimate, test: AdjustedTest, margin: float
) -> Comparison:
    return Comparison(
        subject=subject,
        baseline=pair.baseline,
        candidate=pair.candidate,
        ratio=estimate.ratio,
        interval=estimate.interval(test.level),
        interval_90=estimate.interval(pair.look.equivalence_level),
        p_value=test.p_value,
        verdict=decisions.decide(estimate, test.level, pair.look, margin),
        method=estimate.method,
        assumed_variation_ratio=estimate.assumed_variation,
        variation_to_explain_ratio=estimate.variation_to_explain(test.level),
        advice=None,
        look=pair.look.text,
        assumed_variation=None if estimate.assumed_variation is None else pair.variation,
    )
