# SPDX-License-Identifier: MPL-2.0
"""Values, ranks, prices and changes of pools, as all parts of the report write them."""

from collections.abc import Iterable

from io_benchmark.analysis.fleet.fleet_model import Cell, Fleet, FleetChange, FleetFigure, FleetPool
from io_benchmark.analysis.model.comparison import Verdict
from io_benchmark.number_text import digits, money, percent, ratio
from io_benchmark.report import blocks
from io_benchmark.report.content import interval_text
from io_benchmark.report.sections.history_answers import fact_difference

PRICE = "price"


def figure_named(fleet: Fleet, name: str) -> FleetFigure | None:
    return next((figure for figure in fleet.figures if figure.name == name), None)


def with_unit(value: float, figure: FleetFigure) -> str:
    unit = "" if figure.is_counted else f" {figure.unit}"
    return f"{digits(value)}{unit}"


def ends(cell: Cell) -> str:
    """Return '1,150 to 1,250', with a sign before it where a variation is assumed."""
    low, high = (digits(end) for end in (cell.interval.low_ratio, cell.interval.high_ratio))
    return f"{'≈' if cell.is_assumed else ''}{low if low == high else f'{low} to {high}'}"


def ranks(cell: Cell) -> str:
    """Return '1', or '1-3' where intervals overlap; nothing where other work was measured."""
    if cell.best_rank is None or cell.worst_rank is None:
        return ""
    return "-".join(dict.fromkeys(map(str, (cell.best_rank, cell.worst_rank))))


def currencies(pools: Iterable[FleetPool]) -> list[str]:
    return sorted({pool.price.currency for pool in pools if pool.price is not None})


def amount(value: float | None, pool: FleetPool, *, with_currency: bool) -> str:
    """Write money, with its currency where a table has several."""
    if value is None or pool.price is None:
        return ""
    return f"{money(value)} {pool.price.currency}" if with_currency else money(value)


def change_item(pool: str, change: FleetChange, fleet: Fleet) -> blocks.Item:
    """Write 'amd-16 is slower since 2026-11-02: Write takes 1.25× as long (…). kernel 6.8 → 6.11'.

    A ratio above 1 is a longer time or a higher price.
    """
    is_worse = change.ratio > 1
    kind = Verdict.SLOWER if is_worse else Verdict.FASTER
    since = change.since.isoformat()
    if change.figure == PRICE:
        word = "dearer" if is_worse else "cheaper"
        rest = f": an hour costs {ratio(change.ratio)} as much as before."
    else:
        word = kind.value
        figure = figure_named(fleet, change.figure)
        label = figure.label if figure is not None else change.figure
        rest = f": {label} takes {ratio(change.ratio)} as long as before{_basis(change)}."
    facts = [f"{fact.name} {fact_difference(fact.before, fact.after)}" for fact in change.facts]
    if facts:
        rest += f" Changed: {'; '.join(facts)}."
    lead = f"{pool} is {word} since {since}"
    if change.is_alert:
        lead = f"New: {lead}"
    return blocks.Item.answer(kind, lead, rest)


def _basis(change: FleetChange) -> str:
    notes = []
    if change.interval is not None:
        notes.append(interval_text(change.interval))
    if 0 < change.machines < change.of_machines:
        share = percent(change.machines / change.of_machines)
        notes.append(f"on {change.machines:,} of {change.of_machines:,} machines, {share}")
    return f" ({'; '.join(notes)})" if notes else ""


def all_changes(fleet: Fleet) -> list[tuple[str, FleetChange]]:
    """Return all changes with their pools: alerts first, then the newest."""
    pairs = [(pool.pool, change) for pool in fleet.pools for change in pool.changes]
    pairs.sort(key=lambda pair: (pair[0], pair[1].key))
    pairs.sort(key=lambda pair: (pair[1].is_alert, pair[1].since), reverse=True)
    return pairs
