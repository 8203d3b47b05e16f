# SPDX-License-Identifier: MPL-2.0
"""Student's t, the normal distribution and what is computed from them, compared with scipy."""

import math

import numpy as np
import pytest
from scipy import special

from io_benchmark.analysis.inference import variances, workers_needed

# Whole degrees of freedom, Satterthwaite's, and both sides of each change of method.
DEGREES = (
    *(float(degrees) for degrees in range(1, 61)),
    *np.geomspace(1, 9e8, 60),
    *(39.999, 40.001, 9_999.0, 10_001.0),
)
VALUES = (*np.geomspace(1e-6, 1e3, 40), 0.999, 1.0, 1.001)
# Of 90 % and 95 % intervals, and of the first steps of Holm's method with up to thousands of tests.
PROBABILITIES = (
    0.49,
    0.3,
    0.1,
    0.05,
    0.025,
    *(0.025 / tests for tests in range(2, 40)),
    1e-6,
    1e-9,
)


@pytest.mark.parametrize("degrees", [pytest.param(one, id=f"{one:g}") for one in DEGREES])
def test_students_t_is_scipys(degrees: float) -> None:
    """Probabilities down to 1e-40, and every quantile, to ten digits."""
    for value in VALUES:
        theirs = float(special.stdtr(degrees, -value))
        ours = variances.tail(value, degrees)
        assert ours == pytest.approx(theirs, rel=1e-10 if theirs > 1e-40 else 1e-7, abs=1e-300)
    for probability in PROBABILITIES:
        theirs = -float(special.stdtrit(degrees, probability))
        assert variances.quantile(probability, degrees) == pytest.approx(theirs, rel=1e-10)


def test_the_middle_is_a_half() -> None:
    """At 0 for every distribution."""
    assert [variances.tail(0.0, degrees) for degrees in (1, 30, 1e6, math.inf)] == [0.5] * 4


@pytest.mark.parametrize(
    "degrees", [pytest.param(2e9, id="many"), pytest.param(math.inf, id="inf")]
)
def test_with_many_degrees_it_is_the_normal_distribution(degrees: float) -> None:
    """Probabilities and quantiles of the standard normal distribution."""
    for value in VALUES:
        theirs = float(special.ndtr(-value))
        assert variances.tail(value, degrees) == pytest.approx(theirs, rel=1e-10, abs=1e-300)
    for probability in PROBABILITIES:
        theirs = -float(special.ndtri(probability))
        assert variances.quantile(probability, degrees) == pytest.approx(theirs, rel=1e-10)


def test_intervals_reach_as_far_as_scipys() -> None:
    """The half width of an interval, in standard errors."""
    for degrees in DEGREES:
        for level in (0.9, 0.95, 0.975, 0.9995):
            theirs = float(special.stdtrit(degrees, 1 - (1 - level) / 2))
            assert variances.reach(level, degrees) == pytest.approx(theirs, rel=1e-10)


@pytest.mark.parametrize("degrees", [1.0, 1.5, 2.0, 3.0, 7.7, 20.0, 88.0, 1234.5])
def test_degrees_are_those_that_give_the_quantile(degrees: float) -> None:
    """The inverse of the quantile, for every probability."""
    for probability in PROBABILITIES:
        value = variances.quantile(probability, degrees)
        found = variances.degrees_with(value, probability)
        assert found == pytest.approx(degrees, rel=1e-7 if probability > 0.1 else 1e-9)
    theirs = float(special.stdtridf(0.975, variances.quantile(0.025, degrees)))
    found = variances.degrees_with(variances.quantile(0.025, degrees), 0.025)
    assert found == pytest.approx(theirs, rel=1e-9)


@pytest.mark.parametrize("workers", [2, 3, 5, 17, 60, 200])
def test_power_is_the_noncentral_ts(workers: int) -> None:
    """The chance that an interval excludes 1."""
    degrees = 2 * workers - 2
    for log_ratio in (0.001, 0.05, 0.2):
        for level in (0.95, 0.9999):
            shift = log_ratio / (0.05 * math.sqrt(2 / workers))
            reach = float(special.stdtrit(degrees, 1 - (1 - level) / 2))
            theirs = 1 - float(special.nctdtr(degrees, shift, reach))
            ours = workers_needed._chance_of_difference(log_ratio, 0.05, level, workers)
            assert ours == pytest.approx(theirs, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("workers", [2, 3, 5, 17, 60, 200])
@pytest.mark.parametrize("log_ratio", [0.0, 0.03, 0.04])
@pytest.mark.parametrize("variation", [0.01, 0.05])
def test_the_chance_of_equivalence_is_the_integral(
    workers: int, log_ratio: float, variation: float
) -> None:
    """Over the quantiles of chi-squared, to three digits."""
    degrees = 2 * workers - 2
    error = variation * math.sqrt(2 / workers)
    reach = float(special.stdtrit(degrees, 0.95))
    middles = (np.arange(20_000) + 0.5) / 20_000
    estimated = error * np.sqrt(special.chdtri(degrees, middles) / degrees)
    room = np.maximum(math.log1p(0.05) - reach * estimated, 0.0)
    inside = special.ndtr((room - log_ratio) / error) - special.ndtr((-room - log_ratio) / error)
    ours = workers_needed._chance_of_equivalence(log_ratio, variation, 0.90, 0.05, workers)
    assert ours == pytest.approx(float(np.mean(inside)), abs=1e-3)
