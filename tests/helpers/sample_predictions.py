# SPDX-License-Identifier: MPL-2.0
"""Predictions of tasks, as the golden files have them."""

from typing import Any

from predicted_tasks import pool_workers, profile, run_of

from io_benchmark.analysis.model.statements import statement
from io_benchmark.analysis.prediction.predict import predict
from io_benchmark.analysis.prediction.prediction_model import (
    PoolPrediction,
    Predictions,
    TaskPrediction,
)
from io_benchmark.costs.worker_time import Price

MINUTE_NS = 60e9
PRICES = {"intel": Price(0.42, "USD"), "amd-16": Price(0.2, "USD"), "amd-30": Price(0.6, "USD")}


def three_pools() -> Predictions:
    """A task that writes at the ceiling of its disks; one pool lacks what a prediction needs."""
    workers = [
        *pool_workers("intel", (100,) * 3),
        *pool_workers("amd-16", (50,) * 3),
        *pool_workers("amd-30", (95,), only=()),
    ]
    made = profile((0, 50, 50, 0), cpu_s=1, syncs={"flushes": 9, "commits": 9})
    return Predictions(tuple(predict([run_of(made)], workers, PRICES)), (), ())


def pool(name: str, minutes: float, reach: float = 1.2, **changes: Any) -> PoolPrediction:
    """Return a predicted pool, whose interval reaches so far on both sides."""
    if not minutes:
        return PoolPrediction(name, 0, None, reason=statement("its disks are not known"), **changes)
    time_ns = minutes * MINUTE_NS
    ends = (time_ns / reach, time_ns * reach)
    return PoolPrediction(name, 3, 1e8, time_ns, *ends, 0.0, 0.0, 0.0, **changes)


def task(*pools: PoolPrediction, **changes: Any) -> TaskPrediction:
    """Return a task that took 10 minutes on intel."""
    facts: dict[str, Any] = {
        "program": "make",
        "sha256": "0" * 64,
        "pool": "intel",
        "measured_ns": (round(9.5 * MINUTE_NS), round(10.5 * MINUTE_NS)),
        "cpus_used": 3.5,
        "written_bytes": 2e9,
        "read_bytes": 1e6,
        "syncs": 12.0,
    }
    return TaskPrediction(pools=pools, **(facts | changes))


def sixty_pools() -> Predictions:
    """One task on sixty pools; every tenth of them is not predicted."""
    pools = [
        pool(f"pool-{number:02}", 5 + number / 6 if number % 10 else 0) for number in range(60)
    ]
    return Predictions((task(*pools),), (), ())


def several_tasks() -> Predictions:
    """Six tasks, of which the answer has four."""
    tasks = [
        task(pool("amd-16", 8 + number), pool("arm", 30), label=f"build-{number}")
        for number in range(6)
    ]
    return Predictions(tuple(tasks), ("results/a: is no result",), ())


def nothing() -> Predictions:
    """A task whose results are of no other pool."""
    return Predictions((task(),), (), ())


def hostile() -> Predictions:
    """Names that would end a line, color a terminal or become markup."""
    bad = "[x](javascript:1) | \x1b[31m `a`\u202e<b>" + "long " * 60
    made = task(
        pool(f"one {bad}", 12),
        pool(f"two {bad}", 0),
        program=bad,
        label=bad,
        pool=f"three {bad}",
        notes=(statement("a note of {source}", source=bad),),
    )
    return Predictions((made,), (bad,), (bad,))
