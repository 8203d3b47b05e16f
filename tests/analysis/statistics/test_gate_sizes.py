# SPDX-License-Identifier: MPL-2.0
"""The workers that a gate proposes, by margin, variation and measurements."""

import math

import pytest
from scipy import stats

from io_benchmark.analysis.statistics.gate_sizes import (
    MOST_PROPOSED,
    workers_for_margin,
    workers_to_fail,
    workers_to_pass,
)

# By margin and variation: with 1, 3 and 6 measurements.
PROPOSED = {
    (0.05, 0.05): (15, 23, 27),
    (0.05, 0.12): (80, None, None),
    (0.10, 0.01): (5, 5, 5),
    (0.10, 0.05): (5, 7, 8),
    (0.10, 0.08): (10, 16, 19),
    (0.10, 0.12): (22, 34, 41),
    (0.20, 0.12): (7, 10, 12),
}


def test_proposals() -> None:
    """A few workers where these vary little; none where it takes more than a hundred."""
    proposed = {
        (margin, variation): tuple(workers_for_margin(margin, variation, of) for of in (1, 3, 6))
        for margin, variation in PROPOSED
    }
    assert proposed == PROPOSED


@pytest.mark.parametrize(("margin", "variation"), [(0.05, 0.05), (0.1, 0.08), (0.1, 0.12)])
def test_a_proposal_is_enough_and_not_too_much(margin: float, variation: float) -> None:
    """By scipy's non-central t: 82 of 100 equal pools pass, and with two fewer not so many."""
    proposed = workers_for_margin(margin, variation)
    assert proposed is not None

    def chance(workers: int) -> float:
        degrees = 2 * workers - 2
        error = variation * math.sqrt(2 / workers)
        return float(stats.nct.sf(stats.t.ppf(0.95, degrees), degrees, math.log1p(margin) / error))

    assert chance(proposed - 2) < 0.82 <= chance(proposed)


def test_the_nearer_to_the_margin_the_more_workers() -> None:
    """And none decide a ratio that is the margin, or passes what is beyond it."""
    to_pass = [workers_to_pass(0.1, [0.05], [math.log(ratio)]) for ratio in (1.0, 1.05, 1.09)]
    assert to_pass == [5, 16, None]
    to_fail = [workers_to_fail(0.1, 0.05, math.log(ratio), 1) for ratio in (1.11, 1.15, 1.3)]
    assert to_fail == [None, 21, 5]
    assert workers_to_pass(0.1, [0.05], [math.log(1.1)]) is None
    assert workers_to_fail(0.1, 0.05, math.log(1.1), 1) is None
    assert workers_for_margin(0.1, 0.3) is None
    assert MOST_PROPOSED == 100
