# SPDX-License-Identifier: MPL-2.0
"""The chance that any of several looks at growing data finds a difference where there is none.

The data of a look are part of the data of the next, so their tests depend on each other. The chance that
any of them is wrong comes from the distribution of all of them: a sum of normal values that is observed
after each worker, integrated step by step (Armitage, McPherson and Rowe 1969, JRSS A 132:235; Jennison
and Turnbull 2000, chapter 19).
"""

import math
from collections.abc import Sequence
from functools import cache
from itertools import pairwise

import numpy as np

from io_benchmark.analysis.arrays import Numbers
from io_benchmark.analysis.inference.variances import quantile

# The density of the sum is known at points between two looks: so many keep five digits of the chance.
_NODES_PER_DEVIATION, _FEWEST_NODES, _NODES_STEP = 2.8, 4, 8


def chance_of_crossing(counts: Sequence[int], p_values: Sequence[float]) -> float:
    """Return the chance that any look has a smaller two-sided p-value where nothing differs.

    `counts` are the workers at each look, in rising order.
    """
    points, density = np.zeros(1), np.ones(1)  # before the first look the sum is 0
    steps = [after - before for before, after in pairwise((0, *counts))]
    next_steps = [*steps[1:], math.inf]
    looks = zip(counts, p_values, steps, next_steps, strict=True)
    for workers, p_value, step, next_step in looks:
        edge = quantile(p_value / 2, math.inf) * math.sqrt(workers)
        nodes, weights = _nodes(_count_of_nodes(edge / math.sqrt(min(step, next_step))))
        distances = nodes[:, None] * edge - points
        # The density of the sum and a normal value with the variance `step`.
        spread = np.exp(-(distances**2) / (2 * step)) / math.sqrt(2 * math.pi * step)
        points, density = nodes * edge, spread @ density * weights * edge
    return max(0.0, 1 - math.fsum(density))


def _count_of_nodes(deviations: float) -> int:
    """Return how many points are needed between two ends so many standard deviations from 0."""
    needed = _NODES_PER_DEVIATION * deviations + _FEWEST_NODES
    return _NODES_STEP * math.ceil(needed / _NODES_STEP)


@cache
def _nodes(count: int) -> tuple[Numbers, Numbers]:
    """Return the nodes of Gauss and Legendre between -1 and 1, and their weights."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return nodes, weights
