# SPDX-License-Identifier: MPL-2.0
"""Intervals hold as many simulated tasks as they say, where workers and tasks differ as assumed."""

import math
import random

import pytest
from msgspec.structs import replace
from predicted_tasks import profile

from io_benchmark.analysis.prediction.demand import Demand
from io_benchmark.analysis.prediction.pool_change import MODEL_ERROR, PoolChange
from io_benchmark.analysis.prediction.pool_storage import OWN_CPU, SYNC, WRITE_RATE, PoolStorage
from io_benchmark.analysis.prediction.predict import _predict_pool

VARIATION = 0.05
MIB_PER_S = 1024.0**2
TRIALS = 300
COMPUTING, WRITING = (0, 0, 5, 0) * 5, (40, 50, 30, 0) * 5
FIGURES = {
    "intel": {
        (WRITE_RATE, "workspace"): 100 * MIB_PER_S,
        (SYNC, "workspace"): 2e5,
        (OWN_CPU, ""): 3e6,
    },
    "amd-16": {
        (WRITE_RATE, "workspace"): 50 * MIB_PER_S,
        (SYNC, "workspace"): 4e5,
        (OWN_CPU, ""): 3e6,
    },
}


def storage(pool: str, workers: int, rng: random.Random | None) -> PoolStorage:
    """A pool whose workers differ by chance; without chance, the pool as it is."""
    spread = VARIATION if rng else 0.0
    figures = {
        key: [math.log(value) + spread * (rng or random).gauss(0, 1) for _ in range(workers)]
        for key, value in FIGURES[pool].items()
    }
    return PoolStorage(pool, workers, figures, {}, {}, {}, 16.0, None, {}, None)


@pytest.mark.parametrize("written", [COMPUTING, WRITING], ids=["computing", "writing"])
@pytest.mark.parametrize(("profiles", "workers"), [(1, 1), (3, 3), (5, 8)])
def test_coverage(written, profiles: int, workers: int) -> None:
    """Nine of ten single tasks, with one profile and one worker as with several."""
    rng = random.Random(profiles * 1000 + workers)
    task = Demand.of(profile(written, cpu_s=4, syncs={"flushes": 2000, "commits": 1000}))
    assert isinstance(task, Demand)
    change = PoolChange.of(task, storage("intel", 1, None), storage("amd-16", 1, None))
    true_ns = change.times(task).total
    held = 0
    for _ in range(TRIALS):
        demands = []
        for _ in range(profiles):
            factor = math.exp(rng.gauss(0, VARIATION))
            wall_ns = round(task.wall_ns * factor)
            demands.append(replace(task, wall_ns=wall_ns, spans_ns=task.spans_ns * factor))
        pools = [storage(pool, workers, rng) for pool in FIGURES]
        predicted = _predict_pool(demands, None, *pools)
        assert predicted.reason is None
        assert predicted.low_ns is not None
        assert predicted.high_ns is not None
        single_ns = true_ns * math.exp(rng.gauss(0, math.hypot(MODEL_ERROR, VARIATION)))
        held += predicted.low_ns <= single_ns <= predicted.high_ns
    assert held / TRIALS >= 0.87
