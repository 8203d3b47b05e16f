# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The chance that any of several looks at growing data finds a difference where there is none.

The data of a look are part of the data of the next, so their tests depend on each other. The chance that
any of them is wrong comes from the distribution of all of them: a sum of normal values that is observed
after each worker, integrated step by step (Armitage, McPherson and Rowe 1969, JRSS A 132:235; Jennison
and Turnbull 2000, chapter 19).
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import cache
from itertools import pairwise

from io_benchmark.analysis.inference.distributions import quantile

# The density of the sum is known at points between two looks: so many keep five digits of the chance.
_NODES_PER_DEVIATION, _FEWEST_NODES, _NODES_STEP = 2.8, 4, 8
# Less than a 1e-10th of a step is larger than this.
_FAR_DEVIATIONS = 7.0
_LAST_CHANGE = 1e-14  # in the search for a node


def chance_of_crossing(counts: Sequence[int], p_values: Sequence[float]) -> float:
    """Return the chance that any look has a smaller two-sided p-value where nothing differs.

    `counts` are the workers at each look, in rising order.
    """
    points, density = [0.0], [1.0]  # before the first look the sum is 0
    steps = [after - before for before, after in pairwise((0, *counts))]
    following = [*steps[1:], math.inf]
    looks = zip(counts, p_values, steps, following, strict=True)
    for workers, p_value, step, next_step in looks:
        edge = quantile(p_value / 2, math.inf) * math.sqrt(workers)
        nodes, weights = _nodes(_count_of_nodes(edge / math.sqrt(min(step, next_step))))
        reached = [node * edge for node in nodes]
        # Nothing differs: the density below 0 is the mirror image of the one above.
        above = _density_after(step, reached[len(reached) // 2 :], points, density)
        at_reached = [*reversed(above), *above]
        density = [at * weight * edge for at, weight in zip(at_reached, weights, strict=True)]
        points = reached
    return max(0.0, 1 - math.fsum(density))


def _count_of_nodes(deviations: float) -> int:
    """Return how many points are needed between two ends so many standard deviations from 0."""
    needed = _NODES_PER_DEVIATION * deviations + _FEWEST_NODES
    return _NODES_STEP * math.ceil(needed / _NODES_STEP)


@cache
def _nodes(count: int) -> tuple[list[float], list[float]]:
    """Return the nodes of Gauss and Legendre between -1 and 1, and their weights."""
    nodes, weights = [], []
    for number in range(count):
        node, change = -math.cos(math.pi * (number + 0.75) / (count + 0.5)), 1.0
        while abs(change) > _LAST_CHANGE:
            value, slope = _legendre(count, node)
            change = value / slope
            node -= change
        nodes.append(node)
        weights.append(2 / ((1 - node * node) * slope * slope))
    return nodes, weights


def _legendre(degree: int, at: float) -> tuple[float, float]:
    """Return the value and the slope of a Legendre polynomial."""
    before, value = 0.0, 1.0
    for known in range(degree):
        following = ((2 * known + 1) * at * value - known * before) / (known + 1)
        before, value = value, following
    return value, degree * (before - at * value) / (1 - at * at)


def _density_after(
    step: int, reached: Sequence[float], points: Sequence[float], density: Sequence[float]
) -> list[float]:
    """Return the density of a sum and a normal value with the variance `step`, where it is `reached`.

    `density` is that of the sum at each of its points, times the point's weight.
    """
    scale = 1 / math.sqrt(2 * math.pi * step)
    half = 1 / (2 * step)
    far = _FAR_DEVIATIONS * math.sqrt(step)
    found = []
    for at in reached:
        near = slice(bisect_left(points, at - far), bisect_right(points, at + far))
        parts = [
            part * math.exp((at - point) * (point - at) * half)
            for part, point in zip(density[near], points[near], strict=True)
        ]
        found.append(scale * math.fsum(parts))
    return found
