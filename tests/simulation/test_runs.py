# SPDX-License-Identifier: MPL-2.0
"""Simulation: one worker a pool that ran several tasks, whose runs differ more than blocks show.

Workers differ by the 5 % that is assumed, runs of one worker by 5 to 20 %.
"""

import numpy as np
import pytest
import simulation
from simulation import Pool

from io_benchmark.analysis.inference import estimates
from io_benchmark.analysis.inference.estimates import Estimate
from io_benchmark.analysis.model import Verdict

COVERAGE, FALSE_CALLS = 0.95, 0.05
RETRIEVES = 200
# Runs of the candidate's worker and of the baseline's.
RUNS = [(1, 2), (1, 5), (2, 2), (2, 5), (3, 3), (5, 5)]


@pytest.mark.parametrize("variation", [0.05, 0.10, 0.20])
@pytest.mark.parametrize("runs", RUNS, ids=lambda runs: f"{runs[0]}-and-{runs[1]}")
def test_several_runs_of_one_worker(
    runs: tuple[int, int], variation: float, repetitions: int, tolerance: float
) -> None:
    """Equal pools are seldom called different, and the interval holds a true ratio of 1.3."""
    generator = np.random.default_rng(int(100 * variation) + 10 * runs[0] + runs[1])
    covered = called = 0
    for _ in range(repetitions):
        files = simulation.sequence(RETRIEVES, generator)
        baseline, equal, slow = (
            simulation.machine(Pool(ratio), count, variation, files, generator)
            for ratio, count in ((1.0, runs[1]), (1.0, runs[0]), (1.3, runs[0]))
        )
        _, verdict = simulation.judged(Estimate.of_sides(equal, baseline, simulation.ASSUMED))
        called += verdict in (Verdict.SLOWER, Verdict.FASTER)
        interval, _ = simulation.judged(Estimate.of_sides(slow, baseline, simulation.ASSUMED))
        covered += not interval.excludes(1.3)
    assert called / repetitions <= FALSE_CALLS + tolerance
    assert covered / repetitions >= COVERAGE - tolerance


@pytest.mark.parametrize("variation", [0.05, 0.20])
def test_a_worker_whose_runs_differ_more(
    variation: float, repetitions: int, tolerance: float
) -> None:
    """Three runs of a noisy worker against three of a steady one: as seldom."""
    generator = np.random.default_rng(int(100 * variation))
    called = 0
    for _ in range(repetitions):
        files = simulation.sequence(RETRIEVES, generator)
        one, other = (
            simulation.machine(Pool(), 3, differ, files, generator)
            for differ in (variation, 0.25 - variation)
        )
        _, verdict = simulation.judged(Estimate.of_sides(one, other, simulation.ASSUMED))
        called += verdict in (Verdict.SLOWER, Verdict.FASTER)
    assert called / repetitions <= FALSE_CALLS + tolerance


def test_one_worker_with_runs_against_several(repetitions: int, tolerance: float) -> None:
    """Three runs of one worker against four workers with a run each."""
    generator = np.random.default_rng(4)
    called = 0
    for _ in range(repetitions):
        files = simulation.sequence(RETRIEVES, generator)
        alone = simulation.machine(Pool(), 3, 0.10, files, generator)
        workers = [simulation.machine(Pool(), 1, 0.10, files, generator) for _ in range(4)]
        several = estimates.SideData(
            tuple(one.log_means[0] for one in workers), tuple(one.runs[0] for one in workers)
        )
        _, verdict = simulation.judged(Estimate.of_sides(alone, several, simulation.ASSUMED))
        called += verdict in (Verdict.SLOWER, Verdict.FASTER)
    assert called / repetitions <= FALSE_CALLS + tolerance
