# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""How strict each look must be, so that all looks together keep one level.

The data of a look are part of the data of the next, so their tests depend on each other. The chance that
any of them is wrong comes from the distribution of all of them: a sum of normal values that is observed
after each worker, integrated step by step (Armitage, McPherson and Rowe 1969, JRSS A 132:235; Jennison
and Turnbull 2000, chapter 19). The levels are applied to p-values of Student's t, which keeps the error
also with few workers (the same, chapter 4.4; tests/simulation shows it).
"""

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from io_benchmark.analysis.inference.distributions import quantile

# Points at which the density of the sum is known between two looks.
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(64)
_CLOSE = 1e-3


def chance_of_crossing(counts: Sequence[int], p_values: Sequence[float]) -> float:
    """Return the chance that any look has a smaller two-sided p-value where nothing differs.

    `counts` are the workers at each look, in rising order.
    """
    remaining = 1.0
    points, density = np.zeros(1), np.ones(1)  # before the first look the sum is 0
    before = 0
    for count, p_value in zip(counts, p_values, strict=True):
        edge = quantile(p_value / 2, math.inf) * math.sqrt(count)
        nodes = _NODES * edge
        step = math.sqrt(count - before)
        distances = (nodes[:, None] - points[None, :]) / step
        at_nodes = np.exp(-(distances**2) / 2) @ density / (step * math.sqrt(2 * math.pi))
        points, density, before = nodes, at_nodes * _WEIGHTS * edge, count
        remaining = float(density.sum())
    return max(0.0, 1.0 - remaining)


@lru_cache(maxsize=64)
def common_factor(
    counts: tuple[int, ...], shares: tuple[float, ...], alpha: float, least: float
) -> float:
    """Return the factor with which the looks' shares are p-values that keep `alpha` together.

    No look has a p-value below `least`, whatever its share is.
    """
    factor, chance = alpha, 0.0
    # The chance of all looks grows nearly in proportion.
    while abs(chance / alpha - 1) > _CLOSE:
        p_values = [max(share * factor, least) for share in shares]
        chance = chance_of_crossing(counts, p_values)
        factor *= alpha / chance
    return factor
