# SPDX-License-Identifier: MPL-2.0
"""How far workers of a pool are assumed to differ, where the compared sides do not show it.

One worker shows nothing of how far workers differ, two hardly anything. What is known comes from
other pools in the same comparison. Pools differ in how far they vary, by 5 % and by 12 % for
example, so that another pool may vary 2.4 times as much. More workers there do not change that.
Without such pools 5 % is assumed. It is never less than 5 %, because workers that agree by chance
do not show that all do.
"""

import math
from collections.abc import Mapping

from msgspec.structs import replace

from io_benchmark.analysis.model.comparison import WorkerVariation
from io_benchmark.analysis.model.statements import Statement, count, joined, share, statement
from io_benchmark.analysis.statistics.levels import (
    DEFAULT_WORKER_VARIATION,
    SINGLE_WORKER_VARIATION,
)
from io_benchmark.analysis.statistics.variances import (
    FEWEST_FOR_VARIATION,
    LogMeans,
    MeanVariance,
)

# How many times as much as other pools the pool of a single worker may vary: 12 % against 5 %.
_POOLS_DIFFER = 2.4
# The quantile of the normal distribution at 65 %. With the upper limit of the variation at 65 %,
# the workers that a decision needs are enough in 80 of 100 cases.
_NORMAL_AT_65_PERCENT = 0.3853


def given(ratio: float) -> WorkerVariation:
    """Return what a user says by --worker-variation."""
    message = statement("{assumed} (--worker-variation)", assumed=_is_assumed(ratio))
    return WorkerVariation(ratio, ratio, "option", message)


def _is_assumed(ratio: float) -> Statement:
    """Say which variation is assumed."""
    return statement("{variation} is assumed", variation=share(ratio))


def _of_pools(pools: Mapping[str, LogMeans]) -> WorkerVariation | None:
    """Return what other pools of a comparison show; None if each has one worker."""
    several = {pool: logs for pool, logs in pools.items() if len(logs) > 1}
    measured = MeanVariance.pooled(list(several.values()))
    if measured is None:
        return None
    workers = sum(map(len, several.values()))
    shown_by = statement(
        "{workers} workers of {pools}", workers=count(workers), pools=joined(sorted(several))
    )
    deviation = math.sqrt(measured.variance)
    template = "{shown_by} vary by {measured}"
    if deviation < DEFAULT_WORKER_VARIATION:
        template += "; {least} is the least that counts"
    template += ", and another pool may vary {factor} times as much."
    explanation = statement(
        template,
        shown_by=shown_by,
        measured=share(deviation),
        factor=str(_POOLS_DIFFER),
        least=share(DEFAULT_WORKER_VARIATION),
    )
    ratio = _POOLS_DIFFER * max(deviation, DEFAULT_WORKER_VARIATION)
    return WorkerVariation(
        ratio=ratio,
        expected_ratio=_upper_limit(measured),
        source="pools",
        message=_is_assumed(ratio),
        explanation=explanation,
        measured_ratio=deviation,
        workers=workers,
        shown_by=shown_by,
    )


def of_pair(pair: tuple[str, str], sides: Mapping[str, LogMeans]) -> WorkerVariation:
    """Return what is assumed of the workers of a pair of sides, by all sides of a measurement."""
    fewest = min(len(sides[side]) for side in pair)
    if fewest >= FEWEST_FOR_VARIATION:
        return DEFAULT
    has_single = fewest == 1
    # Without a single worker, the pair itself already counts in its interval.
    pools = _of_pools(
        {side: logs for side, logs in sides.items() if has_single or side not in pair}
    )
    if pools is None:
        return DEFAULT
    if has_single or pools.measured_ratio is None:
        return pools
    # Two workers vary at least as far as the others were seen to, not as far as they may.
    ratio = max(pools.measured_ratio, DEFAULT_WORKER_VARIATION)
    return replace(pools, ratio=ratio, message=_is_assumed(ratio))


DEFAULT = WorkerVariation(
    ratio=DEFAULT_WORKER_VARIATION,
    expected_ratio=DEFAULT_WORKER_VARIATION,
    source="default",
    message=_is_assumed(DEFAULT_WORKER_VARIATION),
)


def of_single_worker(variation: WorkerVariation) -> WorkerVariation:
    """Return what is assumed where a side has a single worker: more than of usual ones."""
    if variation.ratio >= SINGLE_WORKER_VARIATION:
        return variation
    template = "{assumed}"
    if variation.source != "default":
        template += ", the least for a single worker"
    if variation.source == "option":
        template += " (--worker-variation is {given})"
    message = statement(
        template, assumed=_is_assumed(SINGLE_WORKER_VARIATION), given=share(variation.ratio)
    )
    single = replace(
        variation, ratio=SINGLE_WORKER_VARIATION, message=message, usual_ratio=variation.ratio
    )
    if variation.shown_by is None or variation.measured_ratio is None:
        return single
    explanation = statement(
        "{shown_by} vary by {measured}.",
        shown_by=variation.shown_by,
        measured=share(variation.measured_ratio),
    )
    return replace(single, explanation=explanation, shown_by=None)


def _upper_limit(measured: MeanVariance) -> float:
    """Return the upper limit of a standard deviation at 65 %, but not less than the default.

    The quantile of chi-squared is that of Wilson and Hilferty (1931, PNAS 17:684).
    """
    part = 2 / (9 * measured.degrees)
    quantile = (1 - part - _NORMAL_AT_65_PERCENT * math.sqrt(part)) ** 3
    return max(math.sqrt(measured.variance / quantile), DEFAULT_WORKER_VARIATION)
