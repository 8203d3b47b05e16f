# SPDX-License-Identifier: MPL-2.0
"""Which machines' tasks fail or get lost more often than the same tasks on the pool's machines.

Failures come in groups: a bad task is retried, and machines differ. So the number of a machine's
failures has a negative binomial distribution, whose variation is that of usual machines.
"""

import math
from typing import NamedTuple

import numpy as np

from io_benchmark.analysis.tasks.machines.machine_runs import (
    COMPLETED,
    Codes,
    Flags,
    Numbers,
    PoolRuns,
    sums_of,
)

_FALSE_DISCOVERIES = 0.05
_LEAST_RATIO = 1.5  # of what is expected
_FEWEST, _FEWEST_BLOCKS = 3, 2  # failures, and blocks of time with one
_LEFT_OUT = 0.1  # machines that differ most do not show how far usual ones do
_LEAST_VARIATION = 0.01


class Failures(NamedTuple):
    """Of each machine: runs that did not complete, expected ones, and whether there are more."""

    counts: Codes
    expected: Numbers
    are_more: Flags


def count_failures(runs: PoolRuns, block: Codes) -> Failures:
    machines, labels = len(runs.machines), len(runs.labels)
    is_failure = (runs.ending != COMPLETED).astype(np.float64)
    label_runs = np.bincount(runs.label, minlength=labels)
    share = sums_of(runs.label, is_failure, labels) / np.maximum(label_runs, 1)
    expected = sums_of(runs.machine, share[runs.label], machines)
    counts = sums_of(runs.machine, is_failure, machines).astype(np.int64)
    blocks = int(block.max()) + 1
    days = sums_of(runs.machine * blocks + block, is_failure, machines * blocks)
    bad_days = (days.reshape(machines, blocks) > 0).sum(axis=1)
    some = expected > 0
    size = 1 / _variation(counts[some], expected[some])
    p_values = np.ones(machines)
    for machine in np.nonzero(some)[0]:
        p_values[machine] = _tail(int(counts[machine]), float(expected[machine]), size)
    order = np.argsort(p_values)
    limits = _FALSE_DISCOVERIES * np.arange(1, machines + 1) / machines
    passed = np.nonzero(p_values[order] <= limits)[0]
    are_more = np.zeros(machines, dtype=np.bool_)
    are_more[order[: passed[-1] + 1 if len(passed) else 0]] = True
    are_more &= (counts >= _FEWEST) & (bad_days >= _FEWEST_BLOCKS)
    return Failures(counts, expected, are_more & (counts > _LEAST_RATIO * expected))


def _variation(counts: Codes, expected: Numbers) -> float:
    """Return how far usual machines' rates of failures vary, squared, by more than chance."""
    excess = (counts - expected) ** 2 - expected
    order = np.argsort(excess / np.maximum(expected, 1e-9))
    usual = order[: len(order) - int(_LEFT_OUT * len(order))]
    squares = float((expected[usual] ** 2).sum())
    return max(_LEAST_VARIATION, float(excess[usual].sum()) / squares if squares else 0.0)


def _tail(count: int, mean: float, size: float) -> float:
    """Return the chance of so many failures or more."""
    start = size * math.log(size / (size + mean)) - math.lgamma(size)
    rate = math.log(mean / (size + mean))
    below = math.fsum(
        math.exp(start + math.lgamma(size + number) - math.lgamma(number + 1) + number * rate)
        for number in range(count)
    )
    return max(0.0, 1 - below)
