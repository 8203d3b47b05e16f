# SPDX-License-Identifier: MPL-2.0
"""The orders of a fleet's table: the best, cheapest or fastest pool first."""

from collections.abc import Iterable

from io_benchmark.analysis.fleet.figures import BY_NAME, FIGURES
from io_benchmark.analysis.fleet.fleet_model import FleetPool, PoolPredicted

PRICE, MINUTES, MONEY = "price", "minutes", "money"
COST = "-cost"
# "write", "write-cost", …: the last two are of a predicted task.
ORDERS = (
    *(figure.name for figure in FIGURES),
    *(figure.name + COST for figure in FIGURES if figure.work),
    PRICE,
    MINUTES,
    MONEY,
)

# How comparable its value is (0: with all others), the currency, and the value, the least first.
_Key = tuple[int, str, float]
_WITHOUT: _Key = (2, "", 0.0)


def figure_of(order: str) -> str | None:
    """Return the figure that an order is about; None for prices and predictions."""
    name = order.removesuffix(COST)
    return name if name in BY_NAME else None


def ordered(pools: Iterable[FleetPool], order: str) -> tuple[FleetPool, ...]:
    """Return pools in an order; those without a value are last, by name.

    Figures of two systems are of other work: their pools are apart.
    """
    is_apart = figure_of(order) is not None

    def key(pool: FleetPool) -> tuple[str, _Key, str]:
        return (is_apart and pool.system) or "", _key(pool, order), pool.pool

    return tuple(sorted(pools, key=key))


def _key(pool: FleetPool, order: str) -> _Key:
    predicted = pool.predicted or PoolPredicted()
    if order == PRICE:
        return _of_money(pool, pool.price.per_hour if pool.price is not None else None)
    if order == MONEY:
        return _of_money(pool, predicted.cost)
    if order == MINUTES:
        return _WITHOUT if predicted.minutes is None else (0, "", predicted.minutes)
    name = order.removesuffix(COST)
    cell = pool.cells.get(name)
    if cell is None:
        return _WITHOUT
    is_ranked = cell.best_rank is not None
    if name != order:
        currency, money = _of_money(pool, cell.cost)[1:]
        return _WITHOUT if cell.cost is None else (0 if is_ranked else 1, currency, money)
    value = -cell.value if BY_NAME[name].higher_is_better else cell.value
    return 0 if is_ranked else 1, "", value


def _of_money(pool: FleetPool, amount: float | None) -> _Key:
    """Return a key in which amounts of one currency are together."""
    if amount is None or pool.price is None:
        return _WITHOUT
    return 0, pool.price.currency, amount
