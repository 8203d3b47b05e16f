# SPDX-License-Identifier: MPL-2.0
"""A profiled task on every pool of the table."""

import pytest
from measured_pools import reading, row, table
from msgspec.structs import replace

from io_benchmark.analysis.fleet.fleet_model import PoolPredicted
from io_benchmark.analysis.model.statements import statement
from io_benchmark.analysis.prediction.prediction_model import PoolPrediction, TaskPrediction
from io_benchmark.costs.worker_time import Price
from io_benchmark.report.content import text_of

MINUTE_NS = 60 * 10**9
REASON = statement("it has no trials")
PREDICTION = TaskPrediction(
    program="make",
    sha256=None,
    pool="intel",
    measured_ns=(10 * MINUTE_NS, 40 * MINUTE_NS),
    cpus_used=None,
    written_bytes=None,
    read_bytes=None,
    syncs=None,
    pools=(
        PoolPrediction("amd", 1, None, 30.0 * MINUTE_NS, 20.0 * MINUTE_NS, 50.0 * MINUTE_NS),
        PoolPrediction("arm", 1, None, reason=REASON),
    ),
)
PRICES = {"intel": Price(0.6, "USD"), "amd": Price(0.3, "USD")}
POOLS = [reading(pool) for pool in ("intel", "amd", "arm", "old")]


def test_predictions() -> None:
    """Minutes and money: predicted, measured on the profiled pool, or why there are none."""
    made = table(POOLS, prices=PRICES, prediction=PREDICTION)
    assert made.program == "make"
    assert row(made, "amd").predicted == PoolPredicted(30, 20, 50, 0.15)
    measured = row(made, "intel").predicted
    assert measured is not None
    assert (measured.low_minutes, measured.high_minutes) == (None, None)
    assert [measured.minutes, measured.cost] == pytest.approx([20, 0.2])
    assert row(made, "arm").predicted == PoolPredicted(reason=REASON)
    without = row(made, "old").predicted
    assert without is not None
    assert without.reason is not None
    assert text_of(without.reason) == "it has no result that a prediction can use"


def test_a_profiled_pool_without_times() -> None:
    """A time of nothing is no measurement."""
    made = table(POOLS, prediction=replace(PREDICTION, measured_ns=(0, 10 * MINUTE_NS)))
    measured = row(made, "intel").predicted
    assert measured is not None
    assert measured.minutes == pytest.approx(10)
    made = table(POOLS, prediction=replace(PREDICTION, measured_ns=(0,)))
    assert row(made, "intel").predicted == row(made, "old").predicted


def test_without_prices() -> None:
    """Minutes alone; a label names the task."""
    made = table(POOLS, prediction=replace(PREDICTION, label="build"))
    assert row(made, "amd").predicted == PoolPredicted(30, 20, 50)
    assert made.program == "build"


def test_without_a_prediction() -> None:
    """Nothing is said of tasks."""
    made = table(POOLS)
    assert (made.program, {pool.predicted for pool in made.pools}) == ("", {None})
