# SPDX-License-Identifier: MPL-2.0
"""The pages whose sizes are held, besides those of the golden reports."""

import dataclasses
import math
import random
from functools import cache

import seed_workers
from divided_reports import of_pools
from msgspec.structs import replace
from predicted_tasks import pool_workers, profile, run_of
from simulated_results import Pool
from situations import BASE, ONE_DISK

from io_benchmark.analysis.model.report import Report
from io_benchmark.analysis.prediction.predict import predict
from io_benchmark.analysis.prediction.prediction_model import Predictions
from io_benchmark.analysis.tasks.ranking import LabelRanking, RunTotals
from io_benchmark.costs.worker_time import Price
from io_benchmark.sources.run_results import TaskRun

SLOW_CPU = dataclasses.replace(BASE, user_factor=1.5, kernel_factor=1.5)
FIVE_MORE = ("random-io", "spawn", "sync-write", "exec", "unpack")
PRICES = {"gecko-t/intel": Price(0.8, "USD"), "gecko-t/amd-16": Price(0.6, "USD")}
HOUR_MS, DAY_MS, START_MS = 3_600_000, 86_400_000, 1_774_000_000_000


@cache
def three_pools(workers: int = 5, retrieves: int = 120) -> Report:
    """One workload: a pool with one disk, and one with slow CPUs; the time is divided."""
    pools = (
        Pool("intel", BASE, workers),
        Pool("amd-16", ONE_DISK, workers),
        Pool("amd-30", SLOW_CPU, workers),
    )
    return of_pools(*pools, retrieves=retrieves)


@cache
def many_pools_and_workloads(pools: int = 20) -> Report:
    """Six workloads, of which every second pool is slower in some."""
    change = {}
    for number in range(pools):
        factors = {"random-io": 1 + 0.1 * (number % 7), "unpack": 1 + 0.2 * (number % 2)}
        change[f"intel/{number}"] = seed_workers.measured(factors, only=FIVE_MORE, seed=number)
    workers = seed_workers.workers(pools, pools=("intel",), change=change)
    sides = [f"pool-{number + 1:02d}" for number in range(pools)]
    named = [replace(worker, side=side) for worker, side in zip(workers, sides, strict=True)]
    return seed_workers.report_of(named, sides[0])


def prediction() -> Predictions:
    """Two tasks on two pools: one computes, and one writes as fast as the disks of intel do."""
    written = [0.0, *(50.0 for _ in range(80)), 0.0]
    tasks = [
        run_of(profile(written, command="1")),
        run_of(profile([0.0] * 80, busy_cpus=[3.5] * 80, waiting=0.0, command="2")),
    ]
    workers = [*pool_workers("intel", (100,) * 3), *pool_workers("amd-16", (50,) * 3)]
    return Predictions(tuple(predict(tasks, workers, PRICES)), (), ())


def ranking() -> LabelRanking:
    """Eight labels on two pools over 30 days, six of them slower on one."""
    dice, sums = random.Random(1), RunTotals()
    for label in range(8):
        for pool, factor in (("gecko-t/intel", 1.0), ("gecko-t/amd-16", 1 + 0.05 * label)):
            for worker in range(6):
                usual_h = 0.5 * (1 + label / 4) * factor * math.exp(dice.gauss(0, 0.01))
                for day in range(30):
                    started_ms = START_MS + day * DAY_MS
                    run = TaskRun(
                        label=f"test-linux2404-64/opt-mochitest-browser-chrome-{label}",
                        pool=pool,
                        task_id=f"{label} {pool} {worker} {day}",
                        run_id=0,
                        worker=f"{pool}/{worker}",
                        state="completed",
                        reason="completed",
                        started_ms=started_ms,
                        resolved_ms=started_ms + round(usual_h * HOUR_MS),
                    )
                    sums.add(run)
    return sums.ranking(PRICES)
