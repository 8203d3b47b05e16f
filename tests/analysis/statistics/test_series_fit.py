# SPDX-License-Identifier: MPL-2.0
"""What moves a series: a published result, the regression by hand, and series of a known truth."""

import itertools
import math
from datetime import UTC, datetime
from operator import itemgetter
from typing import Any

import numpy as np
import pytest
from simulated_history import Noise, Values, drift, steps, weekly

from io_benchmark.analysis.statistics.regression import Regression
from io_benchmark.analysis.statistics.series_fit import (
    FEWEST_VALUES,
    SeriesFit,
    _Model,
)

# Annual flow of the Nile at Aswan, 1871 to 1970, in 10^8 m^3 (Durbin and Koopman 2001; R's
# datasets::Nile). Cobb (Biometrika 65, 1978) dates its change to 1898, as do Zeileis et al. (2003)
# and R's changepoint::cpt.mean, which ends the first piece at value 28.
_FLOWS = """
1120 1160 963 1210 1160 1160 813 1230 1370 1140 995 935 1110 994 1020 960 1180 799 958 1140 1100
1210 1150 1250 1260 1220 1030 1100 774 840 874 694 940 833 701 916 692 1020 1050 969 831 726 456
824 702 1120 1100 832 764 821 768 845 864 862 698 845 744 796 1040 759 781 865 845 944 984 897
822 1010 771 676 649 846 812 742 801 1040 860 874 848 890 744 749 838 1050 918 986 797 923 975
815 1020 906 901 1170 912 746 919 718 714 740
"""
NILE = np.array(_FLOWS.split(), dtype=np.float64)


def explained(times: Values, values: Values) -> SeriesFit:
    return SeriesFit.of([datetime.fromtimestamp(time, UTC) for time in times], values)


def steps_of(values: Values) -> list[int]:
    """Return the steps of weekly values."""
    return [step.at for step in explained(weekly(len(values)), values).steps]


def noise(seed: int, count: int, **kind: float) -> Values:
    return Noise(**kind).draw(np.random.default_rng(seed), count)


def test_the_nile() -> None:
    """There is one step, after 1898, and no trend."""
    assert (len(NILE), NILE.sum()) == (100, 91_935)
    times = [datetime(1871 + at, 7, 1, tzinfo=UTC) for at in range(100)]
    result = SeriesFit.of(times, np.log(NILE))
    assert [1871 + step.at for step in result.steps] == [1899]
    assert (result.trend, result.possible) == (None, ())


@pytest.mark.parametrize("seed", range(4))
def test_regression_by_hand(seed: int) -> None:
    """The fit is generalised least squares at the autocorrelation of the highest likelihood."""
    count = 40
    values = noise(seed, count, autocorrelation=0.5)
    columns = np.column_stack([np.ones(count), np.arange(count) >= 15]).astype(np.float64)
    apart = np.abs(np.arange(count)[:, None] - np.arange(count))

    def solve(rho: float) -> tuple[float, Any, Any]:
        """Return the restricted deviance, the coefficients and their covariance."""
        weights = np.linalg.inv(rho**apart)
        squares = columns.T @ weights @ columns
        coefficients = np.linalg.solve(squares, columns.T @ weights @ values)
        left = values - columns @ coefficients
        square = float(left @ weights @ left)
        sizes = np.linalg.slogdet(squares)[1] - np.linalg.slogdet(weights)[1]
        covariance = square / (count - 2) * np.linalg.inv(squares)
        return (count - 2) * math.log(square) + sizes, coefficients, covariance

    rhos = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
    _, coefficients, covariance = min(map(solve, rhos), key=itemgetter(0))
    fitted, its_covariance, degrees = Regression(columns, values).fit()
    assert fitted == pytest.approx(coefficients)
    assert its_covariance == pytest.approx(covariance)
    assert degrees == count - 2


@pytest.mark.parametrize("seed", range(3))
def test_steps(seed: int) -> None:
    """A step of 20 % has its size; six slow weeks among quick ones are two steps."""
    (step,) = explained(weekly(60), noise(seed, 60) + steps(60, (40, 1.2))).steps
    assert abs(step.at - 40) <= 1
    assert step.interval.within(1.1, 1.3)
    assert not step.interval.excludes(1.2)
    assert steps_of(noise(seed, 30) + steps(30, (12, 1.5), (18, 1 / 1.5))) == [12, 18]


def test_levels_of_three() -> None:
    """One outlier is no step, however far it is off; three points at the end are, two are not."""
    for outlier in (0, 7, 14, 29):
        values = noise(1, 30)
        values[outlier] += math.log(10)
        assert steps_of(values) == []
    assert steps_of(noise(1, 30) + steps(30, (27, 1.5))) == [27]
    assert 28 not in steps_of(noise(1, 30) + steps(30, (28, 3)))


def test_the_same_step() -> None:
    """Noise moves a step by three points, not by four."""
    model = _Model(np.arange(20.0), steps=(10,))
    assert [at for at in range(20) if model.has_step(at)] == [7, 8, 9, 10, 11, 12, 13]


@pytest.mark.parametrize(("per_year", "step"), [(0.10, None), (0.25, 70)])
def test_a_trend(per_year: float, step: int | None) -> None:
    """A drift of 10 % per year is a trend whose interval has its size, also with a step in it."""
    times = weekly(104)
    added = steps(104, (step, 1.3)) if step else 0.0
    result = explained(times, noise(1, 104) + drift(times, per_year) + added)
    assert result.trend is not None
    assert not result.trend.interval.excludes(1 + per_year)
    assert [abs(change.at - (step or 0)) <= 1 for change in result.steps] == [True] * bool(step)
    assert step or result.possible == ()


@pytest.mark.parametrize(("days", "is_shown"), [(3.0, False), (13.9, False), (14.1, True)])
def test_a_trend_takes_two_weeks(days: float, is_shown: bool) -> None:
    """Whatever happens within fewer days is no trend, and no error."""
    times = weekly(1)[0] + np.linspace(0, days * 86_400, 30)
    result = explained(times, noise(1, 30) + 0.3 * np.arange(30))
    assert (result.trend is not None, "trend" in result.possible) == (is_shown, not is_shown)


@pytest.mark.parametrize(("days", "possible"), [(182.5, ()), (182.7, ("step", "trend"))])
def test_half_a_year(days: float, possible: tuple[str, ...]) -> None:
    """From then on a trend is shown only where a step is a much worse explanation."""
    times = weekly(1)[0] + np.linspace(0, days * 86_400, 60)
    result = explained(times, noise(4, 60) + drift(times, 0.4))
    assert (result.trend is None, result.possible) == (bool(possible), possible)


def test_the_fewest_values() -> None:
    """No step at any place is found in fewer, however large it is; in as many it is."""
    for count in range(1, FEWEST_VALUES):
        for start in range(count):
            values = [0.001 * number + 10 * (number >= start) for number in range(count)]
            assert steps_of(np.array(values)) == []
    half = FEWEST_VALUES // 2
    assert steps_of(noise(1, 2 * half) + steps(2 * half, (half, 2))) == [half]


@pytest.mark.parametrize("times", [weekly(30), np.full(30, weekly(1)[0])], ids=["weeks", "once"])
def test_all_equal(times: Values) -> None:
    """Values that do not vary, also all at one time, are not an error."""
    assert explained(times, np.full(30, 3.0)) == SeriesFit()


@pytest.mark.parametrize("outlier", [1.0, 2.3])
def test_an_outlier_beside_a_step(outlier: float) -> None:
    """A single point is no level there either, and the step keeps its place and its size."""
    values = noise(1, 40, variation=0.02) + steps(40, (20, 1.1))
    values[5] += outlier
    found = {step.at: step.ratio for step in explained(weekly(40), values).steps}
    assert found[20] == pytest.approx(1.1, rel=0.01)
    assert all(later - earlier >= 3 for earlier, later in itertools.pairwise(found))
