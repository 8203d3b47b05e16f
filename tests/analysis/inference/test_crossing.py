# SPDX-License-Identifier: MPL-2.0
"""The chance of several looks, against a table and against a finer integration."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from scipy import special

from io_benchmark.analysis.inference.crossing import chance_of_crossing


@pytest.mark.parametrize(
    ("looks", "p_value"),
    [
        pytest.param(1, 0.05, id="one"),
        pytest.param(2, 0.0294, id="two"),
        pytest.param(3, 0.0221, id="three"),
        pytest.param(5, 0.0158, id="five"),
        pytest.param(10, 0.0106, id="ten"),
    ],
)
def test_pococks_levels(looks: int, p_value: float) -> None:
    """Pocock 1977, Biometrika 64:191, table 1: with this level at equal steps the error is 5 %."""
    counts = range(1, looks + 1)
    assert chance_of_crossing(counts, [p_value] * looks) == pytest.approx(0.05, abs=3e-4)


def finely(counts: Sequence[int], p_values: Sequence[float]) -> float:
    """The same chance by 400 points between each two looks, all at once."""
    points, density = np.zeros(1), np.ones(1)
    between, weights = np.polynomial.legendre.leggauss(400)
    before = 0
    for workers, p_value in zip(counts, p_values, strict=True):
        edge = -special.ndtri(p_value / 2) * math.sqrt(workers)
        step = math.sqrt(workers - before)
        distances = (between[:, None] * edge - points[None, :]) / step
        at_points = np.exp(-(distances**2) / 2) @ density / (step * math.sqrt(2 * math.pi))
        points, density, before = between * edge, at_points * weights * edge, workers
    return 1 - float(density.sum())


@pytest.mark.parametrize("p_value", [0.3, 0.01, 1e-4, 1e-5])
@pytest.mark.parametrize(
    "counts", [(2,), (3, 6, 12), (2, 50, 51), (2, 99, 100), (*range(2, 25), *range(26, 100, 3))]
)
def test_few_points_are_enough(counts: Sequence[int], p_value: float) -> None:
    """Looks far apart and close together, from the widest levels to the strictest of many pools."""
    p_values = [p_value, *[p_value / 5] * (len(counts) - 1)]
    expected = finely(counts, p_values)
    assert chance_of_crossing(counts, p_values) == pytest.approx(expected, rel=3e-3, abs=1e-9)
    if p_value >= 0.01:
        assert chance_of_crossing(counts, p_values) == pytest.approx(expected, rel=1e-5)
