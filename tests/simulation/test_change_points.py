# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Simulation: how often a level that nothing changes is divided, and a step is found.

The bars: 5 % of histories at most, of 10 to 60 points, with heavy tails and with points that hang
together; 90 % of steps of 20 % among 30 points, within a point of where they are.
"""

import math

import numpy as np
import pytest

from io_benchmark.analysis.history.change_points import find

FALSE_CHANGES, FOUND = 0.05, 0.90
WORKER_VARIATION = 0.05
# Until nothing is left of how the series began.
WARM_UP = 20
# A history is a thousand permutations, so that these are repeated less often than other simulations.
PART_OF_REPETITIONS, MOST = 5, 500


def history(
    generator: np.random.Generator, count: int, *, heavy: bool = False, together: float = 0.0
) -> "np.typing.NDArray[np.float64]":
    """Logarithms of points' means: first-order autoregression of normal or t(3) noise."""
    from scipy.signal import lfilter

    drawn = count + WARM_UP
    noise = (
        generator.standard_t(3, drawn) / math.sqrt(3) if heavy else generator.normal(0, 1, drawn)
    )
    series = lfilter([math.sqrt(1 - together**2)], [1.0, -together], noise)
    kept: np.typing.NDArray[np.float64] = WORKER_VARIATION * series[WARM_UP:]
    return kept


@pytest.fixture
def histories(repetitions: int) -> int:
    return min(repetitions // PART_OF_REPETITIONS, MOST)


@pytest.mark.parametrize("together", [0.0, 0.2], ids=["independent", "together"])
@pytest.mark.parametrize("heavy", [False, True], ids=["normal", "heavy-tails"])
@pytest.mark.parametrize("count", [10, 20, 30, 60])
def test_one_level_is_seldom_divided(
    count: int, heavy: bool, together: float, histories: int
) -> None:
    """At most 5 % of histories in which nothing changes have any change."""
    generator = np.random.default_rng(count)
    divided = sum(
        bool(find(history(generator, count, heavy=heavy, together=together)))
        for _ in range(histories)
    )
    error = math.sqrt(FALSE_CHANGES * (1 - FALSE_CHANGES) / histories)
    assert divided / histories <= FALSE_CHANGES + 3 * error


@pytest.mark.parametrize("together", [0.0, 0.2], ids=["independent", "together"])
def test_twenty_percent_are_found(together: float, histories: int) -> None:
    """A step in the middle of 30 points is where it was, give or take one, 90 times of 100."""
    generator = np.random.default_rng(1)
    found = 0
    for _ in range(histories):
        values = history(generator, 30, together=together)
        values[15:] += math.log(1.2)
        found += any(abs(at - 15) <= 1 for at in find(values))
    error = math.sqrt(FOUND * (1 - FOUND) / histories)
    assert found / histories >= FOUND - 3 * error


@pytest.mark.parametrize(
    ("ratio", "points"),
    [pytest.param(1.2, 5, id="20-percent"), pytest.param(1.5, 3, id="50-percent")],
)
def test_a_step_at_the_end(ratio: float, points: int, histories: int) -> None:
    """Of steps with this many of 30 points after them, nine of ten are found, as history.md says."""
    generator = np.random.default_rng(2)
    found = 0
    for _ in range(histories):
        values = history(generator, 30)
        values[-points:] += math.log(ratio)
        found += any(abs(at - (30 - points)) <= 1 for at in find(values))
    error = math.sqrt(FOUND * (1 - FOUND) / histories)
    assert found / histories >= FOUND - 3 * error
