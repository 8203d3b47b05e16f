# SPDX-License-Identifier: MPL-2.0
"""The orders of the table: the best, the cheapest, the fastest pool first."""

import pytest
from measured_pools import facts_with, reading, table

from io_benchmark.analysis.fleet.orders import MINUTES, MONEY, ORDERS, figure_of
from io_benchmark.analysis.prediction.prediction_model import PoolPrediction, TaskPrediction
from io_benchmark.costs.worker_time import Price

PRICES = {
    "a": Price(1.0, "USD"),
    "b": Price(0.5, "USD"),
    "c": Price(0.1, "USD"),
    "d": Price(0.9, "EUR"),
}
WRITE = {"a": 1000.0, "b": 600.0, "c": 50.0, "d": 700.0, "e": 800.0}
FLUSH = {"a": 300.0, "b": 100.0, "c": 200.0}
HOUR_NS = 3600 * 10**9
PREDICTION = TaskPrediction(
    program="make",
    sha256=None,
    pool="a",
    measured_ns=(HOUR_NS,),
    cpus_used=None,
    written_bytes=None,
    read_bytes=None,
    syncs=None,
    pools=(
        PoolPrediction("b", 1, None, 1.5 * HOUR_NS, HOUR_NS, 2 * HOUR_NS),
        PoolPrediction("c", 1, None, 30.0 * HOUR_NS, HOUR_NS, 90 * HOUR_NS),
        PoolPrediction("d", 1, None, 0.5 * HOUR_NS, HOUR_NS, 2 * HOUR_NS),
    ),
)


@pytest.mark.parametrize(
    ("order", "pools"),
    [
        ("write", "aedbc"),
        ("flush", "bcade"),
        # 1 TiB costs 0.29 USD on a, 0.24 on b, 0.58 on c. Euros are before dollars.
        ("write-cost", "dbace"),
        ("price", "dcbae"),
        (MINUTES, "dabce"),
        (MONEY, "dbace"),
    ],
)
def test_orders(order, pools):
    """The best first; amounts of one currency together; pools without a value are last."""
    readings = [
        reading(
            pool,
            values={"write": WRITE[pool]} | ({"flush": FLUSH[pool]} if pool in FLUSH else {}),
        )
        for pool in "ecadb"
    ]
    made = table(readings, by=order, prices=PRICES, prediction=PREDICTION)
    assert "".join(pool.pool for pool in made.pools) == pools
    assert made.ordered_by == order


@pytest.mark.parametrize(
    ("order", "pools"), [("write", "aeb"), ("write-cost", "ba"), ("price", "ba")]
)
def test_pools_of_another_system(order: str, pools: str) -> None:
    """Figures are apart, prices are not."""
    windows = {"a": facts_with(), "b": facts_with(), "e": facts_with(), "c": facts_with(system="w")}
    readings = [
        reading(pool, values={"write": WRITE.get(pool, 1.0) * 1e3 ** (pool == "c")}, facts=facts)
        for pool, facts in windows.items()
    ]
    made = "".join(pool.pool for pool in table(readings, by=order, prices=PRICES).pools)
    assert made.replace("c", "").startswith(pools)
    assert made.index("c") == (0 if order == "price" else 3)


@pytest.mark.parametrize("order", ["write", "write-cost"])
def test_other_work_is_behind(order):
    """However good and cheap it is."""
    readings = [reading(pool, values={"write": WRITE[pool]}) for pool in "abe"]
    small = reading("c", values={"write": 1e6}, work={"write": "small"})
    made = table([*readings, small], by=order, prices=PRICES)
    ranked = [pool.pool for pool in made.pools if pool.cells["write"].best_rank is not None]
    assert "".join(pool.pool for pool in made.pools).index("c") == (3 if order == "write" else 2)
    assert sorted(ranked) == ["a", "b", "e"]


def test_names_of_orders() -> None:
    """Every figure, its cost if its work has a unit, prices and predictions."""
    assert {"write", "write-cost", "flush", "price", "minutes", "money"} <= set(ORDERS)
    assert "flush-cost" not in ORDERS
    assert len(ORDERS) == len(set(ORDERS))
    assert [figure_of(order) for order in ("write", "write-cost", "price", "money")] == [
        "write",
        "write",
        None,
        None,
    ]


def test_what_is_drawn() -> None:
    """The figure of the order; of an order by price, what the most pools have."""
    readings = [
        reading("a", values={"write": 1.0, "unpack": 1.0, "flush": 1.0}),
        reading("b", values={"unpack": 1.0, "flush": 1.0}),
    ]
    assert table(readings, by="write-cost").drawn == "write"
    assert table(readings, by="price").drawn == "flush"
    assert table([], by="price").drawn == ""
