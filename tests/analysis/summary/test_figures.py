# SPDX-License-Identifier: MPL-2.0
"""How far measurements of the same thing differ."""

import math

import numpy as np
import pytest
import simulation

from io_benchmark.analysis.inference.estimates import SideData
from io_benchmark.analysis.model import Entry
from io_benchmark.analysis.summary.figures import noise_floors


def side(*entries: Entry) -> SideData:
    logs = tuple(math.log(entry.mean_ns) for entry in entries)
    return SideData(logs, tuple((entry,) for entry in entries))


def test_noise_floors_are_the_largest_differences() -> None:
    """Of halves of any run; of workers within one side, where differences of sides do not count."""
    apart = side(*(simulation.entry(np.full(100, each)) for each in (2000, 4000)))
    close = side(*(simulation.entry(np.full(100, each)) for each in (90e3, 95e3, 99e3)))
    uneven = side(simulation.entry(np.array([3000, 2000] * 50)))
    less_uneven = side(simulation.entry(np.array([900, 1000] * 50)))
    within, between = noise_floors([apart, close, uneven, less_uneven])
    assert (within.kind, between.kind) == ("within-worker", "between-workers")
    assert (within.low_ratio, within.high_ratio) == pytest.approx((0.9, 1.5))
    assert (between.low_ratio, between.high_ratio) == pytest.approx((0.5, 2.0))


def test_a_single_worker_shows_no_difference_between_workers() -> None:
    """There is one floor only."""
    (floor,) = noise_floors([side(simulation.entry(np.full(100, 1000)))])
    assert floor.kind == "within-worker"
