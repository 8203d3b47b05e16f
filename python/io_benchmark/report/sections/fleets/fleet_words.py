# SPDX-License-Identifier: MPL-2.0
"""Values, ranks, prices and changes of pools, as all parts of the report write them."""

from collections.abc import Iterable, Sequence

from io_benchmark.analysis.fleet.fleet_model import Cell, Fleet, FleetChange, FleetFigure, FleetPool
from io_benchmark.analysis.fleet.orders import MINUTES, MONEY, PRICE, figure_of
from io_benchmark.analysis.model.comparison import Verdict
from io_benchmark.analysis.model.groups import grouped
from io_benchmark.number_text import digits, listed, money, number_of, percent, ratio
from io_benchmark.report import blocks
from io_benchmark.report.content import interval_text
from io_benchmark.report.sections.history_answers import fact_difference
from io_benchmark.text import name

_POOLS_NAMED = 4
_CURRENCY = 8  # characters


def figure_named(fleet: Fleet, figure_name: str) -> FleetFigure | None:
    return next((figure for figure in fleet.figures if figure.name == figure_name), None)


def program(fleet: Fleet) -> str:
    """Return the profiled task that predictions are about."""
    return name(fleet.program)


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
    return sorted(
        {name(pool.price.currency, _CURRENCY) for pool in pools if pool.price is not None}
    )


def amount(value: float | None, pool: FleetPool, *, with_currency: bool) -> str:
    """Write money, with its currency where a table has several."""
    if value is None or pool.price is None:
        return ""
    currency = name(pool.price.currency, _CURRENCY)
    return f"{money(value)} {currency}" if with_currency else money(value)


def change_items(fleet: Fleet) -> list[tuple[FleetChange, blocks.Item]]:
    """Return a sentence per change, alerts first, then the newest; a common one is written once.

    Pools have a change in common that have it since the same day, by the same facts.
    """
    pairs = [(pool.pool, change) for pool in fleet.pools for change in pool.changes]
    pairs.sort(key=lambda pair: (pair[0], pair[1].key))
    pairs.sort(key=lambda pair: (pair[1].is_alert, pair[1].since), reverse=True)
    return [(same[0][1], _item(same, fleet)) for same in grouped(pairs, _in_common).values()]


def change_item(pool: str, change: FleetChange, fleet: Fleet) -> blocks.Item:
    return _item([(pool, change)], fleet)


def _in_common(pair: tuple[str, FleetChange]) -> tuple[object, ...]:
    change = pair[1]
    is_part = change.machines < change.of_machines
    # Parts of pools have numbers of machines, which a sentence about several pools has no room for.
    pool = pair[0] if is_part else ""
    return change.is_alert, change.since, change.figure, change.ratio > 1, change.facts, pool


def _item(same: Sequence[tuple[str, FleetChange]], fleet: Fleet) -> blocks.Item:
    """Write 'amd-16 is slower since 2026-11-02: Write, 1.25× as long (…). kernel 6.8 → 6.11'.

    A ratio above 1 is a longer time or a higher price.
    """
    change = same[0][1]
    is_worse = change.ratio > 1
    kind = Verdict.SLOWER if is_worse else Verdict.FASTER
    ratios = sorted(member.ratio for _, member in same)
    size = " to ".join(dict.fromkeys(map(ratio, (ratios[0], ratios[-1]))))
    if change.figure == PRICE:
        word = "dearer" if is_worse else "cheaper"
        rest = f": an hour costs {size} as much as before."
    else:
        word = kind.value
        figure = figure_named(fleet, change.figure)
        label = figure.label if figure is not None else change.figure
        basis = _basis(change) if len(same) == 1 else ""
        rest = f": {label}, {size} as long as before{basis}."
    facts = [
        f"{name(fact.name)} {fact_difference(fact.before, fact.after)}" for fact in change.facts
    ]
    if facts:
        rest += f" Changed: {'; '.join(facts)}."
    names = listed([pool for pool, _ in same], _POOLS_NAMED)
    lead = f"{names} {'is' if len(same) == 1 else 'are'} {word} since {change.since.isoformat()}"
    return blocks.Item.answer(kind, f"New: {lead}" if change.is_alert else lead, rest)


def _basis(change: FleetChange) -> str:
    notes = []
    if change.interval is not None:
        notes.append(interval_text(change.interval))
    if 0 < change.machines < change.of_machines:
        share = percent(change.machines / change.of_machines)
        machines = number_of(change.of_machines, "machine")
        notes.append(f"on {change.machines:,} of {machines}, {share}")
    return f" ({'; '.join(notes)})" if notes else ""


def ordered_by(fleet: Fleet) -> str:
    """Return what comes first in the table, in words."""
    words = {
        PRICE: "price per hour",
        MINUTES: f"minutes of {program(fleet)}",
        MONEY: f"cost of {program(fleet)}",
    }
    figure = figure_named(fleet, figure_of(fleet.ordered_by) or "")
    if figure is None:
        return words.get(fleet.ordered_by, fleet.ordered_by)
    return figure.label if figure.name == fleet.ordered_by else f"price per {figure.work}"
