# SPDX-License-Identifier: MPL-2.0
"""The answer about all pools: what changed lately, which pool is best, and which is cheapest."""

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta

from msgspec.structs import replace

from io_benchmark.analysis.fleet.figure_series import FEWEST_PUSHES
from io_benchmark.analysis.fleet.fleet_model import Fleet, FleetFigure, FleetPool, PoolPredicted
from io_benchmark.analysis.fleet.orders import figure_of
from io_benchmark.analysis.model.groups import grouped
from io_benchmark.analysis.validity.systems import name_of
from io_benchmark.number_text import digits, listed, money, number_of, percent
from io_benchmark.report import blocks
from io_benchmark.report.sections.fleets.fleet_words import (
    change_items,
    currencies,
    ends,
    figure_named,
    program,
    with_unit,
)
from io_benchmark.results.machine import LINUX

# Changes of this time are in the answer, and so many of them; all are listed below.
LATELY = timedelta(days=60)
MOST_LATELY = 4
_POOLS_NAMED = 4
# A screen leaves out what has a lower rank before: changes that are no alerts, then these.
_CHEAPEST_RANK, _BEST_RANK = 5, 6


def answer(fleet: Fleet) -> Iterator[blocks.Item]:
    if not fleet.pools:
        nothing = "No pool has a result that could be read."
        yield blocks.Item(blocks.Words(nothing, blocks.NO_VERDICT))
        return
    lately = [
        (change, item)
        for change, item in change_items(fleet)
        if change.is_alert or fleet.as_of - change.since <= LATELY
    ]
    for number, (change, item) in enumerate(lately[:MOST_LATELY]):
        yield replace(item, rank=blocks.ALWAYS if change.is_alert else MOST_LATELY - number)
    if len(lately) > MOST_LATELY:
        yield blocks.Item(f"and {number_of(len(lately) - MOST_LATELY, 'more change')} lately")
    if not lately:
        yield blocks.Item(_no_change(fleet))
    if fleet.program:
        yield from _predicted(fleet)
    figure = figure_named(fleet, figure_of(fleet.ordered_by) or fleet.drawn)
    if figure is not None:
        by_system = grouped(fleet.pools, lambda pool: pool.system or LINUX)
        for system, pools in by_system.items():
            of_system = f" on {name_of(system)}" if len(by_system) > 1 else ""
            yield from _best(figure, pools, of_system)
            yield from _cheapest(figure, pools, of_system)
    elif figure_of(fleet.ordered_by) is not None:
        nothing = f"No pool has a value of {fleet.ordered_by}, so the pools are in order of names."
        yield blocks.Item(blocks.Words(nothing, blocks.WARNING), mark="!")


def _no_change(fleet: Fleet) -> str:
    """Write that no change was found, as far as there are pushes enough to find one."""
    too_few = sum(pool.pushes <= FEWEST_PUSHES for pool in fleet.pools)
    needed = f"that needs {number_of(FEWEST_PUSHES + 1, 'push')} of a pool"
    if too_few == len(fleet.pools):
        return f"Whether a pool changed cannot be told yet: {needed}."
    margin = percent(fleet.margin_ratio)
    sentence = f"No change by more than {margin} was found in the {LATELY.days} days before "
    sentence += fleet.as_of.isoformat()
    if too_few:
        sentence += f"; of {number_of(too_few, 'pool')} it cannot be told yet: {needed}"
    return f"{sentence}."


def _best(figure: FleetFigure, pools: Sequence[FleetPool], of_system: str) -> Iterator[blocks.Item]:
    """Name the pool that is best, or all those that may be."""
    cells = [(pool, pool.cells[figure.name]) for pool in pools if figure.name in pool.cells]
    first = [(pool, cell) for pool, cell in cells if cell.best_rank == 1]
    if not first:
        return
    first.sort(key=lambda pair: pair[1].value, reverse=figure.higher_is_better)
    lead = f"{figure.label}{of_system}: "
    pool, cell = first[0]
    value = f"{with_unit(cell.value, figure)} ({ends(cell)})"
    if len(first) == 1:
        lead, rest = f"{lead}{pool.pool} is best", f" with {value}."
    else:
        names = listed([pool.pool for pool, _ in first], _POOLS_NAMED)
        lead, rest = f"{lead}{names} may each be best", f", up to {value}; their intervals overlap."
    yield blocks.Item((blocks.Words(lead, blocks.STRONG), rest), rank=_BEST_RANK)


def _cheapest(
    figure: FleetFigure, pools: Sequence[FleetPool], of_system: str
) -> Iterator[blocks.Item]:
    """Name the pool on which a unit of work costs least, else the one whose hour does."""
    for currency in currencies(pools):
        priced = [pool for pool in pools if currencies([pool]) == [currency]]
        costs = [
            (cell.cost, pool.pool)
            for pool in priced
            if (cell := pool.cells.get(figure.name)) is not None and cell.cost is not None
        ]
        if costs:
            cost, pool_name = min(costs)
            lead = f"{figure.label}{of_system}: {pool_name} is cheapest"
            rest = f" with {money(cost)} {currency} per {figure.work}."
        else:
            cost, pool_name = min((pool.price.per_hour, pool.pool) for pool in priced if pool.price)
            lead, rest = (
                f"{pool_name} is cheapest{of_system}",
                f" with {money(cost)} {currency} per hour.",
            )
        yield blocks.Item((blocks.Words(lead, blocks.STRONG), rest), rank=_CHEAPEST_RANK)


def _predicted(fleet: Fleet) -> Iterator[blocks.Item]:
    """Name the pools on which the profiled task is fastest and cheapest."""
    times = _with(fleet.pools, lambda predicted: predicted.minutes)
    if not times:
        words = f"{program(fleet)} could not be predicted on any pool."
        yield blocks.Item(blocks.Words(words, blocks.NO_VERDICT))
        return
    _, pool = min(times, key=lambda pair: (pair[0], pair[1].pool))
    time = minutes_text(pool.predicted)
    lead = f"{program(fleet)} is fastest on {pool.pool}"
    yield blocks.Item((blocks.Words(lead, blocks.STRONG), f", in {time} min."))
    costs = _with(fleet.pools, lambda predicted: predicted.cost)
    for currency in currencies(fleet.pools):
        same = [(cost, row) for cost, row in costs if currencies([row]) == [currency]]
        if same:
            cost, pool = min(same, key=lambda pair: (pair[0], pair[1].pool))
            lead = f"{program(fleet)} is cheapest on {pool.pool}"
            rest = f", for {money(cost)} {currency} in {minutes_text(pool.predicted)} min."
            yield blocks.Item((blocks.Words(lead, blocks.STRONG), rest))


def _with(
    pools: Sequence[FleetPool], read: Callable[[PoolPredicted], float | None]
) -> list[tuple[float, FleetPool]]:
    values = ((read(pool.predicted), pool) for pool in pools if pool.predicted is not None)
    return [(value, pool) for value, pool in values if value is not None]


def minutes_text(predicted: PoolPredicted | None) -> str:
    """Return '15.0 (13.0 to 17.0)', or without an interval where it was measured."""
    if predicted is None or predicted.minutes is None:
        return ""
    time = digits(predicted.minutes)
    if predicted.low_minutes is None or predicted.high_minutes is None:
        return time
    return f"{time} ({digits(predicted.low_minutes)} to {digits(predicted.high_minutes)})"
