# SPDX-License-Identifier: MPL-2.0
"""Stopping early: the interval of the mean, compared with simulation."""

import random
from statistics import fmean

import pytest
from measuring import workload

SIZES = (80, 60, 5)


def retrieves(
    seed: int, count: int, wave: float, correlation: float
) -> tuple[list[int], list[int]]:
    """Times by size, with noise that clings to its neighbour and a wave of period ten."""
    generator = random.Random(seed)
    groups, times, noise = [], [], 0.0
    for at in range(count):
        size = generator.choice(SIZES)
        noise = correlation * noise + generator.gauss(0, 1)
        factor = 1 + 0.05 * noise + (wave if at % 10 < 5 else -wave)
        groups.append(size)
        times.append(int(size * 1_000_000 * max(factor, 0.1)))
    return groups, times


def test_too_little_is_no_interval() -> None:
    """Fewer than eight batches say nothing, however steady they look."""
    groups, times = [80] * 255, [1000] * 255
    assert workload._relative_half_width(groups, times) is None
    assert workload._relative_half_width([*groups, 80], [*times, 1000]) == 0.0
    # Times that depend on the size alone are known exactly, in whatever order they came.
    groups, _ = retrieves(1, 400, 0, 0)
    assert workload._relative_half_width(groups, [size * 1000 for size in groups]) == 0.0


@pytest.mark.parametrize("count", [256, 300, 511, 640, 659, 660, 700, 1000, 1999, 2000, 99_999])
def test_there_is_a_quantile_for_every_length(count: int) -> None:
    """The number of batches stays within the table of Student's t."""
    groups, times = retrieves(2, count, 0, 0)
    width = workload._relative_half_width(groups, times)
    assert width is not None
    assert 0 < width < 0.1


@pytest.mark.parametrize(
    ("wave", "correlation"),
    [(0.0, 0.0), (0.0, 0.7), (0.3, 0.0)],
    ids=["independent", "clinging", "waves"],
)
def test_the_interval_covers_the_truth(wave: float, correlation: float) -> None:
    """Of 300 runs, the 95 % interval holds the true mean in at least 90 %, as batch means do."""
    covered = 0
    for seed in range(300):
        groups, times = retrieves(seed, 512, wave, correlation)
        width = workload._relative_half_width(groups, times)
        assert width is not None
        # The mix of sizes of this very run is the plan: its own expectation is the truth.
        truth = fmean(size * 1_000_000 for size in groups)
        covered += abs(fmean(times) - truth) <= width * fmean(times)
    assert covered >= 270
