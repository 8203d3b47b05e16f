# SPDX-License-Identifier: MPL-2.0
"""Simulation: the interval covers the truth as often as it says, and equal pools are called equal.

The rates that are held are the bars of the project: coverage of 93 % or more, false calls of 5 % or
less. Workers differ by the 5 % that is assumed, runs of one worker by 5 to 20 %. Where pools or
pushes are known to vary, log means are drawn from the normal distribution.
"""

import math
import zlib

import numpy as np
import pytest
from simulation import (
    ASSUMED,
    RUN_NOISES,
    entry,
    judged,
    run_of,
    sequence,
    windows_of,
)

from io_benchmark.analysis.comparing.pushes import variance_of_pushes
from io_benchmark.analysis.model.comparison import DIFFERENT, PushVariation
from io_benchmark.analysis.statistics import variations
from io_benchmark.analysis.statistics.ratios import Estimate
from io_benchmark.analysis.statistics.variances import ASSUMED_VARIATION_DEGREES, MeanVariance

COVERAGE, COVERAGE_OF_RUNS, FALSE_CALLS = 0.93, 0.95, 0.05
RETRIEVES = 200
WAVES = RUN_NOISES["waves"]


def machine(noise, files, generator, ratio=1.0, runs=1, variation=0.0):
    """Return the runs of one worker with a speed of its own, each with a further one."""
    (speed,) = ratio * noise.draw_speeds(generator, 1)
    factors = speed * np.exp(generator.normal(0, variation, runs))
    return [run_of(noise, files, generator, factor) for factor in factors]


def estimate(sides):
    candidate, baseline = sides
    return Estimate.of_workers(candidate, baseline, ASSUMED)


def retrieves(workers, noise=WAVES, count=RETRIEVES):
    """So many workers of each pool."""

    def draw(generator, ratio):
        files = sequence(count, count, generator)
        return estimate(
            [machine(noise, files, generator, truth) for _ in range(workers)]
            for truth in (ratio, 1.0)
        )

    return draw


def windows(count, noise=WAVES):
    """One worker each, and what was done in so many windows, unpaired."""

    def draw(generator, ratio):
        speeds = noise.draw_speeds(generator, 2) * (ratio, 1.0)
        return estimate([[windows_of(noise, count, generator, speed)]] for speed in speeds)

    return draw


def runs(counts, *variations):
    """One worker each, with several runs that differ by this much."""

    def draw(generator, ratio):
        files = sequence(RETRIEVES, RETRIEVES, generator)
        sides = ((ratio, counts[0], variations[0]), (1.0, counts[1], variations[-1]))
        return estimate([machine(WAVES, files, generator, *side)] for side in sides)

    return draw


def runs_against_workers(generator, ratio):
    """Three runs of one worker against four workers with a run each."""
    files = sequence(RETRIEVES, RETRIEVES, generator)
    several = [machine(WAVES, files, generator, variation=0.10) for _ in range(4)]
    return estimate(([machine(WAVES, files, generator, ratio, 3, 0.10)], several))


def beside(*groups):
    """Compare the first two of several pools, which vary so."""

    def draw(generator, ratio):
        logs = {
            str(number): tuple(generator.normal(0, variation, workers).tolist())
            for number, (workers, variation) in enumerate(groups)
        }
        logs["0"] = tuple(log + math.log(ratio) for log in logs["0"])
        known = variations.of_pair(("0", "1"), logs)
        candidate, baseline = (
            [[entry(np.full(40, 1e6 * math.exp(log)))] for log in logs[name]] for name in ("0", "1")
        )
        return Estimate.of_workers(candidate, baseline, known.ratio)

    return draw


def days(day, past, workers=6):
    """So many workers before and after.

    All of a day are slower or faster by so much, as in past pushes.
    """

    def draw(generator, ratio):
        logs = ASSUMED * generator.normal(size=(2, workers)) + day * generator.normal(size=(2, 1))
        logs[0] += math.log(ratio)
        known, degrees = MeanVariance(0.05**2, 4.0), ASSUMED_VARIATION_DEGREES
        if past:
            errors = math.hypot(day, ASSUMED / math.sqrt(workers))
            known = MeanVariance.of_values((errors * generator.normal(size=past)).tolist())
            degrees = known.degrees
        pushes = PushVariation(math.sqrt(known.variance), degrees, past, 2.0)
        found = Estimate.of_means(logs[0].tolist(), logs[1].tolist(), ASSUMED)
        return found.with_further(variance_of_pushes(pushes))

    return draw


SEVERAL_RUNS = {
    f"{counts[0]} and {counts[1]} runs that differ by {variation}": runs(counts, variation)
    for counts in [(1, 5), (2, 2), (5, 5)]
    for variation in (0.05, 0.20)
}
KNOWN_POOLS = {
    "a noisy one against five": beside((1, 0.12), (5, 0.05)),
    "a noisy one against two": beside((1, 0.12), (2, 0.12)),
    "one each and five": beside((1, 0.12), (1, 0.12), (5, 0.05)),
    "two each and ten": beside((2, 0.05), (2, 0.05), (10, 0.05)),
}
# By their workers alone 24 and 42 of 100 would be called different, by a history of 12 pushes 8.
DAYS = {
    f"days differ by {day}, {past} earlier pushes": days(day, past)
    for past in (0, 3, 12)
    for day in (0.03, 0.05)
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
    "runs against workers": runs_against_workers,
    **KNOWN_POOLS,
    **DAYS,
    "days do not differ": days(0.0, 0),
    "days differ by 0.08, 12 earlier pushes": days(0.08, 12),
    "days differ by 0.05, 40 earlier pushes": days(0.05, 40),
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
    """At most 5 % false calls; where it is known how pools vary, the 95 % interval holds 1."""
    generator = np.random.default_rng(zlib.crc32(name.encode()))
    found = [judged(EQUAL[name](generator, 1.0)) for _ in range(repetitions)]
    called = sum(verdict in DIFFERENT for _, verdict in found)
    assert called / repetitions <= FALSE_CALLS + tolerance
    missed = sum(interval.excludes(1.0) for interval, _ in found)
    assert name not in KNOWN_POOLS or 1 - missed / repetitions >= COVERAGE - tolerance


@pytest.mark.parametrize("name", COVERED)
def test_the_interval_covers_the_truth(name, repetitions, tolerance):
    """The 95 % interval holds the true ratio."""
    draw, ratio, bar = COVERED[name]
    generator = np.random.default_rng(zlib.crc32(name.encode()))
    intervals = (judged(draw(generator, ratio))[0] for _ in range(repetitions))
    missed = sum(interval.excludes(ratio) for interval in intervals)
    assert 1 - missed / repetitions >= bar - tolerance
