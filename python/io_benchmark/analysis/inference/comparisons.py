# SPDX-License-Identifier: MPL-2.0
"""From the workers of several sides to their comparisons: estimates, tests, verdicts and advice.

Once a look has decided, its verdict stands: a test that went on would have further chances to be wrong,
and more workers of the baseline, for the sake of other candidates, must not withdraw it.
"""

from collections.abc import Callable, Sequence
from functools import partial

from msgspec.structs import replace

from io_benchmark.analysis.inference.decisions import Judgement, judge
from io_benchmark.analysis.inference.estimates import Estimate
from io_benchmark.analysis.inference.pairs import Pair
from io_benchmark.analysis.inference.workers_needed import advise
from io_benchmark.analysis.model import Comparison, Subject, Verdict


def compare_sides(
    subject: Subject,
    pairs: Sequence[Pair],
    *,
    margin: float,
    advised: bool = True,
    are_pools: bool = True,
) -> tuple[Comparison, ...]:
    """Compare each candidate with its baseline; the tests are adjusted for all pairs together.

    An inconclusive comparison is `advised` how many workers it needs. If `are_pools` is false, a single
    worker is compared for itself, and not for its pool.
    """
    judge_pairs = partial(_judge_pairs, margin=margin, are_pools=are_pools)
    decided = _decided_before(pairs, judge_pairs)
    looks = [decided.get(number, pair) for number, pair in enumerate(pairs)]
    judgements = judge_pairs(looks)
    of_all_workers = judge_pairs(pairs) if decided else judgements
    comparisons = []
    for pair, look, judgement, of_all in zip(pairs, looks, judgements, of_all_workers, strict=True):
        comparison = _comparison(subject, look, judgement)
        if look is not pair:
            agrees = pair.look.is_scheduled and of_all.verdict is judgement.verdict
            by_all = _comparison(subject, pair, of_all)
            comparison = (
                by_all if agrees else replace(comparison, of_all=by_all, workers=look.counts)
            )
        elif advised and comparison.verdict is Verdict.INCONCLUSIVE:
            advice = advise(judgement.estimate, pair, margin=margin, comparisons=len(pairs))
            comparison = replace(comparison, advice=advice)
        comparisons.append(comparison)
    return tuple(comparisons)


def _judge_pairs(pairs: Sequence[Pair], *, margin: float, are_pools: bool) -> list[Judgement]:
    estimates = [
        Estimate.of_sides(pair.candidate_side, pair.baseline_side, pair.variation.ratio, pair.look)
        for pair in pairs
    ]
    if not are_pools:
        estimates = [replace(estimate, single_sides=0) for estimate in estimates]
    return judge(estimates, [pair.look for pair in pairs], margin)


def _decided_before(
    pairs: Sequence[Pair], judge_pairs: Callable[[Sequence[Pair]], list[Judgement]]
) -> dict[int, Pair]:
    """Return by position the pairs that an earlier look decided, as they were then.

    The looks are repeated in their order. A pair that was decided keeps its p-value, so that Holm's steps
    leave the same part of the error to the other pairs as at that look.
    """
    decided: dict[int, Pair] = {}
    for workers in sorted({workers for pair in pairs for workers in pair.earlier}):
        current = [
            decided.get(number) or pair.earlier.get(workers, pair)
            for number, pair in enumerate(pairs)
        ]
        for number, judgement in enumerate(judge_pairs(current)):
            was_look = workers in pairs[number].earlier
            if was_look and judgement.verdict is not Verdict.INCONCLUSIVE:
                decided.setdefault(number, current[number])
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
        look=pair.look.text,
        assumed_variation=None if estimate.assumed_variation is None else pair.variation,
        means_ns=(pair.candidate_side.mean_ns, pair.baseline_side.mean_ns),
    )
