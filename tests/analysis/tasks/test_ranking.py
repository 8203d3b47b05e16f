# SPDX-License-Identifier: MPL-2.0
"""Labels ranked by what their slower pools cost: the sums, their intervals, and what is chance."""

import pytest
from sample_ranking import HOUR_MS, START_MS, totals

from io_benchmark.costs.worker_time import Price
from io_benchmark.sources.run_results import TaskRun


def test_hours_and_money_per_month() -> None:
    """6 runs per day take 2 hours instead of 1: 180 hours more per month, and what these cost."""
    sums = totals({("a", "p/slow"): 2.0, ("a", "p/fast"): 1.0, ("b", "p/fast"): 1.0}, spread=0.01)
    (row,) = sums.ranking({"slow": Price(0.5, "USD"), "p/fast": Price(0.4, "USD")}).labels
    assert (row.label, row.pool, row.reference) == ("a", "p/slow", "p/fast")
    assert (row.runs, row.workers) == ((180, 180), (6, 6))
    assert row.ratio == pytest.approx(2.0, rel=0.03)
    assert row.hours == pytest.approx(180, rel=0.06)
    assert row.hours_interval[0] < row.hours < row.hours_interval[1]
    # 360 hours at 0.50, less 180 at 0.40.
    assert row.money == pytest.approx(108, rel=0.06)


def test_cheaper_hours() -> None:
    """A slower pool whose hours cost a quarter saves money, and comes last."""
    hours = {("a", "slow"): 2.0, ("a", "fast"): 1.0, ("b", "other"): 1.2, ("b", "fast"): 1.0}
    prices = {
        pool: Price(0.1 if pool == "slow" else 0.4, "USD") for pool in ("slow", "fast", "other")
    }
    first, last = totals(hours, spread=0.01).ranking(prices).labels
    assert (first.label, last.label) == ("b", "a")
    assert last.money is not None
    assert last.money < 0 < last.hours


def test_chance_is_not_ranked() -> None:
    """Of 300 equal labels none is called slower, and one of 1.3 times among them is."""
    hours = {(f"label {number}", pool): 1.0 for number in range(300) for pool in "xy"}
    assert totals(hours, days=2, spread=0.05).ranking({}).labels == ()
    hours["label 7", "y"] = 1.3
    ranking = totals(hours, days=2, spread=0.05).ranking({})
    assert [(row.label, row.pool) for row in ranking.labels] == [("label 7", "y")]
    assert ranking.compared == 300


def test_any_two_pools_may_differ() -> None:
    """The pool on which a label takes least is chosen afterwards: three pools make three pairs."""
    hours = {("a", "slow"): 2.0, ("a", "usual"): 1.0, ("a", "fast"): 1.0}
    ranking = totals(hours, spread=0.01).ranking({})
    assert ranking.compared == 2
    levels = {row.pool: row.interval.level_ratio for row in ranking.labels}
    assert levels["slow"] == pytest.approx(1 - 0.05 / 3)


def test_one_worker_shows_nothing() -> None:
    """A pool with a single worker is not compared; with two it is."""
    hours = {("a", "slow"): 3.0, ("a", "fast"): 1.0}
    assert totals(hours, workers=1).ranking({}).compared == 0
    assert totals(hours, workers=2).ranking({}).compared == 1


def test_pools_of_different_systems() -> None:
    """A label is compared with its fastest pool of the same system, as far as systems are known."""
    hours = {("a", "slow"): 3.0, ("a", "fast"): 1.0, ("a", "other"): 2.0}
    systems = {"slow": "windows", "fast": "linux", "other": "windows"}
    sums = totals(hours, systems=systems)
    (row,) = sums.ranking({}).labels
    assert (row.pool, row.reference, sums.ranking({}).compared) == ("slow", "other", 1)
    for pool in ("fast", "slow"):
        unknown = totals(hours, systems={**systems, pool: ""})
        assert unknown.ranking({}).compared == (2 if pool == "fast" else 0)


def test_what_counts() -> None:
    """A run that is read twice counts once; one that did not complete is lost time of its pool.

    A run whose times contradict each other does not count.
    """
    sums = totals({("a", "p"): 1.0}, workers=2, days=1)
    again = totals({("a", "p"): 1.0}, workers=2, days=1)
    assert again.cells.keys() == sums.cells.keys()
    run = TaskRun(
        label="a",
        pool="p",
        task_id="x",
        run_id=0,
        worker="p/0",
        state="exception",
        reason="claim-expired",
        scheduled_ms=-1,
        started_ms=START_MS,
        resolved_ms=START_MS + 2 * HOUR_MS,
        cost=0.6,
        currency="USD",
    )
    for _ in range(2):
        sums.add(run)
    sums.add(TaskRun("a", "p", "y", 0, "p/0", "completed", "completed", -1, -1, START_MS))
    # These end before they start, or start more than the rounding before they were scheduled.
    for task_id, scheduled_ms, resolved_ms in (
        ("z", -1, START_MS - 1),
        ("early", START_MS + 1001, START_MS + HOUR_MS),
        ("rounded", START_MS + 1000, START_MS + HOUR_MS),
    ):
        times_ms = (scheduled_ms, START_MS, resolved_ms)
        sums.add(TaskRun("a", "p", task_id, 0, "p/0", "completed", "completed", *times_ms))
    (pool,) = sums.ranking({}).pools
    assert sums.unusable == 2
    assert (pool.runs, pool.labels, pool.workers, pool.hours) == (4, 1, 2, 5.0)
    assert pool.lost_share == 0.4
    assert pool.price == Price(0.3, "USD")
