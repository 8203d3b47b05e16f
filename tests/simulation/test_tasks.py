# SPDX-License-Identifier: MPL-2.0
"""Simulation of real tasks: equal pools are called equal however they mix labels, intervals cover."""

import math
from dataclasses import replace

import numpy as np
import pytest
from rates import Rates
from sample_tasks import compared, completed
from simulated_tasks import NOISES, Tasks, true_ratio

from io_benchmark.analysis.model import DIFFERENT, Verdict

FALSE_CALLS, COVERAGE = 0.05, 0.93
MOST = 200  # repetitions: a thousand would take as long as all other simulations
EQUAL = {
    "one label": Tasks(1, (3, 3), 1),
    "two workers": Tasks(4, (2, 2), 4),
    "two against eight": Tasks(4, (2, 8), 3),
    "one against six": Tasks(6, (1, 6), 4),
    "six labels": Tasks(6, (6, 6), 3),
    "workers vary": Tasks(6, (6, 6), 6, between=0.12),
    "many labels": Tasks(20, (20, 8), 3),
}


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("tasks", EQUAL.values(), ids=EQUAL)
def test_equal_pools(tasks: Tasks, noise: str, rates: Rates) -> None:
    """Pools that differ in their mix of labels only are seldom called different."""
    rates.repetitions = min(rates.repetitions, MOST)
    dice = np.random.default_rng(1)
    for _ in range(rates.repetitions):
        made, ratios, _ = replace(tasks, noise=noise).compare(dice)
        rates.add("called", made is not None and made.verdict in DIFFERENT)
        rates.add("covers", made is None or not made.interval.excludes(true_ratio(made, ratios)))
    assert rates.keeps("called", FALSE_CALLS)
    assert rates.reaches("covers", COVERAGE)


def test_the_mix_is_a_trap(rates: Rates) -> None:
    """Without regard to labels nine of ten pairs of equal pools seem to differ by over 5 %."""
    rates.repetitions = min(rates.repetitions, MOST)
    dice = np.random.default_rng(2)
    for _ in range(rates.repetitions):
        _, _, regardless = Tasks(6, (12, 12), 4).compare(dice)
        rates.add("seems to differ", abs(math.log(regardless)) > math.log(1.05))
    assert rates.reaches("seems to differ", 0.8)


@pytest.mark.parametrize("noise", NOISES)
def test_labels_that_differ(noise: str, rates: Rates) -> None:
    """Where labels have ratios of their own, the interval covers that of the time of the mix."""
    rates.repetitions = min(rates.repetitions, MOST)
    dice = np.random.default_rng(3)
    tasks = Tasks(6, (8, 8), 4, ratio=1.1, by_label=0.15, noise=noise)
    for _ in range(rates.repetitions):
        made, ratios, _ = tasks.compare(dice)
        assert made is not None
        rates.add("covers", not made.interval.excludes(true_ratio(made, ratios)))
    assert rates.reaches("covers", COVERAGE)


def test_a_difference_is_found(rates: Rates) -> None:
    """1.2× with twelve workers a pool and six labels."""
    rates.repetitions = min(rates.repetitions, MOST)
    dice = np.random.default_rng(4)
    for _ in range(rates.repetitions):
        made, _, _ = Tasks(6, (12, 12), 4, ratio=1.2, evenness=20).compare(dice)
        rates.add("slower", made is not None and made.verdict is Verdict.SLOWER)
    assert rates.reaches("slower", 0.8)


def test_few_workers_with_many_runs(rates: Rates) -> None:
    """Five workers that did everything, against 200 that did one run each, as in a cloud."""
    rates.repetitions = min(rates.repetitions, MOST)
    dice = np.random.default_rng(6)
    for _ in range(rates.repetitions):
        runs = [
            completed(pool, 10 * math.exp(dice.normal(0, 0.5)), f"{pool}{at % workers}", run_id=at)
            for pool, workers in (("a", 5), ("b", 200))
            for at in range(200)
        ]
        rates.add("called", compared(runs).comparisons[0].verdict in DIFFERENT)
    assert rates.keeps("called", FALSE_CALLS)


def test_a_choice_of_labels_is_not_by_their_times(rates: Rates) -> None:
    """Of 1,300 noisy labels 1,000 are compared; choosing the longest ones of a side would mislead."""
    rates.repetitions = min(rates.repetitions, MOST)
    dice = np.random.default_rng(7)
    for _ in range(rates.repetitions):
        runs = [
            completed(
                pool, 10 * math.exp(dice.normal(0, 0.5)), f"{pool}{at % 300}", f"t{at % 1300}"
            )
            for pool in "ab"
            for at in range(1300)
        ]
        rates.add("called", compared(runs).comparisons[0].verdict in DIFFERENT)
    assert rates.keeps("called", FALSE_CALLS)


def test_costs_cover_the_truth(rates: Rates) -> None:
    """A fifth of the runs of one pool is preempted, half done on average: 10 % of its time is lost."""
    rates.repetitions = min(rates.repetitions, MOST)
    dice = np.random.default_rng(5)
    tasks = Tasks(6, (6, 6), 6, ratio=1.15, preempted=(0.2, 0.02))
    for _ in range(rates.repetitions):
        made, ratios, _ = tasks.compare(dice)
        assert made is not None
        assert made.cost is not None
        truth = 0.4 / 0.5 * true_ratio(made, ratios) * 1.1 / 1.01
        rates.add("covers", not made.cost.interval.excludes(truth))
    assert rates.reaches("covers", COVERAGE)
