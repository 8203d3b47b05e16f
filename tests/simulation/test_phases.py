# SPDX-License-Identifier: MPL-2.0
"""Simulation of phases: the one that differs is named, and none where pools are alike."""

from dataclasses import replace

import numpy as np
import pytest
from simulated_phases import PhasedPools

from io_benchmark.analysis.phases.phase_model import PhaseName
from io_benchmark.analysis.tasks.difference_model import PhaseDifference, Reason
from io_benchmark.analysis.tasks.phase_differences import compare_phases

FALSE_CALLS, RIGHT = 0.05, 0.95
MOST = 400
WORKERS = (3, 4, 6, 8, 12)
VARIATIONS = (0.10, 0.15, 0.20)
SLOWER = (PhaseName.IMAGE_LOAD, PhaseName.DOWNLOAD, PhaseName.UNPACK)
EQUAL = {
    "two workers": PhasedPools((2, 2)),
    "three workers": PhasedPools((3, 3)),
    "three against eight": PhasedPools((3, 8)),
    "twelve workers": PhasedPools((12, 12)),
    "like mixes": PhasedPools((6, 6), evenness=20),
    "very noisy runs": PhasedPools((6, 6), noise=0.3),
    "no caches": PhasedPools((4, 4), cached=(0.0, 0.0)),
    "one run each": PhasedPools((10, 10), runs=(1, 1)),
    "phases apart": PhasedPools((6, 6), with_resources=False),
}


@pytest.fixture(name="rates")
def _rates(rates):
    rates.repetitions = min(2 * rates.repetitions, MOST)
    return rates


def differences(pools: PhasedPools, dice: np.random.Generator) -> list[PhaseDifference]:
    """Compare the pools; the first row is what differs most."""
    pairs = compare_phases([("a", "b")], pools.make(dice))
    return list(pairs[0].differences) if pairs else []


@pytest.mark.parametrize("pools", EQUAL.values(), ids=EQUAL)
def test_equal_pools(pools, rates):
    """Of pools that differ in their mix of labels only, seldom any phase is named."""
    dice = np.random.default_rng(1)
    for _ in range(rates.repetitions):
        rows = differences(replace(pools, between=dice.uniform(0.10, 0.20)), dice)
        rates.add("named", any(row.is_decided for row in rows))
    assert rates.keeps("named", FALSE_CALLS)


@pytest.mark.parametrize("phase", SLOWER)
def test_a_slower_phase(phase, rates):
    """A phase that takes 1.5× as long is the first of those that are named, if any is."""
    dice = np.random.default_rng(2)
    named = right = 0
    for _ in range(rates.repetitions):
        pools = PhasedPools(
            (int(dice.choice(WORKERS)), int(dice.choice(WORKERS))),
            factors={phase: 1.5},
            between=float(dice.choice(VARIATIONS)),
        )
        rows = differences(pools, dice)
        if rows and rows[0].is_decided:
            named += 1
            right += (rows[0].phase, rows[0].reason) == (phase, Reason.PACE)
    rates.repetitions = named
    for number in range(named):
        rates.add("right", number < right)
    assert rates.reaches("right", RIGHT)


@pytest.mark.parametrize("phase", SLOWER)
def test_the_order_of_evidence(phase, rates):
    """With six to twelve workers of each pool it is first, whether it is proven or not."""
    dice = np.random.default_rng(3)
    for _ in range(rates.repetitions):
        workers = (int(dice.integers(6, 13)), int(dice.integers(6, 13)))
        pools = PhasedPools(workers, factors={phase: 1.5}, between=float(dice.uniform(0.1, 0.2)))
        rates.add("first", differences(pools, dice)[0].phase is phase)
    assert rates.reaches("first", RIGHT)


@pytest.mark.parametrize("phase", SLOWER)
def test_with_enough_workers(phase, rates):
    """With twelve workers that vary by 15 % it is proven."""
    dice = np.random.default_rng(3)
    pools = PhasedPools((12, 12), factors={phase: 1.5})
    for _ in range(rates.repetitions):
        first = differences(pools, dice)[0]
        rates.add("named", first.phase is phase and first.is_decided)
    assert rates.reaches("named", 0.9)


def test_more_bytes(rates):
    """Twice the bytes at the same rate is no slower download."""
    dice = np.random.default_rng(4)
    pools = PhasedPools((8, 8), sizes={PhaseName.DOWNLOAD: 2.0})
    for _ in range(rates.repetitions):
        rows = [row for row in differences(pools, dice) if row.is_decided]
        rates.add("slower", any(row.reason is Reason.PACE for row in rows))
        bytes_of = [row.phase for row in rows if row.reason is Reason.SIZE]
        rates.add("more bytes", bytes_of == [PhaseName.DOWNLOAD])
    assert rates.keeps("slower", FALSE_CALLS)
    assert rates.reaches("more bytes", RIGHT)


def test_fewer_cache_hits(rates):
    """Images that are loaded in more of the runs are not loaded slower."""
    dice = np.random.default_rng(5)
    pools = PhasedPools((8, 8), cached=(0.1, 0.8))
    for _ in range(rates.repetitions):
        rows = [row for row in differences(pools, dice) if row.is_decided]
        rates.add("slower", any(row.reason is not Reason.SHARE for row in rows))
        rates.add("more often", PhaseName.IMAGE_LOAD in [row.phase for row in rows])
    assert rates.keeps("slower", FALSE_CALLS)
    assert rates.reaches("more often", RIGHT)
