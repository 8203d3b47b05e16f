# SPDX-License-Identifier: MPL-2.0
"""The table with a row per pool: the whole one, and the one that a screen has room for."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, time, timedelta

from io_benchmark.analysis.fleet.fleet_model import Fleet, FleetFigure, FleetPool, PoolPredicted
from io_benchmark.analysis.fleet.orders import figure_of
from io_benchmark.analysis.statistics.levels import LEVEL
from io_benchmark.number_text import NOTHING, digits, listed, percent
from io_benchmark.report import blocks
from io_benchmark.report.content import text_of
from io_benchmark.report.links import address_link
from io_benchmark.report.sections.fleets.fleet_answers import minutes_text
from io_benchmark.report.sections.fleets.fleet_words import (
    amount,
    currencies,
    ends,
    figure_named,
    ranks,
    with_unit,
)
from io_benchmark.text import name

_YEAR = timedelta(days=365)
# Noise looks small: a sketch has at least this part of its newest value above and below it.
_STEADY_RATIO = 0.1
_BARS = "▁▂▃▄▅▆▇█"
_MONTHS = 12
_NAMES, _NAME_CELLS, _SCREEN_CELLS = 2, 34, 32
# A screen leaves out the last pools first, so many at once; it always has the first ones.
_FIRST_ROWS = 3
_LOWEST_RANK, _HIGHEST_RANK = 0, 8


def whole_table(fleet: Fleet) -> blocks.Table:
    """Return all columns of all pools: the figure that orders them, what is of a pool, the rest."""
    figures = _figures(fleet)
    first, rest = figures[:1], figures[1:]
    priced = _with_work(figures)
    heads: list[blocks.Line] = []
    if fleet.program:
        heads += [_head("Predicted", "min"), _head("Cost", _in(fleet))]
    heads += [_head(figure.label, figure.unit) for figure in first]
    heads += ["12 months", _head("Price", _per("hour", fleet))]
    if priced is not None:
        heads.append(_head("Price", _per(priced.work, fleet)))
    heads += ["Flags", "Workers", "Last"]
    heads += [_head(figure.label, figure.unit) for figure in rest]
    heads.append("Machine")
    rows = [
        blocks.Row(row.pool, [*_whole_row(row, fleet, figures)], address=row.address)
        for row in fleet.pools
    ]
    title = f"Values with {percent(LEVEL)} intervals and ranks"
    # What these have is also below, where each pool has its lines.
    drop = ("Machine", "Flags")
    return blocks.Table("Pool", heads, rows, title, drop).without_empty_columns()


def _whole_row(
    row: FleetPool, fleet: Fleet, figures: Sequence[FleetFigure]
) -> Iterator[blocks.Line]:
    several = len(currencies(fleet.pools)) > 1
    if fleet.program:
        yield from _predicted(row, several=several)
    for figure in figures[:1]:
        yield _cell(row, figure)
    yield _sketch(row, fleet)
    yield from _prices(row, _with_work(figures), several=several)
    yield blocks.Words("; ".join(map(text_of, row.flags)), blocks.WARNING)
    yield f"{row.machines:,}"
    yield _dated(row)
    for figure in figures[1:]:
        yield _cell(row, figure)
    yield _machine(row)


def screen_table(fleet: Fleet) -> blocks.Table:
    """Return the figure that orders the pools, what they cost, and when they were measured."""
    figures = _figures(fleet)[:1]
    several = len(currencies(fleet.pools)) > 1
    heads = [blocks.plain(_head(figure.label, figure.unit)) for figure in figures]
    heads += ["Interval", "Rank"] * len(figures)
    if fleet.program:
        heads = ["Minutes", "Cost", *heads]
    priced = _with_work(figures)
    prices = [_per("hour", fleet)]
    if priced is not None:
        prices.append(f"per {priced.work}")
    heads += [*prices, "Last", "Year"]
    rows = []
    for number, row in enumerate(fleet.pools):
        cells: list[blocks.Line] = []
        if fleet.program:
            cells += map(blocks.plain, _predicted(row, several=several))
        for figure in figures:
            cell = row.cells.get(figure.name)
            values = (digits(cell.value), ends(cell), ranks(cell) or NOTHING) if cell else ()
            cells += values or [NOTHING] * 3
        cells += map(blocks.plain, _prices(row, priced, several=several))
        cells += [row.last.isoformat(), blocks.plain(_sketch(row, fleet))]
        last_first = max(_LOWEST_RANK, _HIGHEST_RANK - number // _FIRST_ROWS)
        rank = blocks.ALWAYS if number < _FIRST_ROWS else last_first
        rows.append(blocks.Row(name(row.pool, _SCREEN_CELLS), cells, rank=rank))
    drop = ["Year", "Last", "Interval", *prices]
    table = blocks.Table("Pool", heads, rows, drop=drop, noun=" pools")
    return table.without_empty_columns()


def prices_table(fleet: Fleet) -> Iterator[blocks.Table]:
    """Write what a unit of each figure's work costs on each pool, where there are prices."""
    several = len(currencies(fleet.pools)) > 1
    figures = [
        figure
        for figure in fleet.figures
        if any(cell.cost is not None for row in fleet.pools if (cell := row.cells.get(figure.name)))
    ]
    if not figures:
        return
    heads: list[blocks.Line] = [
        (figure.work, blocks.Words(_in(fleet), blocks.QUIET)) for figure in figures
    ]
    rows = []
    for row in fleet.pools:
        costs = [_work_cost(row, figure, several=several) for figure in figures]
        if {*costs} - {NOTHING}:
            rows.append(blocks.Row(row.pool, costs))
    yield blocks.Table("Pool", heads, rows, "Price of one unit of work")


def _figures(fleet: Fleet) -> list[FleetFigure]:
    first = figure_named(fleet, figure_of(fleet.ordered_by) or fleet.drawn)
    rest = [figure for figure in fleet.figures if figure is not first]
    return rest if first is None else [first, *rest]


def _with_work(figures: Sequence[FleetFigure]) -> FleetFigure | None:
    """Return the figure that orders the pools, if its work has a price."""
    return figures[0] if figures and figures[0].work else None


def _head(label: str, unit: str) -> blocks.Line:
    if not unit or unit == label:
        return label
    return blocks.Words(label), blocks.Words(f" {unit}", blocks.QUIET)


def _in(fleet: Fleet) -> str:
    """Return 'USD' where all prices are in one currency; else nothing."""
    used = currencies(fleet.pools)
    return used[0] if len(used) == 1 else ""


def _per(work: str, fleet: Fleet) -> str:
    return f"{_in(fleet)} per {work}".strip()


def _cell(row: FleetPool, figure: FleetFigure) -> blocks.Line:
    """Write the value, which leads to the results, above its interval and rank."""
    cell = row.cells.get(figure.name)
    if cell is None:
        return NOTHING
    value = blocks.Words(digits(cell.value), page_link=address_link(row.address))
    rank = ranks(cell)
    return (
        value,
        blocks.Words(f" {ends(cell)}", blocks.QUIET),
        blocks.Words(f" rank {rank}" if rank else "", blocks.QUIET),
    )


def _predicted(row: FleetPool, *, several: bool) -> Iterator[blocks.Line]:
    predicted = row.predicted or PoolPredicted()
    value, _, rest = minutes_text(predicted).partition(" ")
    if predicted.reason is not None:
        rest = text_of(predicted.reason)
    yield blocks.Words(value or NOTHING), blocks.Words(f" {rest}" if rest else "", blocks.QUIET)
    yield amount(predicted.cost, row, with_currency=several) or NOTHING


def _prices(row: FleetPool, priced: FleetFigure | None, *, several: bool) -> Iterator[blocks.Line]:
    per_hour = row.price.per_hour if row.price is not None else None
    yield amount(per_hour, row, with_currency=several) or NOTHING
    if priced is not None:
        yield _work_cost(row, priced, several=several)


def _work_cost(row: FleetPool, figure: FleetFigure, *, several: bool) -> str:
    cell = row.cells.get(figure.name)
    cost = cell.cost if cell is not None else None
    return amount(cost, row, with_currency=several) or NOTHING


def _dated(row: FleetPool) -> blocks.Line:
    return blocks.Words(row.last.isoformat(), page_link=address_link(row.address))


def _machine(row: FleetPool) -> str:
    parts = (
        listed([name(value, _NAME_CELLS) for value in values], _NAMES)
        for values in (row.machine_types, row.disks, row.images)
    )
    return " · ".join(filter(None, parts)) or NOTHING


def _sketch(row: FleetPool, fleet: Fleet) -> blocks.Line:
    """Draw the figure over the last 12 months, with a mark at each change of the pool."""
    end = datetime.combine(fleet.as_of + timedelta(days=1), time(), UTC)
    points = [point for point in row.points if end - _YEAR <= point.time <= end]
    figure = figure_named(fleet, fleet.drawn)
    if not points or figure is None:
        return NOTHING
    values = [point.value for point in points]
    low = min(*values, values[-1] * (1 - _STEADY_RATIO))
    high = max(*values, values[-1] * (1 + _STEADY_RATIO))
    places = [1 - (end - point.time) / _YEAR for point in points]
    heights = [(value - low) / (high - low) if high > low else 0.5 for value in values]
    changes = []
    for change in row.changes:
        place = 1 - (end - datetime.combine(change.since, time(), UTC)) / _YEAR
        if 0 <= place <= 1:
            changes.append(place)
    lowest, highest = digits(min(values)), digits(max(values))
    label = (
        f"{figure.label} in 12 months: {lowest} to {highest}, now {with_unit(values[-1], figure)}"
    )
    if changes:
        dates = [change.since.isoformat() for change in row.changes[: len(changes)]]
        label += f"; changed {', '.join(dates)}"
    return blocks.Sketch(
        _in_characters(places, heights),
        label=label,
        spots=tuple(zip(places, heights, strict=True)),
        changes=tuple(changes),
    )


def _in_characters(places: Sequence[float], heights: Sequence[float]) -> str:
    """Return a bar per month, as high as the newest value of the month; a gap is a dot."""
    months = ["·"] * _MONTHS
    for place, height in zip(places, heights, strict=True):
        month = min(int(place * _MONTHS), _MONTHS - 1)
        months[month] = _BARS[min(int(height * len(_BARS)), len(_BARS) - 1)]
    return "".join(months)
