# SPDX-License-Identifier: MPL-2.0
"""What tasks cost on two pools, and when their costs cannot be compared."""

import pytest
import real_tasks
from sample_tasks import (
    compared,
    of_rows,
    only_pair,
    runs_on_two_pools,
    warnings_of,
)

from io_benchmark.costs.worker_time import Price


def test_costs_by_prices():
    """Seven percent less per hour, and 2.2 % of the time lost: 9.5 % more per task."""
    prices = {"intel": Price(0.42, "USD"), "amd-16": Price(0.39, "USD")}
    cost = only_pair(compared(of_rows(real_tasks.rows()), prices=prices)).cost
    assert cost is not None
    assert cost.baseline.per_1000 == pytest.approx(1000 * 39 / 60 * 0.42)
    assert cost.candidate.lost_share == pytest.approx(12 / (12 * 45))
    assert cost.price_ratio == pytest.approx(0.39 / 0.42)
    ratio = only_pair(compared(of_rows(real_tasks.rows()))).ratio
    assert cost.ratio == pytest.approx(0.39 / 0.42 * ratio * (1 + 12 / 540))
    assert cost.break_even_ratio == pytest.approx(1 / (ratio * (1 + 12 / 540)))
    assert cost.candidate.per_1000 == pytest.approx(cost.baseline.per_1000 * cost.ratio)
    # Lost runs make costs less sure than times.
    times, costs = only_pair(compared(of_rows(real_tasks.rows()))).interval, cost.interval
    assert costs.high_ratio / costs.low_ratio > times.high_ratio / times.low_ratio


def test_no_cost_without_comparable_prices():
    """Other currencies or a missing price give no ratio; other kinds are reported."""
    runs = runs_on_two_pools(30, 30)
    dollars = Price(0.4, "USD", "spot")
    one = compared(runs, prices={"a": dollars})
    assert (only_pair(one).cost, warnings_of(one)) == (None, ["no price for b"])
    both = compared(runs, prices={"a": dollars, "b": Price(0.4, "EUR")})
    assert only_pair(both).cost is None
    assert "EUR and USD are different currencies" in warnings_of(both)[0]
    assert warnings_of(compared(runs)) == []
    kinds = {"a": dollars, "b": Price(0.8, "USD", "on-demand")}
    assert warnings_of(compared(runs, prices=kinds)) == [
        "prices are of different kinds: b on-demand, a spot"
    ]
