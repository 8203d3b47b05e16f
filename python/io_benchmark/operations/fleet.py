# SPDX-License-Identifier: MPL-2.0
"""The table of all pools: what each can do, and how long a task would take there."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from operator import attrgetter
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.fleet import fleet as analysis
from io_benchmark.analysis.fleet.fleet_model import Fleet, WorkerReading
from io_benchmark.analysis.fleet.orders import COST, MINUTES, MONEY, PRICE
from io_benchmark.analysis.fleet.pool_readings import CLOCKS_DIFFER
from io_benchmark.analysis.model.groups import grouped
from io_benchmark.context import Context
from io_benchmark.costs.worker_time import Price
from io_benchmark.errors import UsageError
from io_benchmark.number_text import listed, number_of
from io_benchmark.operations.fleets.kept_readings import without_old, write_kept
from io_benchmark.operations.fleets.reading import DEFAULT_REQUESTS, read_fleet
from io_benchmark.operations.predict import predict_profiles, read_profiles
from io_benchmark.report.blocks import plain
from io_benchmark.report.sections.fleets.fleet_words import change_item
from io_benchmark.results.format import SLUG_PATTERN
from io_benchmark.text import clean, clean_name

_NAMED = 3  # tasks in a message
_NEW = "New: "  # as reports mark an alert


class FleetQuery(Struct, frozen=True, kw_only=True):
    """Which results are read, and what is asked about their pools."""

    addresses: Sequence[str]  # or the name of a project in the index
    by: str
    profiles: Sequence[str] = ()  # of one task, whose time is predicted on each pool
    prices: Mapping[str, Price] = {}
    margin_ratio: float
    as_of: date | None = None  # None: today
    readings: Path | None = None  # the file that keeps them
    most_requests: int = DEFAULT_REQUESTS


def fleet(context: Context, query: FleetQuery) -> Fleet:
    """Return the table of all pools; write the file of kept readings, if one is named."""
    now = datetime.now(UTC)
    as_of = query.as_of or now.date()
    # Mistakes in their addresses show before anything else is read.
    profiles = read_profiles(context, query.profiles) if query.profiles else None
    read = read_fleet(
        context,
        query.addresses,
        path=query.readings,
        most_requests=query.most_requests,
        as_of=as_of,
    )
    read.readings = [_with_price(reading, query.prices) for reading in read.readings]
    kept = without_old(read.kept, now, read.indexed)
    if query.readings is not None:
        write_kept(query.readings, kept)
    readings = kept.readings
    if query.as_of is not None:
        readings = tuple(_until(readings, query.as_of, now.date()))
    problems, prediction = [*read.problems], None
    remarks = [*read.remarks, *read.lines_about_left_out()]
    if profiles is not None:
        newest = _newest_pushes(readings)
        addresses = newest if read.place else query.addresses
        predictions = predict_profiles(context, profiles, addresses, query.prices)
        if len(predictions.tasks) > 1:
            names = [clean_name(task.label or task.program) for task in predictions.tasks]
            problem = f"profiles of {number_of(len(names), 'task')} ({listed(names, _NAMED)})"
            raise UsageError(f"--for: {problem}; give those of one task")
        prediction = next(iter(predictions.tasks), None)
        problems += predictions.unreadable
        remarks += predictions.remarks
    table = analysis.fleet(
        readings,
        as_of=as_of,
        by=query.by,
        margin_ratio=query.margin_ratio,
        prices=query.prices,
        announced=kept.announced,
        title=f"Pools of {read.title}",
        prediction=prediction,
        unreadable=tuple(dict.fromkeys(problems)),
        remarks=tuple(dict.fromkeys(remarks)),
    )
    alerts = {change.key for pool in table.pools for change in pool.changes if change.is_alert}
    if query.readings is not None and alerts:
        # The next table does not repeat them.
        write_kept(query.readings, replace(kept, alerts=tuple(sorted(alerts))))
    return table


def check_order(by: str, *, has_profile: bool, has_prices: bool) -> None:
    """Raise a UsageError for an order that needs another option."""
    if by in (MINUTES, MONEY) and not has_profile:
        raise UsageError(f"--by {by}: this is of a predicted task; name its profile by --for")
    if (by in (PRICE, MONEY) or by.endswith(COST)) and not has_prices:
        raise UsageError(f"--by {by}: no prices are known; give a file of them by --prices")


def alerts_of(table: Fleet) -> list[str]:
    """Return a sentence for each change that this table is the first to name as an alert."""
    return [
        clean(plain(change_item(pool.pool, change, table).line)).removeprefix(_NEW)
        for pool in table.pools
        for change in pool.changes
        if change.is_alert
    ]


def _with_price(reading: WorkerReading, prices: Mapping[str, Price]) -> WorkerReading:
    machine = dict(reading.facts).get("instance type", "")
    price = Price.find(prices, reading.pool, reading.queue, str(machine))
    return reading if price is None else replace(reading, price=price)


def _until(readings: Iterable[WorkerReading], as_of: date, today: date) -> Iterable[WorkerReading]:
    """Yield the readings of a table of an earlier day; those of the future are no part of it."""
    for reading in readings:
        day = reading.time.date()
        if day <= as_of or day > today + CLOCKS_DIFFER:
            yield reading


def _newest_pushes(readings: Iterable[WorkerReading]) -> list[str]:
    """Return the addresses of the pushes that have the newest readings of each pool."""
    by_pool = grouped(readings, attrgetter("pool")).values()
    newest = (max(of_pool, key=attrgetter("time", "group")) for of_pool in by_pool)
    groups = {reading.group for reading in newest}
    return [f"group:{group}" for group in sorted(groups) if re.fullmatch(SLUG_PATTERN, group)]
