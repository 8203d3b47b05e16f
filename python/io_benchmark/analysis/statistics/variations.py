# SPDX-License-Identifier: MPL-2.0
"""How far workers of a pool are assumed to differ, where the compared sides do not show it.

One worker shows nothing of how far workers differ, two hardly anything. What is known comes from others:

- of other pools in the same comparison. Pools differ in how far they vary, by 5 % and by 12 % for
  example, so that another pool may vary 2.4 times as much. More workers there do not change that.
- of the same pool in earlier results. Only their number limits what is known, so that the upper limit of
  their variation is used.

The wider of both is used, and 5 % where neither is known. It is never less than 5 %, because workers that
agree by chance do not show that all do.

Three workers and more count together with the past of their pool. A few workers hardly show how far those
of their pool differ. Earlier workers show it better, as long as the pool is what it was. So each side's variance is the mean of both, by their degrees of freedom: the
moderated t of Smyth 2004 (Statistical Applications in Genetics and Molecular Biology 3:3). Where an F test
says that the present varies more than the past, or far less, the past does not count.

Too few workers do not show that their pool varies twice as much as it did. Then more than 5 % of equal
pools would be called different at looks that are declared, which have all of the error. So the past counts
only at assumed looks. tests/simulation/test_looks.py has the rates.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.model.statements import Statement, count, joined, share, statement
from io_benchmark.analysis.model.worker_variation import WorkerVariation
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
# Quantiles of the normal distribution. The interval with the upper limit at 80 % is at least as wide as
# Student's t. With the one at 65 %, the workers that a decision needs are enough in 80 of 100 cases.
_LEAST = "; {least} is the least that counts"
_AT_80_PERCENT, _AT_65_PERCENT = 0.8416, 0.3853


def message_of(ratio: float) -> Statement:
    return statement("{variation} is assumed", variation=share(ratio))


def given(ratio: float) -> WorkerVariation:
    message = statement("{assumed} (--worker-variation)", assumed=message_of(ratio))
    return WorkerVariation(ratio, ratio, "option", message)


def of_history(measured: MeanVariance, workers: int, shown_by: Statement) -> WorkerVariation:
    """Return what earlier workers of the same pool show."""
    ratio = _upper_limit(measured, _AT_80_PERCENT)
    conclusion = f"{_LEAST}."
    if ratio > DEFAULT_WORKER_VARIATION:
        conclusion = ", and so few may vary less than their pool does."
    return replace(_measured(measured, ratio, workers, shown_by, conclusion), source="history")


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
    conclusion = "" if deviation >= DEFAULT_WORKER_VARIATION else _LEAST
    conclusion += ", and another pool may vary {factor} times as much."
    ratio = _POOLS_DIFFER * max(deviation, DEFAULT_WORKER_VARIATION)
    return _measured(measured, ratio, workers, shown_by, conclusion)


def _measured(
    measured: MeanVariance, ratio: float, workers: int, shown_by: Statement, conclusion: str
) -> WorkerVariation:
    deviation, expected = math.sqrt(measured.variance), _upper_limit(measured, _AT_65_PERCENT)
    explanation = statement(
        "{shown_by} vary by {measured}" + conclusion,
        shown_by=shown_by,
        measured=share(deviation),
        factor=str(_POOLS_DIFFER),
        least=share(DEFAULT_WORKER_VARIATION),
    )
    return WorkerVariation(
        ratio,
        expected,
        "pools",
        message_of(ratio),
        explanation,
        deviation,
        workers,
        shown_by,
    )


def of_pair(
    pair: tuple[str, str], sides: Mapping[str, LogMeans], past: Sequence[WorkerVariation] = ()
) -> WorkerVariation:
    """Return what is assumed of a pair of sides, by all sides and by the pair's past."""
    if not any(len(sides[side]) < FEWEST_FOR_VARIATION for side in pair):
        return DEFAULT
    has_single = any(len(sides[side]) == 1 for side in pair)
    # Without a single worker, the pair itself already counts in its interval.
    pools = _of_pools(
        {side: logs for side, logs in sides.items() if has_single or side not in pair}
    )
    measured = [known for known in (pools, *past) if known and known.source != "default"]
    if not measured:
        return next(iter(past), DEFAULT)
    widest = max(measured, key=lambda variation: (variation.ratio, variation.workers))
    # The two sides' variances add up: what a decision needs follows from their mean.
    squares = math.fsum(variation.expected_ratio**2 for variation in measured)
    widest = replace(widest, expected_ratio=math.sqrt(squares / len(measured)))
    if has_single or widest.measured_ratio is None:
        return widest
    # Two workers vary at least as far as the others were seen to, not as far as they may.
    ratio = max(widest.measured_ratio, DEFAULT_WORKER_VARIATION)
    return replace(widest, ratio=ratio, message=message_of(ratio))


DEFAULT = WorkerVariation(
    DEFAULT_WORKER_VARIATION,
    DEFAULT_WORKER_VARIATION,
    "default",
    message_of(DEFAULT_WORKER_VARIATION),
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
        template, assumed=message_of(SINGLE_WORKER_VARIATION), given=share(variation.ratio)
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


def _upper_limit(measured: MeanVariance, normal: float) -> float:
    """Return the upper limit of a standard deviation, but not less than the default.

    The quantile of chi-squared is that of Wilson and Hilferty (1931, PNAS 17:684).
    """
    part = 2 / (9 * measured.degrees)
    quantile = (1 - part - normal * math.sqrt(part)) ** 3
    return max(math.sqrt(measured.variance / quantile), DEFAULT_WORKER_VARIATION)


# Quantiles of the normal distribution: the past counts unless the present varies more than 70 of 100
# would by chance, or less than 95 would.
_MORE, _LESS = 0.524, -1.645
# Of a variance's distribution in pools: the mean square of its relative error is 2 ÷ (degrees − 4).
_LEAST_DEGREES = 4.0


class Prior(Struct, frozen=True):
    """What earlier workers of a pool show."""

    variance: MeanVariance  # of single workers; its degrees are what it counts
    variation: WorkerVariation  # assumed of one or two workers

    @classmethod
    def of_pushes(
        cls, pooled: MeanVariance, pushes: Sequence[LogMeans], variation: WorkerVariation
    ) -> "Prior":
        """Return what a pooled variance counts, if it differs from push to push as seen.

        The moments of the pushes' variances tell how far these differ more than by chance.
        """
        seen = [MeanVariance.of_values(logs) for logs in pushes if len(logs) > 1]
        mean = MeanVariance.combined(seen).variance if seen else 0.0
        errors = (push.degrees / 2 * (push.variance / mean - 1) ** 2 for push in seen if mean)
        excess = math.fsum(errors) - (len(seen) - 1)
        if not mean or excess <= 0:
            return cls(pooled, variation)
        weight = math.fsum(push.degrees / 2 + 1 for push in seen)
        degrees = _LEAST_DEGREES + 2 * weight / excess
        return cls(MeanVariance(pooled.variance, 1 / (1 / pooled.degrees + 1 / degrees)), variation)

    @staticmethod
    def moderate(
        sides: Sequence[LogMeans], priors: "Sequence[Prior | None]"
    ) -> MeanVariance | None:
        """Return the variance of the difference of two sides' means, with what is known of their past.

        Return None where nothing is known, a side has too few workers, or the present contradicts the past.
        """
        if min(map(len, sides)) < FEWEST_FOR_VARIATION:
            return None
        # Two sides of one pool have the same past, whose error is the same for both.
        past: dict[MeanVariance, float] = defaultdict(float)
        parts, relative = [], []
        for logs, prior in zip(sides, priors, strict=True):
            own, share_of_own = MeanVariance.of_values(logs), 1.0
            if prior is not None and prior.variance.variance:
                share_of_own = own.degrees / (own.degrees + prior.variance.degrees)
                past[prior.variance] += (1 - share_of_own) / len(logs)
                relative.append(MeanVariance(own.variance / prior.variance.variance, own.degrees))
            parts.append(MeanVariance(own.variance * share_of_own / len(logs), own.degrees))
        if not relative:
            return None
        present = MeanVariance.combined(relative)
        degrees = math.fsum(before.degrees for before in past)
        if not _LESS <= _normal_of_f(present.variance, present.degrees, degrees) <= _MORE:
            return None
        parts += [
            MeanVariance(before.variance * part, before.degrees) for before, part in past.items()
        ]
        return MeanVariance.of_sum(parts)


def _normal_of_f(ratio: float, degrees: float, past_degrees: float) -> float:
    """Return the quantile of the normal distribution that a ratio of variances corresponds to.

    Paulson 1942, Annals of Mathematical Statistics 13:233.
    """
    root, part, past_part = math.cbrt(ratio), 2 / (9 * degrees), 2 / (9 * past_degrees)
    return ((1 - past_part) * root - (1 - part)) / math.sqrt(past_part * root**2 + part)
