# SPDX-License-Identifier: MPL-2.0
"""A profiled task on each pool of the table: minutes, and money at the pool's price."""

import math
from collections.abc import Iterable
from statistics import fmean

from msgspec.structs import replace

from io_benchmark.analysis.fleet.fleet_model import FleetPool, PoolPredicted
from io_benchmark.analysis.model.statements import statement
from io_benchmark.analysis.prediction.prediction_model import TaskPrediction
from io_benchmark.costs.worker_time import MINUTES_PER_HOUR, Price
from io_benchmark.results.parts import NS_PER_S

_NS_PER_MINUTE = 60 * NS_PER_S
_NO_RESULT = statement("it has no result that a prediction can use")


def with_predictions(pools: Iterable[FleetPool], prediction: TaskPrediction) -> list[FleetPool]:
    """Return the pools with the times of a task; the profiled pool has what was measured there."""
    predictions = {each.pool: each for each in prediction.pools}
    rows = []
    for row in pools:
        on_pool = predictions.get(row.pool)
        if row.pool == prediction.pool:
            predicted = _measured(prediction.measured_ns, row.price)
        elif on_pool is None:
            predicted = PoolPredicted(reason=_NO_RESULT)
        elif on_pool.time_ns is None:
            predicted = PoolPredicted(reason=on_pool.reason)
        else:
            minutes = on_pool.time_ns / _NS_PER_MINUTE
            predicted = PoolPredicted(
                minutes=minutes,
                low_minutes=_minutes(on_pool.low_ns),
                high_minutes=_minutes(on_pool.high_ns),
                cost=_cost(minutes, row.price),
            )
        rows.append(replace(row, predicted=predicted))
    return rows


def _measured(measured_ns: Iterable[int], price: Price | None) -> PoolPredicted:
    logs = [math.log(time_ns) for time_ns in measured_ns if time_ns > 0]
    if not logs:
        return PoolPredicted(reason=_NO_RESULT)
    minutes = math.exp(fmean(logs)) / _NS_PER_MINUTE
    return PoolPredicted(minutes, cost=_cost(minutes, price))


def _minutes(time_ns: float | None) -> float | None:
    return None if time_ns is None else time_ns / _NS_PER_MINUTE


def _cost(minutes: float, price: Price | None) -> float | None:
    return None if price is None else minutes / MINUTES_PER_HOUR * price.per_hour
