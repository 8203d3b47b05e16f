# SPDX-License-Identifier: MPL-2.0
"""The table of all pools as CSV, for spreadsheets: a row per pool, a column per number."""

import csv
import io
from collections.abc import Callable, Iterator, Mapping

from io_benchmark.analysis.fleet.fleet_model import Fleet, FleetFigure, FleetPool, PoolPredicted
from io_benchmark.report.content import make_harmless, text_of
from io_benchmark.report.formats import Layout

# A spreadsheet takes a cell that begins so for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_SEPARATOR = "; "  # between the values in one cell
_Column = tuple[str, str | float | None]
_Columns = Mapping[str, Callable[[FleetPool], str | float]]
# Before the figures, and behind prices and changes
_BEFORE: _Columns = {
    "pool": lambda pool: pool.pool,
    "queue": lambda pool: pool.queue,
    "machine types": lambda pool: _SEPARATOR.join(pool.machine_types),
    "images": lambda pool: _SEPARATOR.join(pool.images),
    "disks": lambda pool: _SEPARATOR.join(pool.disks),
}
_BEHIND: _Columns = {
    "workers": lambda pool: pool.machines,
    "pushes": lambda pool: pool.pushes,
    "last measured": lambda pool: pool.last.isoformat(),
    "flags": lambda pool: _SEPARATOR.join(map(text_of, pool.flags)),
    "results": lambda pool: pool.address,
}


def render(fleet: Fleet, _layout: Layout) -> str:
    """Return a row per pool in the order of the table; a value that is not known is empty."""
    fleet = make_harmless(fleet)
    rows = [dict(_columns(fleet, pool)) for pool in fleet.pools]
    stream = io.StringIO()
    heads = [head for head, _ in _columns(fleet, None)]
    writer = csv.DictWriter(stream, heads, lineterminator="\n")
    writer.writeheader()
    writer.writerows({head: _cell(value) for head, value in row.items()} for row in rows)
    return stream.getvalue()


def _cell(value: str | float | None) -> str | float | None:
    is_formula = isinstance(value, str) and value.startswith(_FORMULA)
    return f"'{value}" if is_formula else value


def _columns(fleet: Fleet, pool: FleetPool | None) -> Iterator[_Column]:
    """Yield the heads with the values of a pool, or without a pool with nothing."""
    for head, read in _BEFORE.items():
        yield head, None if pool is None else read(pool)
    for figure in fleet.figures:
        yield from _figure(figure, pool)
    if fleet.program:
        predicted = PoolPredicted() if pool is None else pool.predicted or PoolPredicted()
        yield "predicted minutes", predicted.minutes
        yield "predicted minutes low", predicted.low_minutes
        yield "predicted minutes high", predicted.high_minutes
        yield "predicted cost", predicted.cost
    price = None if pool is None else pool.price
    yield "price per hour", None if price is None else price.per_hour
    yield "currency", None if price is None else price.currency
    yield "price kind", None if price is None else price.kind
    yield "price date", None if price is None else price.date
    change = pool.changes[0] if pool is not None and pool.changes else None
    yield "last change", None if change is None else change.since.isoformat()
    yield "last change figure", None if change is None else change.figure
    yield "last change ratio", None if change is None else change.ratio
    for head, read in _BEHIND.items():
        yield head, None if pool is None else read(pool)


def _figure(figure: FleetFigure, pool: FleetPool | None) -> Iterator[_Column]:
    cell = pool.cells.get(figure.name) if pool is not None else None
    bounds = cell.interval if cell is not None else None
    yield f"{figure.name} ({figure.unit})", None if cell is None else cell.value
    yield f"{figure.name} low", None if bounds is None else bounds.low_ratio
    yield f"{figure.name} high", None if bounds is None else bounds.high_ratio
    yield f"{figure.name} best rank", None if cell is None else cell.best_rank
    yield f"{figure.name} worst rank", None if cell is None else cell.worst_rank
    if figure.work:
        yield f"{figure.name} cost ({figure.work})", None if cell is None else cell.cost
