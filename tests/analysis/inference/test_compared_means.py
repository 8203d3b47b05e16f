# SPDX-License-Identifier: MPL-2.0
"""Two machines' means, sample by sample."""

import math

import numpy as np
import pytest
import simulation

from io_benchmark.analysis.inference import estimates


def test_pairs_cancel_what_the_files_do() -> None:
    """The same sequence, one side twice as slow: the ratio is exact, whatever the sizes."""
    files = np.array([0, 2, 1, 1, 0, 2] * 50)
    times = np.array(simulation.SIZES)[files] * 1000
    means = estimates.compare_means(
        [simulation.entry(times * 2, files)], [simulation.entry(times, files)]
    )
    assert math.exp(means.log_ratio) == pytest.approx(2.0)
    (spread,) = means.blocks
    assert spread.variance == pytest.approx(0.0, abs=1e-20)


def test_pairs_take_what_both_have() -> None:
    """One side stopped early: only the retrieves that both made are compared."""
    short = simulation.entry(np.full(50, 1000))
    long = simulation.entry(np.concatenate((np.full(50, 500), np.full(50, 99_999))))
    means = estimates.compare_means([short], [long])
    assert math.exp(means.log_ratio) == pytest.approx(2.0)


def test_runs_of_one_machine_are_averaged_sample_by_sample() -> None:
    """Each run counts as much, however long its retrieves take; waves that cancel are no noise."""
    wave = np.round(1e6 + 3e5 * np.sin(np.arange(400) / 200 * math.pi))
    still = simulation.entry(np.full(400, 1e6))
    course = simulation.entry(wave)
    runs = [simulation.entry(factor * wave) for factor in (1, 4, 2)]
    (same,) = estimates.compare_means(runs, [course]).blocks
    assert same.variance == pytest.approx(0.0, abs=1e-20)
    (opposed,) = estimates.compare_means([course, simulation.entry(2e6 - wave)], [still]).blocks
    (alone,) = estimates.compare_means([course], [still]).blocks
    assert opposed.variance < alone.variance / 1e6
