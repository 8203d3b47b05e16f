# SPDX-License-Identifier: MPL-2.0
"""Simulation: sides with one or two workers, and how far their pools are assumed to vary.

The bars: 5 % false calls, coverage of 93 %, and 80 % of the decisions that are promised where the
variation is known. Log means are drawn from the normal distribution.
"""

import math
from collections.abc import Sequence

import numpy as np
import pytest
import simulation

from io_benchmark.analysis.inference.comparisons import judge
from io_benchmark.analysis.inference.estimates import Estimate, SideData
from io_benchmark.analysis.inference.looks import SINGLE
from io_benchmark.analysis.inference.worker_variation import WorkerVariation
from io_benchmark.analysis.model import DIFFERENT

FALSE_CALLS, COVERAGE = 0.05, 0.93
NANOSECONDS = 1_000_000
NOTHING = simulation.entry(np.full(40, NANOSECONDS))
PAIR = ("pool 0", "pool 1")
# There are many cases.
MOST_REPETITIONS = 2000

Groups = Sequence[tuple[int, float]]  # workers and variation of each pool


@pytest.fixture
def draws(repetitions: int) -> int:
    return min(repetitions, MOST_REPETITIONS)


@pytest.fixture
def error(draws: int) -> float:
    """Three standard errors of a rate near 5 %."""
    return 3 * math.sqrt(0.05 * 0.95 / draws)


class Pools:
    """Equal pools, the first two of which are compared."""

    def __init__(self, groups: Groups) -> None:
        self._generator = np.random.default_rng(1)
        self._groups = groups
        self.called = self.covered = 0

    def draw(self) -> None:
        """Draw the workers of all pools, and compare the first two."""
        logs = {
            f"pool {number}": tuple(self._generator.normal(0, variation, workers).tolist())
            for number, (workers, variation) in enumerate(self._groups)
        }
        variation = WorkerVariation.of_pair(PAIR, logs)
        candidate, baseline = (_side(logs[name]) for name in PAIR)
        estimate = Estimate.of_sides(candidate, baseline, variation.ratio)
        (judgement,) = judge([estimate], [SINGLE], simulation.MARGIN)
        self.called += judgement.verdict in DIFFERENT
        self.covered += not estimate.interval(0.95).excludes(1.0)


def _side(logs: Sequence[float]) -> SideData:
    """Workers whose retrieves all take the same time; only of a single one the times are compared."""
    if len(logs) > 1:
        return SideData(tuple(logs), ((NOTHING,),) * len(logs))
    times = np.full(40, NANOSECONDS * math.exp(logs[0]))
    return SideData(tuple(logs), ((simulation.entry(times),),))


@pytest.mark.parametrize(
    "groups",
    [
        pytest.param([(1, 0.12), (5, 0.05)], id="noisy-one-against-five"),
        pytest.param([(1, 0.05), (5, 0.05)], id="one-against-five"),
        pytest.param([(1, 0.12), (5, 0.12)], id="noisy-pools"),
        pytest.param([(1, 0.12), (2, 0.05)], id="noisy-one-against-two"),
        pytest.param([(1, 0.12), (2, 0.12)], id="noisy-one-against-noisy-two"),
        pytest.param([(1, 0.12), (3, 0.12)], id="noisy-one-against-noisy-three"),
        pytest.param([(1, 0.12), (20, 0.05)], id="noisy-one-against-twenty"),
        pytest.param([(1, 0.12), (5, 0.05), (5, 0.05)], id="one-of-three-pools"),
        pytest.param([(1, 0.12), (1, 0.12), (5, 0.05)], id="two-of-three-pools"),
        pytest.param([(1, 0.12), (1, 0.12), (5, 0.12)], id="two-of-three-noisy-pools"),
        pytest.param([(1, 0.10), (1, 0.10), (2, 0.10)], id="one-each-and-two"),
        pytest.param([(2, 0.05), (10, 0.05)], id="two-against-ten"),
        pytest.param([(2, 0.05), (2, 0.05), (10, 0.05)], id="two-each-and-ten"),
    ],
)
def test_other_pools_are_known(groups, draws, error):
    """The interval covers the truth also if the single worker's pool varies more than the others."""
    pools = Pools(groups)
    for _ in range(draws):
        pools.draw()
    assert pools.called / draws <= FALSE_CALLS + error
    assert pools.covered / draws >= COVERAGE - error
