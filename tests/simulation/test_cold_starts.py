# SPDX-License-Identifier: MPL-2.0
"""Simulation: one worker per pool, whose first reads of files are from a cold disk.

The baseline's disk is slow and its page cache fast, so that its course is another than the candidate's.
"""

import math

import numpy as np
import pytest
import simulation
from msgspec.structs import replace
from rates import Rates
from simulated_noise import Noise, Pool, sequence

from io_benchmark.analysis.inference.estimates import Estimate, SideData
from io_benchmark.analysis.model import Entry

WIDEST, COVERAGE, FALSE_CALLS = 2.0, 0.93, 0.05
SLOW, FAST = Pool("slow", Noise(cold_factor=1.3), ratio=9.8), Pool("fast", Noise(cold_factor=21.0))
WAVES = Pool("equal", Noise(cold_factor=4.0, waves=0.3))


def estimate(candidate: Entry, baseline: Entry) -> Estimate:
    ours, theirs = (
        SideData((math.log(each.mean_ns),), ((each,),)) for each in (candidate, baseline)
    )
    return Estimate.of_sides(ours, theirs, simulation.ASSUMED)


def measured(pool: Pool, files: np.ndarray, generator: np.random.Generator) -> Entry:
    ((entry,),) = (worker.entries for worker in pool.measure(1, files, generator))
    return entry


@pytest.mark.parametrize(("retrieves", "files"), [(100, 20), (200, 20), (200, 100), (2000, 100)])
def test_a_cold_start_is_no_wave(retrieves: int, files: int) -> None:
    """The interval holds the truth, and is within a factor of 2 of the ratio half of the time."""
    generator, rates = np.random.default_rng(retrieves + files), Rates(100)
    for _ in range(rates.repetitions):
        order = sequence(retrieves, files, generator)
        found = estimate(*(measured(pool, order, generator) for pool in (SLOW, FAST)))
        interval, _ = simulation.judged(found)
        rates.add("covered", not interval.excludes(SLOW.true_ratio(FAST, order)))
        rates.add("narrow", interval.high_ratio / found.ratio <= WIDEST)
        equal = estimate(*(measured(WAVES, order, generator) for _ in range(2)))
        rates.add("called", simulation.judged(equal)[0].excludes(1.0))
    assert rates.reaches("covered", COVERAGE)
    assert rates.reaches("narrow", 0.5)
    assert rates.keeps("called", FALSE_CALLS)


def test_a_long_run_of_waves_keeps_its_interval() -> None:
    """Where first reads cost both sides the same, and are few, their being apart shows nothing new."""
    generator = np.random.default_rng(1)
    widths = []
    for _ in range(50):
        order = sequence(2000, 100, generator)
        sides = [measured(WAVES, order, generator) for _ in range(2)]
        whole = estimate(*(replace(side, first_reads=frozenset()) for side in sides))
        widths.append(estimate(*sides).error / whole.error)
    assert max(widths) == 1.0
    assert np.median(widths) == pytest.approx(1.0, abs=0.01)
