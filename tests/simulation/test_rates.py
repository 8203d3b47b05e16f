# SPDX-License-Identifier: MPL-2.0
"""Simulation: the interval covers the truth as often as it says, and equal pools are called equal.

The rates that are held are the bars of the project: coverage of 93 % or more, false calls of 5 % or
less, decisions of 80 % or more after the advised number of workers.
"""

import math

import numpy as np
import pytest
import simulation
from msgspec.structs import replace
from simulation import SHAPES, Pool

from io_benchmark.analysis.inference import decisions, levels
from io_benchmark.analysis.inference.compared_means import UNPAIRED_BATCHES
from io_benchmark.analysis.inference.estimates import Estimate, SideData
from io_benchmark.analysis.inference.pairs import Pair
from io_benchmark.analysis.inference.worker_variation import WorkerVariation
from io_benchmark.analysis.inference.workers_needed import advise
from io_benchmark.analysis.model import Verdict

COVERAGE, FALSE_CALLS, DECIDED = 0.93, 0.05, 0.80
WIDER_AT_MOST = 1.3


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("workers", [3, 5, 10])
def test_several_workers_cover_the_truth(
    workers: int, shape: simulation.Shape, repetitions: int, tolerance: float
) -> None:
    """True ratio 1.1: the 95 % interval holds it, and equal pools are seldom called different."""
    generator = np.random.default_rng(workers)
    slow, equal = Pool(1.1, shape=shape), Pool(shape=shape)
    covered = called = 0
    for _ in range(repetitions):
        trial = simulation.trial(slow, equal, workers, generator)
        covered += not trial.interval.excludes(1.1)
        again = simulation.trial(equal, equal, workers, generator)
        called += again.verdict in (Verdict.SLOWER, Verdict.FASTER)
    assert covered / repetitions >= COVERAGE - tolerance
    assert called / repetitions <= FALSE_CALLS + tolerance


@pytest.mark.parametrize("workers", [3, 4, 6, 10])
def test_no_wider_than_welch(workers: int) -> None:
    """Against scipy's Welch interval on the workers' log means: not over 1.3 times as wide."""
    from scipy.stats import ttest_ind

    generator = np.random.default_rng(workers)
    for _ in range(50):
        files = simulation.sequence(200, generator)
        candidate = simulation.side(Pool(1.1), workers, files, generator)
        baseline = simulation.side(Pool(), workers, files, generator)
        ours, _ = simulation.judged(Estimate.of_sides(candidate, baseline, simulation.ASSUMED))
        theirs = ttest_ind(
            candidate.log_means, baseline.log_means, equal_var=False
        ).confidence_interval(0.95)
        assert math.log(ours.high_ratio / ours.low_ratio) <= WIDER_AT_MOST * (
            theirs.high - theirs.low
        )


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_one_worker_each_is_seldom_called_different(
    shape: simulation.Shape, repetitions: int, tolerance: float
) -> None:
    """Equal pools whose workers do differ by the assumed 5 %: at most 5 % false calls."""
    generator = np.random.default_rng(1)
    pool = Pool(shape=shape, retrieves=2000)
    called = 0
    for _ in range(repetitions):
        trial = simulation.trial(pool, pool, 1, generator)
        called += trial.verdict in (Verdict.SLOWER, Verdict.FASTER)
    assert called / repetitions <= FALSE_CALLS + tolerance


def test_one_worker_each_covers_the_truth(repetitions: int, tolerance: float) -> None:
    """The widened interval holds the true ratio as often as several workers' does."""
    generator = np.random.default_rng(2)
    covered = 0
    for _ in range(repetitions):
        trial = simulation.trial(Pool(1.92), Pool(), 1, generator)
        covered += not trial.interval.excludes(1.92)
    assert covered / repetitions >= COVERAGE - tolerance


@pytest.mark.parametrize("windows", [20, 60, 400])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_one_worker_each_by_windows_is_seldom_called_different(
    shape: simulation.Shape, windows: int, repetitions: int, tolerance: float
) -> None:
    """What was done in windows, unpaired: equal pools are called different as seldom."""
    generator = np.random.default_rng(windows)
    pool = Pool(shape=shape)
    called = 0
    for _ in range(repetitions):
        trial = simulation.trial_by_windows(pool, pool, windows, generator)
        assert trial.estimate.method == UNPAIRED_BATCHES
        called += trial.verdict in (Verdict.SLOWER, Verdict.FASTER)
    assert called / repetitions <= FALSE_CALLS + tolerance


@pytest.mark.parametrize("windows", [20, 60, 400])
def test_one_worker_each_by_windows_covers_the_truth(
    windows: int, repetitions: int, tolerance: float
) -> None:
    """Half the rate: the interval holds that ratio of times."""
    generator = np.random.default_rng(windows)
    covered = 0
    for _ in range(repetitions):
        trial = simulation.trial_by_windows(Pool(2.0), Pool(), windows, generator)
        covered += not trial.interval.excludes(2.0)
    assert covered / repetitions >= COVERAGE - tolerance


def test_four_pools_together_are_seldom_called_different(
    repetitions: int, tolerance: float
) -> None:
    """Holm: with three equal candidates, 5 % is for all of them together."""
    generator = np.random.default_rng(3)
    called = 0
    for _ in range(repetitions):
        logs = [tuple(generator.normal(0, 0.05, 4)) for _ in range(4)]
        nothing = simulation.entry(np.full(40, 1000))
        sides = [SideData(log, ((nothing,),) * 4) for log in logs]
        found = [Estimate.of_sides(one, sides[0], simulation.ASSUMED) for one in sides[1:]]
        steps = decisions.holm([one.p_value for one in found])
        called += any(p_adjusted < 0.05 for p_adjusted, _ in steps)
    assert called / repetitions <= FALSE_CALLS + tolerance


@pytest.mark.parametrize(
    ("ratio", "workers", "seen"),
    [
        pytest.param(1.10, 1, 0.05, id="ten-percent-one-worker"),
        pytest.param(1.01, 1, 0.05, id="the-seeds-amd-30"),
        pytest.param(0.90, 3, 0.05, id="faster-three-workers"),
        pytest.param(1.15, 3, 0.12, id="very-different-workers"),
        pytest.param(1.00, 4, 0.03, id="equal-four-workers"),
    ],
)
@pytest.mark.parametrize("comparisons", [1, 3])
def test_the_advised_number_decides(
    ratio: float, workers: int, seen: float, comparisons: int, repetitions: int, tolerance: float
) -> None:
    """Were the estimate true, 80 of 100 repetitions with that many workers reach a verdict."""
    generator = np.random.default_rng(int(ratio * 100) + workers)
    files = simulation.sequence(400, generator)
    spread = tuple(seen * math.sqrt(2) * (at % 2 * 2 - 1) / 2 for at in range(workers))
    ours = SideData(
        tuple(math.log(ratio) + one - sum(spread) / workers for one in spread),
        tuple((simulation.worker(Pool(ratio, 0), files, generator),) for _ in range(workers)),
    )
    theirs = SideData(
        tuple(one - sum(spread) / workers for one in spread),
        tuple((simulation.worker(Pool(1, 0), files, generator),) for _ in range(workers)),
    )
    found = replace(Estimate.of_sides(ours, theirs, simulation.ASSUMED), log_ratio=math.log(ratio))
    variation = WorkerVariation.given(simulation.ASSUMED)
    pair = Pair("candidate", "baseline", ours, theirs, variation)
    advice = advise(found, pair, margin=simulation.MARGIN, comparisons=comparisons)
    assert advice.workers_to_add is not None
    total = workers + advice.workers_to_add
    decided = 0
    nothing = simulation.entry(np.full(40, 1000))
    for _ in range(repetitions):
        sides = [
            SideData(
                tuple(generator.normal(centre, advice.variation_ratio, total)),
                ((nothing,),) * total,
            )
            for centre in (math.log(ratio), 0.0)
        ]
        again = Estimate.of_sides(sides[0], sides[1], simulation.ASSUMED)
        level = 1 - 0.05 / comparisons
        verdict = decisions.verdict(
            again.interval(level),
            again.interval(levels.EQUIVALENCE_LEVEL),
            simulation.MARGIN,
        )
        decided += verdict is not Verdict.INCONCLUSIVE
    assert decided / repetitions >= DECIDED - tolerance
