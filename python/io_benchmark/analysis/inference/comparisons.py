# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""From the workers of several sides to their comparisons: estimates, tests, verdicts and advice.

Once a look has decided, its verdict stands: a test that went on would have further chances to be wrong,
and more workers of the baseline, for the sake of other candidates, must not withdraw it.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from msgspec.structs import replace

from io_benchmark.analysis.inference import decisions
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

    Unless `advised` is false, an inconclusive comparison has the number of workers that it needs. If
    `are_pools` is false, a single worker is compared for itself, and not for its pool.
    """
    judge = partial(_judge, subject, margin=margin, are_pools=are_pools)
    found = judge(pairs)
    decided = _decided_before(pairs, judge)
    if decided:
        all_workers = found
        found = judge([decided.get(at, pair) for at, pair in enumerate(pairs)])
        for at, pair in decided.items():
            before, now = found[at].comparison, all_workers[at].comparison
            stands = _stands(pair, pairs[at].look.is_scheduled, before, now)
            found[at] = found[at]._replace(comparison=stands)
    comparisons = []
    for pair, (comparison, estimate) in zip(pairs, found, strict=True):
        advice = None
        if advised and comparison.verdict is Verdict.INCONCLUSIVE:
            advice = advise(estimate, pair, margin=margin, comparisons=len(pairs))
        comparisons.append(replace(comparison, advice=advice))
    return tuple(comparisons)


class _Judged(NamedTuple):
    comparison: Comparison
    estimate: Estimate


def _judge(
    subject: Subject, pairs: Sequence[Pair], *, margin: float, are_pools: bool
) -> list[_Judged]:
    found = [
        Estimate.of_sides(pair.ours, pair.theirs, pair.variation.ratio, pair.look) for pair in pairs
    ]
    if not are_pools:
        found = [replace(estimate, single_sides=0) for estimate in found]
    tests = decisions.holm([estimate.p_value for estimate in found], [pair.look for pair in pairs])
    return [
        _Judged(_comparison(subject, pair, estimate, test.p_value, test.level, margin), estimate)
        for pair, estimate, test in zip(pairs, found, tests, strict=True)
    ]


def _decided_before(
    pairs: Sequence[Pair], judge: Callable[[Sequence[Pair]], list[_Judged]]
) -> dict[int, Pair]:
    """Return by position the pairs that an earlier look decided, as they were then.

    The looks are repeated in their order. A pair that was decided keeps its p-value, so that what Holm's
    steps left to the others stays theirs.
    """
    decided: dict[int, Pair] = {}
    for workers in sorted({workers for pair in pairs for workers in pair.earlier}):
        current = [
            decided[at] if at in decided else pair.earlier.get(workers, pair)
            for at, pair in enumerate(pairs)
        ]
        for at, (comparison, _) in enumerate(judge(current)):
            if workers in pairs[at].earlier and comparison.verdict is not Verdict.INCONCLUSIVE:
                decided.setdefault(at, current[at])
    return decided


def _stands(pair: Pair, is_look: bool, before: Comparison, now: Comparison) -> Comparison:
    """Return the figures of the look that decided, unless all workers agree at a look of their own."""
    if is_look and now.verdict is before.verdict:
        return now
    return replace(before, of_all=now, workers=(pair.ours.count, pair.theirs.count))


def _comparison(
    subject: Subject, pair: Pair, estimate: Estimate, p_value: float, level: float, margin: float
) -> Comparison:
    return Comparison(
        subject=subject,
        baseline=pair.baseline,
        candidate=pair.candidate,
        ratio=estimate.ratio,
        interval=estimate.interval(level),
        interval_90=estimate.interval(pair.look.equivalence_level),
        p_value=p_value,
        verdict=decisions.decide(estimate, level, pair.look, margin),
        method=estimate.method,
        assumed_variation_ratio=estimate.assumed_variation,
        variation_to_explain_ratio=estimate.variation_to_explain(level),
        advice=None,
        look=pair.look.text,
        assumed_variation=None if estimate.assumed_variation is None else pair.variation,
        means_ns=(pair.ours.mean_ns, pair.theirs.mean_ns),
    )
