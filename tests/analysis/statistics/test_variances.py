# SPDX-License-Identifier: MPL-2.0
"""Student's t against scipy; variances and degrees of freedom, calculated by hand."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from scipy import special

from io_benchmark.analysis.statistics import variances
from io_benchmark.analysis.statistics.variances import MeanVariance

# Whole degrees of freedom, Satterthwaite's, and both sides of each change of method.
DEGREES = (*map(float, range(1, 31)), *np.geomspace(1, 9e8, 30), 9_999.0, 10_001.0, 2e9, math.inf)
VALUES = (*np.geomspace(1e-6, 1e3, 40), 0.999, 1.0, 1.001)
# Of 90 % and 95 % intervals, and of the first steps of Holm's method with up to thousands of tests.
PROBABILITIES = (0.49, 0.3, 0.1, 0.05, 0.025, 0.0125, 0.001, 1e-6, 1e-9)


def test_students_t_is_scipys() -> None:
    """Probabilities down to 1e-40, and every quantile, to ten digits."""
    for degrees in DEGREES:
        assert variances.tail(0.0, degrees) == 0.5
        normal = degrees > 1e9
        for value in VALUES:
            expected = float(special.ndtr(-value) if normal else special.stdtr(degrees, -value))
            precision = 1e-10 if expected > 1e-40 else 1e-7
            tail = variances.tail(value, degrees)
            assert tail == pytest.approx(expected, rel=precision, abs=1e-300)
        for probability in PROBABILITIES:
            expected = -float(
                special.ndtri(probability) if normal else special.stdtrit(degrees, probability)
            )
            assert variances.quantile(probability, degrees) == pytest.approx(expected, rel=1e-10)
            assert variances.reach(1 - 2 * probability, degrees) == pytest.approx(expected)


@pytest.mark.parametrize("degrees", [1.0, 1.5, 2.0, 3.0, 7.7, 20.0, 88.0, 1234.5])
def test_degrees_are_those_that_give_the_quantile(degrees: float) -> None:
    """The inverse of the quantile, for every probability."""
    for probability in PROBABILITIES:
        inverse = variances._degrees_with(variances.quantile(probability, degrees), probability)
        assert inverse == pytest.approx(degrees, rel=1e-6)


# Student's t at 97.5 %, as every textbook prints it.
T_2, T_NORMAL = 4.303, 1.960
# Their sample variances are 0.01 and 0.005.
THREE_RUNS, TWO_RUNS = (0.0, 0.2, 0.1), (0.0, 0.1)


def numbers(parts: Sequence[MeanVariance]) -> list[float]:
    return [number for part in parts for number in (part.variance, part.degrees)]


@pytest.mark.parametrize(
    ("candidate", "baseline", "expected"),
    [
        pytest.param(THREE_RUNS, TWO_RUNS, [0.01 / 3, 3, 0.01 / 2, 2], id="the-larger-spread"),
        pytest.param(TWO_RUNS, THREE_RUNS, [0.01 / 2, 2, 0.01 / 3, 3], id="of-either-side"),
        pytest.param(THREE_RUNS, (0.0,), [0.01 / 3, 2, 0.01, 2], id="one-run-borrows"),
        pytest.param((0.3,), (0.0,), [], id="no-side-ran-twice"),
    ],
)
def test_repeated_runs(candidate, baseline, expected):
    """A side has its runs less one as degrees, and at most as many again from the other side."""
    parts = MeanVariance.of_repeated_runs(candidate, baseline)
    assert numbers(parts) == pytest.approx(expected)


def test_degrees_of_sums() -> None:
    """Satterthwaite's: (4 + 1)² ÷ (4² ÷ 2 + 1² ÷ 4). Howe's: as wide as each part requires."""
    unknown = [MeanVariance(math.inf, 1), MeanVariance(1, 4)]
    certain = MeanVariance(1, math.inf)
    assert MeanVariance.satterthwaite([MeanVariance(4, 2), MeanVariance(1, 4)]) == 25 / 8.25
    assert MeanVariance.howe([MeanVariance(0.3, 2)]) == pytest.approx(2)
    degrees = MeanVariance.howe([MeanVariance(1, 2), certain])
    expected = math.sqrt((T_2**2 + T_NORMAL**2) / 2)
    assert variances.reach(0.95, degrees) == pytest.approx(expected, abs=5e-4)
    for rule in (MeanVariance.satterthwaite, MeanVariance.howe):
        assert (rule([certain]), rule(unknown)) == (math.inf, 1.0)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((1.0,), [0.05**2, 20]),
        ((1.0, 1.01), [0.05**2, 20]),
        ((1.0, 1.5), [0.125, 1]),
        ((1.0, 1.0, 1.0), [0, 2]),
    ],
)
def test_single_values(values: tuple[float, ...], expected: list[float]) -> None:
    """Few values do not show how far others differ; two count where they differ by more."""
    assert numbers([MeanVariance.of_single(values)]) == pytest.approx(expected)
