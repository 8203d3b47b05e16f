# SPDX-License-Identifier: MPL-2.0
"""Simulation of rankings: equal pools hardly have a slower label, however many are tried."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

from io_benchmark.analysis.tasks.ranking import LabelRanking, RunTotals
from io_benchmark.sources.run_results import TaskRun

START_MS, USUAL_MS = 1_774_000_000_000, 2_400_000
FALSE_CALLS = 0.05
NOISE = 0.02  # of a run


@dataclass(frozen=True)
class Pools:
    """Pools that take the same time for each label, except the first label on the first pool."""

    workers: tuple[int, ...]  # of each pool
    between: tuple[float, ...]  # workers of each pool
    labels: int = 1
    ratio: float = 1.0

    def ranking(self, dice: np.random.Generator) -> LabelRanking:
        sums = RunTotals()
        for label in range(self.labels):
            for pool, (workers, between) in enumerate(zip(self.workers, self.between, strict=True)):
                logs = dice.normal(0, math.hypot(between, NOISE), workers)
                if (label, pool) == (0, 0):
                    logs += math.log(self.ratio)
                for worker, log in enumerate(logs):
                    run = TaskRun(
                        label=f"label {label}",
                        pool=f"pool {pool}",
                        task_id=f"{label}.{pool}.{worker}",
                        run_id=0,
                        worker=f"worker {worker}",
                        state="completed",
                        reason="completed",
                        started_ms=START_MS,
                        resolved_ms=START_MS + round(USUAL_MS * math.exp(log)),
                    )
                    sums.add(run)
        return sums.ranking({})


EQUAL = {
    "two workers each": Pools((2, 2), (0.2, 0.02)),
    "two of a noisy pool against thirty": Pools((2, 30), (0.12, 0.02)),
    "three of a noisy pool against six": Pools((3, 6), (0.12, 0.02)),
    # The pool that takes least is chosen among all: 14 of 100 were called different.
    "ten pools": Pools((30,) * 10, (0.05,) * 10),
    "six pools": Pools((6,) * 6, (0.05,) * 6),
    # At a strict level a few workers that agree by chance: 48 and 31 of 100 were.
    "two against thirty, many labels": Pools((2, 30), (0.12, 0.02), labels=50),
    "three against six, many labels": Pools((3, 6), (0.12, 0.02), labels=50),
    "six against thirty, many labels": Pools((6, 30), (0.12, 0.02), labels=50),
}


@pytest.fixture(name="rates")
def _rates(rates):
    # Many labels take as long as many pushes.
    rates.repetitions = min(4 * rates.repetitions, 400)
    return rates


@pytest.mark.parametrize("pools", EQUAL.values(), ids=EQUAL)
def test_equal_pools(pools, rates):
    """The chance that any label of equal pools is ranked."""
    dice = np.random.default_rng(2)
    for _ in range(rates.repetitions):
        rates.add("ranked", bool(pools.ranking(dice).labels))
    assert rates.keeps("ranked", FALSE_CALLS)


@pytest.mark.parametrize(
    "pools",
    [
        Pools((6, 6), (0.05, 0.05), labels=20, ratio=1.6),
        Pools((4, 30), (0.05, 0.05), labels=20, ratio=1.8),
        Pools((30, 30, 30), (0.1, 0.1, 0.1), labels=20, ratio=1.2),
    ],
    ids=str,
)
def test_a_slower_label_is_found(pools, rates):
    """One of twenty labels."""
    dice = np.random.default_rng(3)
    for _ in range(rates.repetitions):
        found = [(row.label, row.pool) for row in pools.ranking(dice).labels]
        rates.add("found", ("label 0", "pool 0") in found)
    assert rates.reaches("found", 0.8)
