# SPDX-License-Identifier: MPL-2.0
"""Hours and money of tasks."""

import pytest

from io_benchmark.costs.worker_time import Cost, CostShare, Price

SPOT, EUROS = Price(0.3, "USD", "spot", "2026-11-01"), Price(0.5, "EUR")


def cost(*prices, with_prices=True):
    return Cost(
        tuple(
            CostShare(f"pool-{at}", 6, 30, price=price, queue="releng-1/b-linux")
            for at, price in enumerate(prices)
        ),
        with_prices,
    )


@pytest.mark.parametrize(
    ("prices", "time", "text"),
    [
        ([None], "3 worker hours", "no price for pool-0"),
        ([SPOT, SPOT], "6 worker hours", "1.80 USD at the given prices (spot, 2026-11-01)"),
        ([SPOT, EUROS], "6 worker hours", "0.90 USD and 1.50 EUR at the given prices"),
    ],
    ids=["no price", "two", "two currencies"],
)
def test_time_and_prices(prices, time, text):
    """Currencies are not added, and a pool without a price is named."""
    assert (cost(*prices).time, cost(*prices).at_prices) == (time, text)


def test_shown():
    """A limit makes the whole sum one."""
    made = cost(SPOT)
    limit = CostShare("other", 1, 60, is_limit=True, queue="releng-1/x")
    assert made.shares[0].summary == (
        "pool-0: about 3 worker hours, 0.90 USD (6 tasks of 30 minutes on releng-1/b-linux)"
    )
    assert Cost((*made.shares, limit), with_prices=True).summary == (
        "7 tasks, at most 4 worker hours in all, 0.90 USD at the given prices (spot, 2026-11-01; "
        "none for other)"
    )
    unpriced = cost(None, with_prices=False)
    assert (unpriced.time, unpriced.at_prices) == ("3 worker hours", "")
    assert made.repeated(8).tasks == 48
    # A limit is rounded up, but not for the error of a sum.
    assert Cost.worker_time(198.0000000000002, is_limit=True) == "3.3 worker hours"
    assert Cost.worker_time(198.1, is_limit=True) == "3.4 worker hours"


@pytest.mark.parametrize(
    ("per_hour", "money"), [(0.0331, "0.0993 USD"), (0.0332, "0.10 USD"), (100 / 3, "100 USD")]
)
def test_money(per_hour, money):
    """Three hours: cents where there are any, and digits that count where there are not."""
    assert cost(Price(per_hour, "USD")).money == money
