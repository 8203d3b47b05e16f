# SPDX-License-Identifier: MPL-2.0
"""Simulation: the interval covers the truth as often as it says, and equal pools are called equal.

The rates that are held are the bars of the project: coverage of 93 % or more, false calls of 5 % or
less, decisions of 80 % or more after the advised number of workers. Workers differ by the 5 % that is
assumed, runs of one worker by 5 to 20 %.
"""

import math
import zlib

import numpy as np
import pytest
from msgspec.structs import replace
from simulation import (
    ASSUMED,
    MARGIN,
    RUN_NOISES,
    entry,
    judged,
    run_of,
    sequence,
    side_of,
    windows_of,
)

from io_benchmark.analysis.inference import variations
from io_benchmark.analysis.inference.advice import advise
from io_benchmark.analysis.inference.comparisons import _holm, _verdict
from io_benchmark.analysis.inference.estimates import Estimate
from io_benchmark.analysis.inference.looks import SINGLE
from io_benchmark.analysis.inference.pairs import Pair
from io_benchmark.analysis.levels import EQUIVALENCE_LEVEL
from io_benchmark.analysis.model import DIFFERENT, Verdict
from io_benchmark.analysis.observed.sides import SideData

COVERAGE, COVERAGE_OF_RUNS, FALSE_CALLS, DECIDED = 0.93, 0.95, 0.05, 0.80
RETRIEVES = 200
WAVES = RUN_NOISES["waves"]


def machine(noise, files, generator, ratio=1.0, runs=1, variation=0.0):
    """Return the runs of one worker with a speed of its own, each with a further one."""
    (speed,) = ratio * noise.draw_speeds(generator, 1)
    factors = speed * np.exp(generator.normal(0, variation, runs))
    return [run_of(noise, files, generator, factor) for factor in factors]


def retrieves(workers, noise=WAVES, count=RETRIEVES):
    """So many workers of each pool."""

    def draw(generator, ratio):
        files = sequence(count, count, generator)
        return [
            side_of(*(machine(noise, files, generator, truth) for _ in range(workers)))
            for truth in (ratio, 1.0)
        ]

    return draw


def windows(count, noise=WAVES):
    """One worker each, and what was done in so many windows, unpaired."""

    def draw(generator, ratio):
        speeds = noise.draw_speeds(generator, 2) * (ratio, 1.0)
        return [side_of([windows_of(noise, count, generator, speed)]) for speed in speeds]

    return draw


def runs(counts, *variations):
    """One worker each, with several runs that differ by this much."""

    def draw(generator, ratio):
        files = sequence(RETRIEVES, RETRIEVES, generator)
        sides = ((ratio, counts[0], variations[0]), (1.0, counts[1], variations[-1]))
        return [side_of(machine(WAVES, files, generator, *side)) for side in sides]

    return draw


def runs_against_workers(generator, ratio):
    """Three runs of one worker against four workers with a run each."""
    files = sequence(RETRIEVES, RETRIEVES, generator)
    several = [machine(WAVES, files, generator, variation=0.10) for _ in range(4)]
    return side_of(machine(WAVES, files, generator, ratio, 3, 0.10)), side_of(*several)


def judgement(draw, generator, ratio):
    candidate, baseline = draw(generator, ratio)
    return judged(Estimate.of_sides(candidate, baseline, ASSUMED))


SEVERAL_RUNS = {
    f"{counts[0]} and {counts[1]} runs that differ by {variation}": runs(counts, variation)
    for counts in [(1, 2), (1, 5), (2, 2), (2, 5), (3, 3), (5, 5)]
    for variation in (0.05, 0.10, 0.20)
}
EQUAL = {
    **{f"1 worker, {name}": retrieves(1, noise, 2000) for name, noise in RUN_NOISES.items()},
    **{
        f"{count} windows, {name}": windows(count, noise)
        for name, noise in RUN_NOISES.items()
        for count in (20, 60, 400)
        # A burst may be longer than twenty windows.
        if (count, name) != (20, "bursts")
    },
    **SEVERAL_RUNS,
    "noisy runs against steady ones": runs((3, 3), 0.05, 0.20),
    "steady runs against noisy ones": runs((3, 3), 0.20, 0.05),
    "runs against workers": runs_against_workers,
}
# How the pools differ, the truth, and the bar.
COVERED = {
    **{f"{workers} workers": (retrieves(workers), 1.1, COVERAGE) for workers in (3, 5, 10)},
    **{name: (draw, 1.3, COVERAGE_OF_RUNS) for name, draw in SEVERAL_RUNS.items()},
    **{f"{count} windows": (windows(count), 2.0, COVERAGE) for count in (20, 60, 400)},
    "1 worker": (retrieves(1), 1.92, COVERAGE),
}


@pytest.mark.parametrize("name", EQUAL)
def test_equal_pools_are_seldom_called_different(name, repetitions, tolerance):
    """At most 5 % false calls."""
    generator = np.random.default_rng(zlib.crc32(name.encode()))
    called = sum(judgement(EQUAL[name], generator, 1.0)[1] in DIFFERENT for _ in range(repetitions))
    assert called / repetitions <= FALSE_CALLS + tolerance


@pytest.mark.parametrize("name", COVERED)
def test_the_interval_covers_the_truth(name, repetitions, tolerance):
    """The 95 % interval holds the true ratio."""
    draw, ratio, bar = COVERED[name]
    generator = np.random.default_rng(zlib.crc32(name.encode()))
    missed = sum(judgement(draw, generator, ratio)[0].excludes(ratio) for _ in range(repetitions))
    assert 1 - missed / repetitions >= bar - tolerance


def workers(logs):
    """Workers with these log means, whose samples say nothing."""
    nothing = entry(np.full(40, 1000))
    return SideData(tuple(logs), ((nothing,),) * len(logs))


def test_four_pools_together_are_seldom_called_different(repetitions, tolerance):
    """Holm: with three equal candidates, 5 % is for all of them together."""
    generator = np.random.default_rng(3)
    called = 0
    for _ in range(repetitions):
        baseline, *candidates = [workers(generator.normal(0, 0.05, 4)) for _ in range(4)]
        found = [Estimate.of_sides(side, baseline, ASSUMED) for side in candidates]
        steps = _holm([estimate.p_value for estimate in found], [SINGLE] * 3)
        called += any(p_adjusted < 0.05 for p_adjusted, _ in steps)
    assert called / repetitions <= FALSE_CALLS + tolerance


@pytest.mark.parametrize(
    ("ratio", "count", "seen"),
    [
        pytest.param(1.10, 1, 0.05, id="ten-percent-one-worker"),
        pytest.param(1.01, 1, 0.05, id="the-seeds-amd-30"),
        pytest.param(0.90, 3, 0.05, id="faster-three-workers"),
        pytest.param(1.15, 3, 0.12, id="very-different-workers"),
        pytest.param(1.00, 4, 0.03, id="equal-four-workers"),
    ],
)
@pytest.mark.parametrize("comparisons", [1, 3])
def test_the_advised_number_decides(ratio, count, seen, comparisons, repetitions, tolerance):
    """Were the estimate true, 80 of 100 repetitions with that many workers reach a verdict."""
    generator = np.random.default_rng(int(ratio * 100) + count)
    files = sequence(400, 400, generator)
    spread = [seen * math.sqrt(2) * (at % 2 * 2 - 1) / 2 for at in range(count)]
    candidate, baseline = (
        SideData(
            tuple(math.log(truth) + log - sum(spread) / count for log in spread),
            tuple((run_of(WAVES, files, generator, truth),) for _ in spread),
        )
        for truth in (ratio, 1.0)
    )
    found = Estimate.of_sides(candidate, baseline, ASSUMED)
    variation = variations.given(ASSUMED)
    pair = Pair("candidate", "baseline", candidate, baseline, variation)
    estimate = replace(found, log_ratio=math.log(ratio))
    advice = advise(estimate, pair, margin=MARGIN, comparisons=comparisons)
    assert advice.workers_to_add is not None
    total = count + advice.workers_to_add
    decided = 0
    for _ in range(repetitions):
        candidate, baseline = (
            workers(generator.normal(centre, advice.variation_ratio, total))
            for centre in (math.log(ratio), 0.0)
        )
        again = Estimate.of_sides(candidate, baseline, ASSUMED)
        reached = _verdict(
            again.interval(1 - 0.05 / comparisons),
            again.interval(EQUIVALENCE_LEVEL),
            MARGIN,
        )
        decided += reached is not Verdict.INCONCLUSIVE
    assert decided / repetitions >= DECIDED - tolerance
