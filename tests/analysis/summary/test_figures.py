# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""How far measurements of the same thing differ."""

import math

import numpy as np
import pytest
import seed_workers
import simulation

from io_benchmark.analysis.inference.estimates import SideData
from io_benchmark.analysis.model import Entry, Run
from io_benchmark.analysis.summary.figures import noise_floors


def side(*entries: Entry) -> tuple[list[Run], SideData]:
    (worker,) = seed_workers.workers(1, pools=("intel",))
    logs = tuple(math.log(entry.mean_ns) for entry in entries)
    return [Run(worker, entry) for entry in entries], SideData(logs, tuple((e,) for e in entries))


def test_noise_floors_are_the_largest_differences() -> None:
    """Of halves of any run; of workers within one side, where differences of sides do not count."""
    sides = {
        "apart": side(*(simulation.entry(np.full(100, each)) for each in (2000, 4000))),
        "close": side(*(simulation.entry(np.full(100, each)) for each in (90e3, 95e3, 99e3))),
        "uneven": side(simulation.entry(np.array([3000, 2000] * 50))),
        "less uneven": side(simulation.entry(np.array([900, 1000] * 50))),
    }
    floors = noise_floors(
        {name: runs for name, (runs, _) in sides.items()},
        {name: data for name, (_, data) in sides.items()},
    )
    within, between = floors
    assert (within.kind, between.kind) == ("within-worker", "between-workers")
    assert (within.low_ratio, within.high_ratio) == pytest.approx((0.9, 1.5))
    assert (between.low_ratio, between.high_ratio) == pytest.approx((0.5, 2.0))


def test_a_single_worker_shows_no_difference_between_workers() -> None:
    """There is one floor only."""
    runs, data = side(simulation.entry(np.full(100, 1000)))
    (floor,) = noise_floors({"a": runs}, {"a": data})
    assert floor.kind == "within-worker"
