# SPDX-License-Identifier: MPL-2.0
"""How far workers differ, by those that are compared and by earlier ones of their pools together.

A few workers hardly show how far those of their pool differ. Earlier workers show it better, as long as
the pool is what it was. So each side's variance is the mean of both, by their degrees of freedom: the
moderated t of Smyth 2004 (Statistical Applications in Genetics and Molecular Biology 3:3). Where an F test
says that the present varies more than the past, or far less, the past does not count.

Too few workers do not show that their pool varies twice as much as it did. Then more than 5 % of equal
pools would be called different at looks that are declared, which have all of the error. So the past counts
only at assumed looks. tests/simulation/test_priors.py has the rates.
"""

import math
from collections.abc import Sequence

from msgspec import Struct

from io_benchmark.analysis.model import WorkerVariation
from io_benchmark.analysis.statements import joined, share, statement
from io_benchmark.analysis.variances import FEWEST_FOR_VARIATION, LogMeans, MeanVariance

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
        if not mean:
            return cls(pooled, variation)
        squares = math.fsum(push.degrees / 2 * (push.variance / mean - 1) ** 2 for push in seen)
        excess = squares - (len(seen) - 1)
        if excess <= 0:
            return cls(pooled, variation)
        weight = math.fsum(push.degrees / 2 + 1 for push in seen)
        degrees = _LEAST_DEGREES + 2 * weight / excess
        return cls(MeanVariance(pooled.variance, 1 / (1 / pooled.degrees + 1 / degrees)), variation)


def moderated(sides: Sequence[LogMeans], priors: Sequence[Prior | None]) -> MeanVariance | None:
    """Return the variance of the difference of two sides' means, with what is known of their past.

    Return None where nothing is known, a side has too few workers, or the present contradicts the past.
    """
    known = [prior.variance for prior in priors if prior is not None and prior.variance.variance]
    if not known or min(map(len, sides)) < FEWEST_FOR_VARIATION:
        return None
    past: dict[MeanVariance, float] = {}
    parts, seen = [], []
    for logs, prior in zip(sides, priors, strict=True):
        own = MeanVariance.of_values(logs)
        weight = 1 / len(logs)
        if prior is not None and prior.variance in known:
            before = prior.variance
            total = own.degrees + before.degrees
            past[before] = past.get(before, 0.0) + before.degrees / total / len(logs)
            weight *= own.degrees / total
            seen.append(MeanVariance(own.variance / before.variance, own.degrees))
        parts.append(MeanVariance(own.variance * weight, own.degrees))
    present = MeanVariance.combined(seen)
    degrees = math.fsum(before.degrees for before in past)
    if not _LESS <= _normal_of_f(present.variance, present.degrees, degrees) <= _MORE:
        return None
    # Two sides of one pool have the same past, whose error is the same for both.
    parts += [
        MeanVariance(before.variance * weight, before.degrees) for before, weight in past.items()
    ]
    return MeanVariance.of_sum(parts)


def shown_by_past(priors: Sequence[Prior | None]) -> WorkerVariation:
    """Return what the past of two sides shows together."""
    known = [*dict.fromkeys(prior for prior in priors if prior is not None)]
    ratio = math.sqrt(math.fsum(prior.variance.variance for prior in known) / len(known))
    return WorkerVariation(
        ratio,
        ratio,
        "history",
        statement("earlier workers vary by {variation}", variation=share(ratio)),
        None,
        ratio,
        sum(prior.variation.workers for prior in known),
        joined([prior.variation.shown_by for prior in known if prior.variation.shown_by], " and "),
    )


def _normal_of_f(ratio: float, degrees: float, past_degrees: float) -> float:
    """Return the quantile of the normal distribution that a ratio of variances corresponds to.

    Paulson 1942, Annals of Mathematical Statistics 13:233.
    """
    root, part, past_part = math.cbrt(ratio), 2 / (9 * degrees), 2 / (9 * past_degrees)
    return ((1 - past_part) * root - (1 - part)) / math.sqrt(past_part * root**2 + part)
