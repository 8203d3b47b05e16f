# SPDX-License-Identifier: MPL-2.0
"""How well one worker's mean is known."""

import math
from array import array

import numpy as np
import pytest
import simulation

from io_benchmark.analysis.inference import moving_blocks


def test_runs_together() -> None:
    """Where each run is noisy, their average shows where they became slower; the order of runs changes nothing."""
    generator = np.random.default_rng(3)
    runs = []
    for run in range(5):
        factors = np.where(np.arange(200 + run) < 120, 1.0, 1.3)
        times = (1e6 * factors * np.exp(generator.normal(0, 0.6, 200 + run))).astype(int).tolist()
        ones = [1] * len(times)
        runs.append(
            moving_blocks.RelativeTimes.of(array("q", times), array("q", ones), array("q", ones))
        )
    assert sum(run.step is not None for run in runs) <= 2
    together = moving_blocks.RelativeTimes.averaged(runs)
    assert together.step is not None
    assert together.step.index == pytest.approx(120, abs=10)
    assert len(together.times) == 200
    assert together.times == moving_blocks.RelativeTimes.averaged(runs[::-1]).times
    before, after = together.means_around(together.step.index) or (0, 0)
    assert after / before == pytest.approx(together.step.ratio)
    halves = together.means_around(None) or (0, 0)
    assert 1 < halves[1] / halves[0] < together.step.ratio


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        pytest.param(2, 1, id="two"),
        pytest.param(40, 20, id="few"),
        pytest.param(200, 64, id="quick"),
        pytest.param(2000, 200, id="seed"),
        pytest.param(10_000, 1000, id="long"),
    ],
)
def test_blocks_are_well_over_twenty_retrieves(count: int, expected: int) -> None:
    """Longer than the waves of writeback wherever there are enough retrieves."""
    assert moving_blocks._block_length(count) == expected


def test_independent_values_have_the_textbooks_error() -> None:
    """Without correlation it is sigma over the root of n, on average over many runs."""
    generator = np.random.default_rng(1)
    variances = [
        moving_blocks.variance_of_mean(generator.normal(0, 1, 2000).tolist()).variance
        for _ in range(400)
    ]
    assert np.mean(variances) == pytest.approx(1 / 2000, rel=0.1)


def test_clinging_values_have_the_larger_error_of_theory() -> None:
    """For a first-order autoregression the variance of the mean is sigma^2 / (n (1 - rho)^2)."""
    generator = np.random.default_rng(2)
    variances = []
    for _ in range(200):
        noise = generator.normal(0, 1, 4000)
        for at in range(1, len(noise)):
            noise[at] += 0.9 * noise[at - 1]
        variances.append(moving_blocks.variance_of_mean(noise.tolist()).variance)
    assert np.mean(variances) == pytest.approx(1 / (4000 * 0.1**2), rel=0.15)


def test_a_wave_of_writeback_cancels_within_blocks() -> None:
    """A period of ten has no long-run variance: single retrieves would claim far too much."""
    values = np.tile([2.0] * 5 + [0.0] * 5, 200)
    known = moving_blocks.variance_of_mean(values.tolist()).variance
    naive = values.var() / len(values)
    assert known < naive / 10


@pytest.mark.parametrize("count", [0, 1])
def test_nothing_is_known_from_nothing(count: int) -> None:
    """No second block: the variance is unbounded, not zero."""
    assert math.isinf(moving_blocks.variance_of_mean([1.0] * count).variance)


@pytest.mark.parametrize(("firsts", "is_apart"), [(7, False), (8, True)])
def test_first_reads_are_a_series_apart(firsts, is_apart):
    """They become fewer, and blocks would take this course for waves; a few show nothing by themselves."""
    values = np.ones(400)
    values[: 3 * firsts : 3] = 20.0
    apart = moving_blocks.variance_of_mean(values.tolist(), first_reads=range(0, 3 * firsts, 3))
    whole = moving_blocks.variance_of_mean(values.tolist())
    assert apart.variance == (pytest.approx(0, abs=1e-20) if is_apart else whole.variance)
    # Half of what independent blocks have: 6.25 of the whole run, 2 of the first reads.
    assert whole.degrees == 5.25 / 2
    assert apart.degrees == (1.0 if is_apart else whole.degrees)


def test_longer_blocks_are_tried():
    """A burst of a third of the run is seen by blocks of a third of it, not by those of a tenth."""
    values = np.concatenate((np.ones(1300), np.full(700, 2.0))).tolist()
    tenth, longer = (
        moving_blocks.variance_of_mean(values, tries_longer=tries).variance
        for tries in (False, True)
    )
    thirds = np.convolve(values, np.full(666, 1 / 666), mode="valid") - np.mean(values)
    assert longer == pytest.approx(np.mean(thirds**2) * 666 / (2000 - 666))
    assert longer > 2 * tenth


def test_sizes_are_no_noise() -> None:
    """Times that follow the file's size alone have no error."""
    files = np.array([0, 1, 2] * 100)
    one = simulation.entry(np.array(simulation.SIZES)[files] * 1000, files)
    assert one.relative_times.error_of_mean == 0.0
