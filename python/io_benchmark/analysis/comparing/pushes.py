# SPDX-License-Identifier: MPL-2.0
"""How far the levels of a pool differ from push to push.

A day, a region or a deployment shifts all workers of a push together. Workers of one push do not
show that shift, however many they are. Within one push it is the same for both sides, and cancels.
So it counts by how much more of one side's workers than of the other's each push has. It is
estimated from the pool's past, and from the sides themselves where they have several pushes.
Otherwise it is assumed, and the report says so. tests/simulation/test_rates.py has the rates.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from operator import attrgetter
from statistics import fmean

from io_benchmark.analysis.model.comparison import PushVariation
from io_benchmark.analysis.model.groups import grouped
from io_benchmark.analysis.model.run import Run
from io_benchmark.analysis.model.side import Side
from io_benchmark.analysis.statistics.levels import DEFAULT_PUSH_VARIATION
from io_benchmark.analysis.statistics.variances import ASSUMED_VARIATION_DEGREES, MeanVariance

# The assumed variation counts as much as that of five pushes.
_PRIOR_DEGREES = 4.0
# Parts of a side's workers are sums of fractions, which are known to this.
_NOTHING_UNSHARED = 1e-9


def push_variation(
    candidate: Side,
    baseline: Side,
    earlier: tuple[int, MeanVariance] | None,
    *,
    is_change: bool,
) -> PushVariation | None:
    """Return what is known of the pool; None where every push has the same part of both sides.

    `earlier` is how many earlier pushes there are, and how far their levels differ.

    Results that name no push are of one, or of one before and one after a change. Other CI systems
    may number the jobs of one push apart, so that their numbers count for changes alone.
    """
    sides = [
        _shares(side, name if is_change else None)
        for side, name in ((candidate, "after"), (baseline, "before"))
    ]
    unshared = math.fsum(
        (sides[0].get(group, 0.0) - sides[1].get(group, 0.0)) ** 2
        for group in {*sides[0], *sides[1]}
    )
    if unshared < _NOTHING_UNSHARED:
        return None
    pushes, known = earlier or (0, MeanVariance(DEFAULT_PUSH_VARIATION**2, _PRIOR_DEGREES))
    seen = MeanVariance.pooled([_levels(runs) for runs in (candidate, baseline)])
    combined = known if seen is None else MeanVariance.combined([known, seen])
    degrees = combined.degrees if earlier or seen else ASSUMED_VARIATION_DEGREES
    return PushVariation(math.sqrt(combined.variance), degrees, pushes, unshared)


def variance_of_pushes(pushes: PushVariation) -> MeanVariance:
    """Return what different pushes add to the variance of the ratio's logarithm."""
    return MeanVariance(pushes.unshared * pushes.ratio**2, pushes.degrees)


def _shares(side: Side, unknown: str | None) -> Mapping[str | None, float]:
    """Return which part of a side's workers each push has.

    A machine of two pushes counts half in each.
    """
    shares: dict[str | None, float] = defaultdict(float)
    for runs in side.workers:
        for run in runs:
            task = run.worker.result.task
            group = (task.group if unknown else task.task_group_id) or unknown
            shares[group] += 1 / len(runs) / len(side.workers)
    return shares


def _levels(runs: Iterable[Run]) -> list[float]:
    """Return ln of the level of each push of a side."""
    pushes = grouped(runs, attrgetter("worker.result.task.group")).values()
    return [fmean(math.log(run.mean_ns) for run in push) for push in pushes]
