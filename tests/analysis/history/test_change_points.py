# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Change points: a published result, the formula read literally, and series without a change."""

import itertools
import math

import numpy as np
import pytest

from io_benchmark.analysis.history import change_points
from io_benchmark.analysis.history.change_points import (
    FEWEST_VALUES,
    SMALLEST_PIECE,
    find,
)

# Annual flow of the Nile at Aswan, 1871 to 1970, in 10^8 m^3 (Durbin and Koopman 2001; R's
# datasets::Nile). Cobb (Biometrika 65, 1978) dates its change to 1898, as do Zeileis et al. (2003)
# and R's changepoint::cpt.mean, which ends the first piece at value 28.
NILE = np.array(
    [
        *(1120, 1160, 963, 1210, 1160, 1160, 813, 1230, 1370, 1140, 995, 935, 1110, 994, 1020, 960),
        *(1180, 799, 958, 1140, 1100, 1210, 1150, 1250, 1260, 1220, 1030, 1100, 774, 840, 874, 694),
        *(940, 833, 701, 916, 692, 1020, 1050, 969, 831, 726, 456, 824, 702, 1120, 1100, 832, 764),
        *(
            821,
            768,
            845,
            864,
            862,
            698,
            845,
            744,
            796,
            1040,
            759,
            781,
            865,
            845,
            944,
            984,
            897,
            822,
        ),
        *(1010, 771, 676, 649, 846, 812, 742, 801, 1040, 860, 874, 848, 890, 744, 749, 838, 1050),
        *(918, 986, 797, 923, 975, 815, 1020, 906, 901, 1170, 912, 746, 919, 718, 714, 740),
    ],
    dtype=np.float64,
)


def test_the_nile() -> None:
    """There is one change, after 1898, and no permutation comes near it."""
    assert (len(NILE), NILE.sum()) == (100, 91_935)
    assert find(NILE) == {28: 1 / 1000}
    assert [1871 + at for at in find(NILE)] == [1899]


def literal_q(x: list[float], y: list[float]) -> float:
    """Matteson and James, equations (5) and (6) with alpha = 1, pair by pair."""
    m, n = len(x), len(y)
    across = sum(abs(one - other) for one in x for other in y)
    within_x = sum(abs(one - other) for one, other in itertools.combinations(x, 2))
    within_y = sum(abs(one - other) for one, other in itertools.combinations(y, 2))
    energy = 2 / (m * n) * across - within_x / math.comb(m, 2) - within_y / math.comb(n, 2)
    return m * n / (m + n) * energy


@pytest.mark.parametrize("count", [4, 5, 9, 16])
@pytest.mark.parametrize("seed", range(5))
def test_the_formula(count: int, seed: int) -> None:
    """The best division is that of the formula, over every beginning and every end of Y."""
    values = np.random.default_rng(seed).standard_t(3, count)
    listed = values.tolist()
    q, place = max(
        (literal_q(listed[:at], listed[at:end]), at)
        for at in range(SMALLEST_PIECE, count)
        for end in range(at + SMALLEST_PIECE, count + 1)
    )
    found = change_points._best_division(values)
    assert found is not None
    assert found.at == place
    assert found.q == pytest.approx(q)


def noise(seed: int, count: int) -> "np.typing.NDArray[np.float64]":
    return np.random.default_rng(seed).normal(0, 0.05, count)


def stepped(seed: int, *pieces: tuple[int, float]) -> "np.typing.NDArray[np.float64]":
    """Logarithms with 5 % of noise: so many values, so many times as slow."""
    levels = np.concatenate([np.full(count, math.log(ratio)) for count, ratio in pieces])
    return levels + noise(seed, len(levels))


def test_twenty_percent_in_the_middle() -> None:
    """One change, within a point of where it was, in 9 histories of 10 or more."""
    found = [find(stepped(seed, (15, 1), (15, 1.2))) for seed in range(20)]
    assert sum([abs(at - 15) <= 1 for at in changes] == [True] for changes in found) >= 18


@pytest.mark.parametrize("count", [100, 160])
def test_a_long_history(count: int) -> None:
    """A step is found among many values too: no test is sharper than its permutations are many."""
    found = find(stepped(1, (count - 40, 1), (40, 1.2)))
    assert [abs(at - (count - 40)) <= 1 for at in found] == [True]


@pytest.mark.parametrize("seed", range(5))
def test_what_goes_again(seed: int) -> None:
    """Six slow weeks among quick ones are two changes."""
    found = find(stepped(seed, (12, 1), (6, 1.5), (12, 1)))
    assert list(found) == [12, 18]


@pytest.mark.parametrize("seed", range(5))
def test_a_step_at_the_very_end(seed: int) -> None:
    """Three points of 30 are enough for a step of 50 %, two are not for any."""
    assert list(find(stepped(seed, (27, 1), (3, 1.5)))) == [27]
    assert list(find(stepped(seed, (28, 1), (2, 3))).items())[-1:] in ([], [(28, 0.005)])


@pytest.mark.parametrize("at", [0, 7, 14, 29])
def test_one_outlier_is_no_change(at: int) -> None:
    """However far it is off: a level has two values or more."""
    values = noise(1, 30)
    values[at] += math.log(10)
    assert find(values) == {}


@pytest.mark.parametrize("count", [10, 20, 40])
def test_nothing_changes(count: int) -> None:
    """Of 20 histories of one level, at most one is divided; tests/simulation has the rate."""
    assert sum(bool(find(noise(seed, count))) for seed in range(20)) <= 1


@pytest.mark.parametrize("count", range(FEWEST_VALUES))
def test_too_few(count: int) -> None:
    """No step at any place is found in so few values, however large it is."""
    for at in range(count):
        assert find(np.array([0.001 * one + 10 * (one >= at) for one in range(count)])) == {}


def test_enough() -> None:
    """The fewest values that a step is found in."""
    half = FEWEST_VALUES // 2
    assert list(find(stepped(1, (half, 1), (half, 2)))) == [half]


@pytest.mark.parametrize(
    "values",
    [
        pytest.param([], id="none"),
        pytest.param([1.0], id="one"),
        pytest.param([3.0] * 30, id="all-equal"),
    ],
)
def test_edges(values: list[float]) -> None:
    """Too few values to divide are not an error."""
    assert find(np.array(values, dtype=np.float64)) == {}


def test_exact_levels() -> None:
    """Without any noise, the place is exact."""
    values = np.array([1.0] * 10 + [2.0] * 10)
    assert list(find(values)) == [10]


def test_the_same_values_give_the_same_changes() -> None:
    """The permutations are the same each time; the scale and the direction do not matter."""
    values = stepped(7, (12, 1), (9, 1.25), (9, 0.9))
    first = find(values)
    assert first == find(values.copy())
    assert list(first) == list(find(-1000 * values))
