# SPDX-License-Identifier: MPL-2.0
"""Simulation: the interval covers the truth as often as it says, and equal pools are called equal.

The rates that are held are the bars of the project: coverage of 93 % or more, false calls of 5 % or
less, decisions of 80 % or more after the advised number of workers. Workers differ by the 5 % that is
assumed, runs of one worker by 5 to 20 %.
"""

import math
import zlib
from collections.abc import Callable

import numpy as np
import pytest
import simulation
from msgspec.structs import replace
from simulation import SHAPES, Pool, Shape

from io_benchmark.analysis.inference import levels
from io_benchmark.analysis.inference.comparisons import advise, holm
from io_benchmark.analysis.inference.comparisons import verdict as verdict_of
from io_benchmark.analysis.inference.estimates import UNPAIRED_BATCHES, Estimate, SideData
from io_benchmark.analysis.inference.looks import SINGLE
from io_benchmark.analysis.inference.pairs import Pair
from io_benchmark.analysis.inference.worker_variation import WorkerVariation
from io_benchmark.analysis.model import DIFFERENT, Verdict

COVERAGE, COVERAGE_OF_RUNS, FALSE_CALLS, DECIDED = 0.93, 0.95, 0.05, 0.80
WIDER_AT_MOST = 1.3
RETRIEVES = 200

Generator = np.random.Generator
Draw = Callable[[Generator, float], Estimate]  # of pools with this true ratio


def retrieves(workers: int, shape: Shape = simulation.clinging, count: int = RETRIEVES) -> Draw:
    """So many workers of each pool."""

    def draw(generator: Generator, ratio: float) -> Estimate:
        files = simulation.sequence(count, generator)
        pools = Pool(ratio, shape=shape), Pool(shape=shape)
        candidate, baseline = (simulation.side(pool, workers, files, generator) for pool in pools)
        return Estimate.of_sides(candidate, baseline, simulation.ASSUMED)

    return draw


def windows(count: int, shape: Shape = simulation.clinging) -> Draw:
    """One worker each, and what was done in so many windows, unpaired."""

    def draw(generator: Generator, ratio: float) -> Estimate:
        pools = Pool(ratio, shape=shape), Pool(shape=shape)
        entries = [simulation.worker_by_windows(pool, count, generator) for pool in pools]
        candidate, baseline = (SideData((math.log(each.mean_ns),), ((each,),)) for each in entries)
        found = Estimate.of_sides(candidate, baseline, simulation.ASSUMED)
        assert found.method == UNPAIRED_BATCHES
        return found

    return draw


def runs(of_candidate: int, of_baseline: int, *variations: float) -> Draw:
    """One worker each, with several runs that differ by this much."""

    def draw(generator: Generator, ratio: float) -> Estimate:
        files = simulation.sequence(RETRIEVES, generator)
        candidate, baseline = (
            simulation.machine(Pool(of_pool), count, variation, files, generator)
            for of_pool, count, variation in (
                (ratio, of_candidate, variations[0]),
                (1.0, of_baseline, variations[-1]),
            )
        )
        return Estimate.of_sides(candidate, baseline, simulation.ASSUMED)

    return draw


def runs_against_workers(generator: Generator, ratio: float) -> Estimate:
    """Three runs of one worker against four workers with a run each."""
    files = simulation.sequence(RETRIEVES, generator)
    alone = simulation.machine(Pool(ratio), 3, 0.10, files, generator)
    workers = [simulation.machine(Pool(), 1, 0.10, files, generator) for _ in range(4)]
    several = SideData(
        tuple(each.log_means[0] for each in workers), tuple(each.runs[0] for each in workers)
    )
    return Estimate.of_sides(alone, several, simulation.ASSUMED)


NUMBERS_OF_RUNS = [(1, 2), (1, 5), (2, 2), (2, 5), (3, 3), (5, 5)]
SEVERAL_RUNS = {
    f"{of_candidate} and {of_baseline} runs that differ by {variation}": runs(
        of_candidate, of_baseline, variation
    )
    for of_candidate, of_baseline in NUMBERS_OF_RUNS
    for variation in (0.05, 0.10, 0.20)
}
SEVERAL_WORKERS = {
    f"{workers} workers, {name}": retrieves(workers, shape)
    for name, shape in SHAPES.items()
    for workers in (3, 5, 10)
}
EQUAL = {
    **SEVERAL_WORKERS,
    **{f"1 worker, {name}": retrieves(1, shape, 2000) for name, shape in SHAPES.items()},
    **{
        f"{count} windows, {name}": windows(count, shape)
        for name, shape in SHAPES.items()
        for count in (20, 60, 400)
    },
    **SEVERAL_RUNS,
    "noisy runs against steady ones": runs(3, 3, 0.05, 0.20),
    "steady runs against noisy ones": runs(3, 3, 0.20, 0.05),
    "runs against workers": runs_against_workers,
}
# How the pools differ, the truth, and the bar.
COVERED = {
    **{name: (draw, 1.1, COVERAGE) for name, draw in SEVERAL_WORKERS.items()},
    **{name: (draw, 1.3, COVERAGE_OF_RUNS) for name, draw in SEVERAL_RUNS.items()},
    **{f"{count} windows": (windows(count), 2.0, COVERAGE) for count in (20, 60, 400)},
    "1 worker": (retrieves(1), 1.92, COVERAGE),
}


@pytest.mark.parametrize("name", EQUAL)
def test_equal_pools_are_seldom_called_different(
    name: str, repetitions: int, tolerance: float
) -> None:
    """At most 5 % false calls."""
    generator = np.random.default_rng(zlib.crc32(name.encode()))
    called = 0
    for _ in range(repetitions):
        _, verdict = simulation.judged(EQUAL[name](generator, 1.0))
        called += verdict in DIFFERENT
    assert called / repetitions <= FALSE_CALLS + tolerance


@pytest.mark.parametrize("name", COVERED)
def test_the_interval_covers_the_truth(name: str, repetitions: int, tolerance: float) -> None:
    """The 95 % interval holds the true ratio."""
    draw, ratio, bar = COVERED[name]
    generator = np.random.default_rng(zlib.crc32(name.encode()))
    covered = 0
    for _ in range(repetitions):
        interval, _ = simulation.judged(draw(generator, ratio))
        covered += not interval.excludes(ratio)
    assert covered / repetitions >= bar - tolerance


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
        steps = holm([one.p_value for one in found], [SINGLE] * 3)
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
        verdict = verdict_of(
            again.interval(level),
            again.interval(levels.EQUIVALENCE_LEVEL),
            simulation.MARGIN,
        )
        decided += verdict is not Verdict.INCONCLUSIVE
    assert decided / repetitions >= DECIDED - tolerance
