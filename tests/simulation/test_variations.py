# SPDX-License-Identifier: MPL-2.0
"""Simulation: sides with one or two workers, and how far their pools and pushes are assumed to vary.

The bars: 5 % false calls and a coverage of 93 %. Log means are drawn from the normal distribution.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
import simulation

from io_benchmark.analysis.inference import variations
from io_benchmark.analysis.inference.comparisons import judge
from io_benchmark.analysis.inference.estimates import Estimate
from io_benchmark.analysis.inference.looks import SINGLE
from io_benchmark.analysis.inference.variations import PushVariation
from io_benchmark.analysis.model import DIFFERENT, WorkerVariation
from io_benchmark.analysis.observed.sides import SideData
from io_benchmark.analysis.statements import statement
from io_benchmark.analysis.variances import ASSUMED_VARIATION_DEGREES, MeanVariance

FALSE_CALLS, COVERAGE = 0.05, 0.93
NANOSECONDS = 1_000_000
NOTHING = simulation.entry(np.full(40, NANOSECONDS))
PAIR = ("pool 0", "pool 1")
MOST_REPETITIONS = 2000  # there are many cases

Groups = Sequence[tuple[int, float]]  # workers and variation of each pool


@pytest.fixture
def draws(repetitions: int) -> int:
    return min(repetitions, MOST_REPETITIONS)


def assert_bars(
    groups: Groups, draws: int, past: Callable[[], Sequence[WorkerVariation]] = tuple
) -> None:
    """Compare the first two of equal pools so often, within three standard errors of a rate near 5 %."""
    generator = np.random.default_rng(1)
    called = covered = 0
    for _ in range(draws):
        logs = {
            f"pool {number}": tuple(generator.normal(0, variation, workers).tolist())
            for number, (workers, variation) in enumerate(groups)
        }
        variation = variations.of_pair(PAIR, logs, past())
        candidate, baseline = (_side(logs[name]) for name in PAIR)
        estimate = Estimate.of_sides(candidate, baseline, variation.ratio)
        (judgement,) = judge([estimate], [SINGLE], simulation.MARGIN)
        called += judgement.verdict in DIFFERENT
        covered += not estimate.interval(0.95).excludes(1.0)
    error = 3 * math.sqrt(0.05 * 0.95 / draws)
    assert called / draws <= FALSE_CALLS + error
    assert covered / draws >= COVERAGE - error


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
        pytest.param([(1, 0.12), (2, 0.12)], id="noisy-one-against-noisy-two"),
        pytest.param([(1, 0.12), (1, 0.12), (5, 0.05)], id="two-of-three-pools"),
        pytest.param([(2, 0.05), (2, 0.05), (10, 0.05)], id="two-each-and-ten"),
    ],
)
def test_other_pools_are_known(groups, draws):
    """The interval covers the truth also if the single worker's pool varies more than the others."""
    assert_bars(groups, draws)


@pytest.mark.parametrize("workers", [3, 5, 10, 30])
@pytest.mark.parametrize(
    "groups",
    [
        pytest.param([(1, 0.12), (1, 0.12)], id="one-each"),
        pytest.param([(1, 0.12), (5, 0.05)], id="one-against-five"),
        pytest.param([(2, 0.12), (3, 0.05)], id="noisy-two-against-three"),
    ],
)
def test_earlier_workers_are_known(groups, workers, draws):
    """By the past of the pools, without changes from day to day, however few workers it has."""
    generator, degrees = np.random.default_rng(workers), workers - 1

    def past() -> list[WorkerVariation]:
        seen = [
            MeanVariance(variation**2 * generator.chisquare(degrees) / degrees, float(degrees))
            for count, variation in groups
            if count <= 2
        ]
        return [variations.of_history(each, workers, statement("earlier")) for each in seen]

    assert_bars(groups, draws, past)


WORKERS = 6


@pytest.mark.parametrize(
    ("day", "past"),
    [
        (0.0, 0),
        (0.03, 0),
        (0.05, 0),
        (0.03, 3),
        (0.05, 3),
        (0.03, 12),
        (0.05, 12),
        (0.08, 12),
        (0.05, 40),
    ],
)
def test_a_day_is_no_change(day, past, repetitions, tolerance):
    """Of equal pools, six workers before and six after are called different in 5 of 100 at most.

    By their workers alone it would be 24 and 42 of 100, by a history of 12 pushes 8.
    """
    generator = np.random.default_rng(1)
    called = 0
    for _ in range(repetitions):
        workers = simulation.ASSUMED * generator.normal(size=(2, WORKERS))
        levels = day * generator.normal(size=(2, 1))
        after, before = (SideData(tuple(logs), ()) for logs in (workers + levels).tolist())
        known, degrees = MeanVariance(0.05**2, 4.0), ASSUMED_VARIATION_DEGREES
        if past:
            errors = math.hypot(day, simulation.ASSUMED / math.sqrt(WORKERS))
            known = MeanVariance.of_values((errors * generator.normal(size=past)).tolist())
            degrees = known.degrees
        pushes = PushVariation(math.sqrt(known.variance), degrees, past, 2.0)
        estimate = Estimate.of_sides(after, before, simulation.ASSUMED)
        (judgement,) = judge([estimate.with_further(pushes.variance)], [SINGLE], 0.05)
        called += judgement.verdict in DIFFERENT
    assert called / repetitions <= FALSE_CALLS + tolerance
