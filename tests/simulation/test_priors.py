# SPDX-License-Identifier: MPL-2.0
"""Simulation: what earlier workers of the pools add to a comparison, at looks that are assumed.

The bars: 5 % false calls, also where the past varied half or twice as much as the present; 95 ± 1 %
coverage; a true 10 % is decided with fewer workers than without a past. Workers vary by 5 %, their log
means are drawn from the normal distribution. Each pool has a past of its own.
"""

import math

import numpy as np
import pytest
import simulation
from simulation import VARIATION, Growing, side_of_logs

from io_benchmark.analysis.inference import variations
from io_benchmark.analysis.inference.estimates import WORKERS_AND_PAST, Estimate
from io_benchmark.analysis.inference.looks import Schedule
from io_benchmark.analysis.inference.variations import Prior
from io_benchmark.analysis.variances import MeanVariance

FALSE_CALLS = 0.05
# A worker is added at a time, up to 12 per pool; or as many as the looks have.
ONE_BY_ONE, LOOKS = range(3, 13), (3, 6, 12, 24)
# Workers of each push, and how far the pushes' own variations differ.
Past = tuple[int, int, float]
PASTS: dict[str, Past] = {
    "3-pushes": (3, 1, 0.0),
    "3-pushes-of-3": (3, 3, 0.0),
    "6-pushes": (6, 1, 0.0),
    "12-pushes": (12, 1, 0.0),
    "12-pushes-of-3": (12, 3, 0.0),
    "12-unlike-pushes-of-3": (12, 3, 0.5),
    "40-pushes": (40, 1, 0.0),
    "40-pushes-of-5": (40, 5, 0.0),
}


def prior_of(generator: np.random.Generator, past: Past, variation: float) -> Prior:
    """Return what so many pushes of a pool show."""
    count, workers, differ = past
    spreads = variation * np.exp(differ * generator.normal(size=count) - differ**2)
    pushes = [generator.normal(0, spread, workers).tolist() for spread in spreads]
    pooled = MeanVariance.pooled(pushes)
    if pooled is None:  # one worker each: pushes are compared
        pushes = [[log for push in pushes for log in push]]
        pooled = MeanVariance.of_values(pushes[0])
    return Prior.of_pushes(pooled, pushes, variations.default())


def growing(ratio: float, past: str, variation: float = VARIATION) -> Growing:
    """Two pools, each with a past of its own."""
    return Growing(
        ratio,
        priors=lambda generator: [prior_of(generator, PASTS[past], variation) for _ in range(2)],
    )


@pytest.mark.parametrize("variation", [0.025, 0.05, 0.1], ids=["half", "equal", "twice"])
@pytest.mark.parametrize("past", PASTS)
def test_equal_pools(past, variation, repetitions, tolerance):
    """Whoever adds a worker at a time is told of a difference in 5 of 100 cases at most."""
    pools = growing(1.0, past, variation)
    called = sum(pools.until(ONE_BY_ONE)[0] for _ in range(repetitions))
    assert called / repetitions <= FALSE_CALLS + tolerance


@pytest.mark.parametrize("count", [3, 6, 12])
@pytest.mark.parametrize("past", ["12-pushes", "12-pushes-of-3", "40-pushes"])
def test_coverage(past, count, repetitions, tolerance):
    """The interval at 95 % holds the truth in 95 ± 1 of 100 cases, whether the past counts or not."""
    pools = growing(1.1, past)
    found = [next(iter(pools.estimates([count])))[2] for _ in range(repetitions)]
    covered = sum(not estimate.interval(0.95).excludes(1.1) for estimate in found)
    assert 0.94 - tolerance <= covered / repetitions <= 0.96 + tolerance


@pytest.mark.parametrize(
    ("numbers", "past", "most"),
    [
        pytest.param(range(3, 25), "12-pushes", 6.7, id="one-by-one"),
        pytest.param(range(3, 25), "12-pushes-of-3", 6.5, id="one-by-one-by-three"),
        pytest.param(LOOKS, "12-pushes", 8.9, id="at-looks"),
        pytest.param(LOOKS, "12-pushes-of-3", 8.7, id="at-looks-by-three"),
    ],
)
def test_ten_percent_takes_fewer_workers(numbers, past, most, repetitions):
    """A true 10 % is decided with fewer workers than without a past."""
    pools, alone = growing(1.1, past), Growing(1.1)
    counts = [pools.until(numbers)[1] for _ in range(repetitions)]
    without = [alone.until(numbers)[1] for _ in range(repetitions)]
    error = 3 * float(np.std(counts)) / math.sqrt(repetitions)
    assert np.mean(counts) <= most + error
    assert np.mean(counts) <= np.mean(without) + error


@pytest.mark.parametrize("factor", [0.25, 0.5, 1.0, 2.0, 4.0])
def test_the_past_is_dropped(factor, repetitions):
    """It counts for 6 workers per pool if they vary as it did, and hardly where by four times that."""
    pools = growing(1.0, "40-pushes", VARIATION * factor)
    found = [next(iter(pools.estimates([6])))[2] for _ in range(repetitions)]
    used = sum(estimate.method == WORKERS_AND_PAST for estimate in found) / repetitions
    least, most = {1.0: (0.55, 0.75), 0.5: (0.0, 0.1), 2.0: (0.1, 0.3)}.get(factor, (0.0, 0.01))
    error = 3 * 0.5 / math.sqrt(repetitions)
    assert least - error <= used <= most + error


@pytest.mark.parametrize(
    "look",
    [Schedule((3, 6, 12), is_declared=True).look(6), Schedule((6,), is_declared=True).look(6)],
    ids=["declared", "planned"],
)
def test_declared_looks_do_without(look):
    """They have all of the error, which a past that varied half as much would exceed."""
    generator = np.random.default_rng(2)
    prior = prior_of(generator, PASTS["40-pushes"], VARIATION)
    first, second = (side_of_logs(generator.normal(0, VARIATION, 6)) for _ in range(2))
    known, unknown = (
        Estimate.of_sides(first, second, simulation.ASSUMED, look, priors)
        for priors in ((prior, prior), (None, None))
    )
    assert known == unknown
    assumed = Schedule().look(6)
    assert known != Estimate.of_sides(first, second, simulation.ASSUMED, assumed, (prior, prior))
