# SPDX-License-Identifier: MPL-2.0
"""Simulation of real tasks: equal pools are called equal with any labels, and intervals cover."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest
from msgspec.structs import replace as replaced
from sample_tasks import compared, completed

from io_benchmark.analysis.model.comparison import DIFFERENT, Verdict
from io_benchmark.analysis.tasks.task_model import TaskComparison
from io_benchmark.costs.worker_time import Price
from io_benchmark.sources.run_results import TaskRun

# ln of what a run takes, apart from its label and its worker.
Noise = Callable[[np.random.Generator], float]
NOISES: dict[str, Noise] = {
    "normal": lambda dice: float(dice.normal(0, 0.05)),
    "heavy-tailed": lambda dice: float(0.05 * dice.standard_t(3)),
    "noisy": lambda dice: float(dice.normal(0, 0.5)),
    # One run of ten takes up to several times as long.
    "outliers": lambda dice: float(
        dice.exponential(0.5) if dice.random() < 0.1 else dice.normal(0, 0.05)
    ),
}
PRICES = {"a": Price(0.4, "USD"), "b": Price(0.5, "USD")}


@dataclass(frozen=True)
class Tasks:
    """Two pools: `a` is compared with `b`."""

    labels: int
    workers: tuple[int, int]  # of a, b
    runs: int  # per worker
    ratio: float = 1.0
    noise: str = "normal"
    between: float = 0.05  # between workers
    baseline_between: float | None = None  # of b, where it is another one
    by_label: float = 0.0  # how far labels differ in their ratio
    # How differently the pools mix labels: small numbers give mixes of few labels each.
    evenness: float = 0.7
    preempted: tuple[float, float] = (0.0, 0.0)  # runs that are lost, of a, b

    def runs_of(self, dice: np.random.Generator) -> tuple[list[TaskRun], dict[str, float]]:
        """Return runs, and the true ratio of each label."""
        seconds = np.exp(dice.normal(6.5, 1.2, self.labels))
        ratios = self.ratio * np.exp(dice.normal(0, self.by_label, self.labels))
        runs = []
        for pool, workers, lost in zip("ab", self.workers, self.preempted, strict=True):
            between = self.between
            if pool == "b" and self.baseline_between is not None:
                between = self.baseline_between
            mix = dice.dirichlet(np.full(self.labels, self.evenness))
            for worker in range(workers):
                factor = dice.normal(0, between)
                for number, label in enumerate(dice.choice(self.labels, self.runs, p=mix)):
                    log = math.log(seconds[label]) + factor + NOISES[self.noise](dice)
                    log += math.log(ratios[label]) if pool == "a" else 0.0
                    minutes = math.exp(log) / 60
                    names = {"worker": f"{pool}{worker}", "label": f"task-{label}"}
                    if dice.random() < lost:
                        part = max(dice.random() * minutes, 0.01)
                        run = completed(pool, part, **names, run_id=2 * number)
                        runs.append(replaced(run, state="exception", reason="worker-shutdown"))
                    runs.append(completed(pool, minutes, **names, run_id=2 * number + 1))
        return runs, {f"task-{label}": float(ratio) for label, ratio in enumerate(ratios)}

    def compare(self, dice: np.random.Generator) -> tuple[TaskComparison | None, float]:
        """Return the comparison, and the true ratio of the time that its mix takes.

        Shares are means of both sides.
        """
        runs, ratios = self.runs_of(dice)
        comparisons = compared(runs, prices=PRICES).comparisons
        if not comparisons:
            return None, 1.0
        (made,) = comparisons
        logs = (row.share * math.log(ratios[row.label]) for row in made.labels)
        return made, math.exp(math.fsum(logs))


FALSE_CALLS, COVERAGE = 0.05, 0.93
MOST = 200  # repetitions: a thousand would take as long as all other simulations
EQUAL = {
    "one label": Tasks(1, (3, 3), 1),
    "two against eight": Tasks(4, (2, 8), 3),
    "one against six": Tasks(6, (1, 6), 4),
    "many labels": Tasks(20, (20, 8), 3),
}


@pytest.fixture(name="rates")
def _rates(rates):
    rates.repetitions = min(rates.repetitions, MOST)
    return rates


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("tasks", EQUAL.values(), ids=EQUAL)
def test_equal_pools(tasks, noise, rates):
    """Pools that differ in their mix of labels only are seldom called different."""
    dice = np.random.default_rng(1)
    for _ in range(rates.repetitions):
        made, truth = replace(tasks, noise=noise).compare(dice)
        rates.add("called", made is not None and made.verdict in DIFFERENT)
        rates.add("covers", made is None or not made.interval.excludes(truth))
    assert rates.keeps("called", FALSE_CALLS)
    assert rates.reaches("covers", COVERAGE)


FEW = ((1, 2), (1, 3), (1, 6), (2, 2), (2, 3), (2, 6), (3, 3), (3, 6))


@pytest.mark.parametrize("noise", ["normal", "outliers"])
@pytest.mark.parametrize("workers", FEW, ids=str)
def test_few_workers(workers, noise, rates):
    """Few workers of a pool that varies ten times as much are seldom called different.

    With one worker 24 of 100 were.
    """
    dice = np.random.default_rng(6)
    tasks = Tasks(1, workers, 1, between=0.2, baseline_between=0.02, noise=noise)
    rates.repetitions = max(rates.repetitions, 100)
    for _ in range(rates.repetitions):
        made, _ = tasks.compare(dice)
        rates.add("called", made is not None and made.verdict in DIFFERENT)
    assert rates.keeps("called", FALSE_CALLS)


def test_three_workers_show_a_large_difference(rates):
    """1.5× with three workers of each pool, which vary by 2 %, each with one run."""
    dice = np.random.default_rng(7)
    for _ in range(rates.repetitions):
        made, _ = Tasks(1, (3, 3), 1, ratio=1.5, between=0.02).compare(dice)
        rates.add("slower", made is not None and made.verdict is Verdict.SLOWER)
    assert rates.reaches("slower", 0.9)


@pytest.mark.parametrize("ratio", [1.0, 1.1, 1.2])
def test_the_advised_workers_settle(ratio, rates):
    """Three workers of each pool and those that are advised reach a verdict 75 times of 100."""
    dice = np.random.default_rng(8)
    for _ in range(rates.repetitions):
        logs = dice.normal(math.log(40), 0.05, (2, 104))
        logs[0] += math.log(ratio)
        advice = _of_first(logs, 3).advice
        if advice is not None and advice.workers_to_add is not None:
            later = _of_first(logs, 3 + advice.workers_to_add)
            rates.add("settled", later.verdict is not Verdict.INCONCLUSIVE)
        else:
            rates.repetitions -= 1
    assert rates.reaches("settled", 0.75)


def _of_first(logs, count):
    """Compare the first workers of each pool."""
    runs = [
        completed(pool, math.exp(log), f"{pool}{worker}")
        for pool, side in zip("ab", logs, strict=True)
        for worker, log in enumerate(side[:count])
    ]
    (made,) = compared(runs).comparisons
    return made


@pytest.mark.parametrize("noise", NOISES)
def test_labels_that_differ(noise, rates):
    """Where labels have ratios of their own, the interval covers that of the time of the mix."""
    dice = np.random.default_rng(3)
    tasks = Tasks(6, (8, 8), 4, ratio=1.1, by_label=0.15, noise=noise)
    for _ in range(rates.repetitions):
        made, truth = tasks.compare(dice)
        assert made is not None
        rates.add("covers", not made.interval.excludes(truth))
    assert rates.reaches("covers", COVERAGE)


def test_a_difference_is_found(rates):
    """1.2× with twelve workers a pool and six labels."""
    dice = np.random.default_rng(4)
    for _ in range(rates.repetitions):
        made, _ = Tasks(6, (12, 12), 4, ratio=1.2, evenness=20).compare(dice)
        rates.add("slower", made is not None and made.verdict is Verdict.SLOWER)
    assert rates.reaches("slower", 0.8)


def test_costs_cover_the_truth(rates):
    """A fifth of the runs of one pool is preempted half done: 10 % of its time is lost."""
    dice = np.random.default_rng(5)
    tasks = Tasks(6, (6, 6), 6, ratio=1.15, preempted=(0.2, 0.02))
    for _ in range(rates.repetitions):
        made, truth = tasks.compare(dice)
        assert made is not None
        assert made.cost is not None
        cost_ratio = 0.4 / 0.5 * truth * 1.1 / 1.01
        rates.add("covers", not made.cost.interval.excludes(cost_ratio))
    assert rates.reaches("covers", COVERAGE)
