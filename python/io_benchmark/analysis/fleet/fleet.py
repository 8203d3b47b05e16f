# SPDX-License-Identifier: MPL-2.0
"""The table of all pools, from their readings alone: the same in any order of the readings."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, timedelta

from msgspec import UNSET
from msgspec.structs import replace

from io_benchmark.analysis.fleet.changes import changes_of, is_announced
from io_benchmark.analysis.fleet.columns import Cells, cells_of, points_of, with_costs
from io_benchmark.analysis.fleet.figures import FIGURES
from io_benchmark.analysis.fleet.flags import flags_of, recent, renamed_pools
from io_benchmark.analysis.fleet.fleet_model import (
    Fleet,
    FleetChange,
    FleetPool,
    WorkerReading,
)
from io_benchmark.analysis.fleet.orders import figure_of, ordered
from io_benchmark.analysis.fleet.pool_readings import (
    Located,
    PoolReadings,
    by_pool,
    machines_of,
    without_future,
)
from io_benchmark.analysis.fleet.predicted import with_predictions
from io_benchmark.analysis.model.statements import Statement
from io_benchmark.analysis.prediction.prediction_model import TaskPrediction
from io_benchmark.analysis.reading.disks import MachineType
from io_benchmark.analysis.reading.machines import Facts
from io_benchmark.costs.worker_time import NO_PRICES, Price

# Chosen: a weekly task that was missed three times still has an alert, and the first table of a
# year of pushes has none about what everybody knows.
_LATEST_ALERT = timedelta(days=28)


def fleet(
    readings: Iterable[WorkerReading],
    *,
    as_of: date,
    by: str = "",
    margin_ratio: float,
    prices: Mapping[str, Price] = NO_PRICES,
    announced: Iterable[str] = (),
    title: str = "",
    prediction: TaskPrediction | None = None,
    unreadable: Sequence[str] = (),
    remarks: Sequence[str] = (),
) -> Fleet:
    """Return the table of the pools that these readings are of, in the order `by`.

    Without an order it is that of the figure that most pools have.
    """
    present, notes = without_future(readings, as_of)
    pools = by_pool(present)
    known = sorted(set(announced))
    of_pools = {pool.pool: changes_of(pool, FIGURES, margin_ratio) for pool in pools}
    levels = {name: of_pool.levels for name, of_pool in of_pools.items()}
    changes = {
        name: [_once(change, known, as_of) for change in of_pool.changes]
        for name, of_pool in of_pools.items()
    }
    cells = cells_of(pools, FIGURES, levels)
    by = by or _most_measured(cells)
    drawn = figure_of(by) or _most_measured(cells)
    renamed = renamed_pools(pools)
    rows = [
        _row(
            pool,
            cells,
            drawn,
            changes[pool.pool],
            prices,
            flags_of(pool, changes[pool.pool], as_of, renamed[pool.pool]),
        )
        for pool in pools
    ]
    if prediction is not None:
        rows = with_predictions(rows, prediction)
    return Fleet(
        title=title,
        as_of=as_of,
        ordered_by=by,
        drawn=drawn,
        figures=tuple(figure for figure in FIGURES if _is_measured(figure.name, cells)),
        pools=ordered(rows, by),
        margin_ratio=margin_ratio,
        program=(prediction.label or prediction.program) if prediction is not None else "",
        notes=tuple(notes),
        unreadable=tuple(sorted(unreadable)),
        remarks=tuple(remarks),
    )


def _row(
    pool: PoolReadings,
    cells: Cells,
    drawn: str,
    changes: Sequence[FleetChange],
    prices: Mapping[str, Price],
    flags: tuple[Statement, ...],
) -> FleetPool:
    current, of_pool = recent(pool, changes), cells[pool.pool]
    types = _most_frequent(current, _machine_type)
    price = _price(pool, types, prices)
    return FleetPool(
        pool=pool.pool,
        queue=pool.queue,
        machine_types=types,
        images=_most_frequent(current, lambda facts: facts.get("image", "")),
        disks=_most_frequent(current, _disks),
        cells=with_costs(of_pool, FIGURES, price),
        price=price,
        machines=machines_of(pool.located),
        pushes=len({item.push for item in pool.located}),
        last=pool.last,
        points=points_of(pool, drawn, of_pool.get(drawn)),
        changes=tuple(changes),
        flags=flags,
        address=pool.newest.source,
        system=pool.system or UNSET,
    )


def _once(change: FleetChange, announced: Sequence[str], as_of: date) -> FleetChange:
    """Return a change without its alert, if that was raised before or would be old news."""
    is_old = as_of - change.found > _LATEST_ALERT
    return replace(change, is_alert=False) if is_old or is_announced(change, announced) else change


def _is_measured(name: str, cells: Cells) -> bool:
    return any(name in of_pool for of_pool in cells.values())


def _most_measured(cells: Cells) -> str:
    """Return the first of the figures that the most pools have; nothing without pools."""
    counts = Counter(name for of_pool in cells.values() for name in of_pool)
    names = (figure.name for figure in FIGURES if figure.name in counts)
    return max(names, key=counts.__getitem__, default="")


def _most_frequent(
    located: Sequence[Located], words: Callable[[Mapping[str, str]], str]
) -> tuple[str, ...]:
    """Return what machines have, by their newest readings; what most have is first."""
    newest = {item.machine: words(_texts(item.reading.facts)) for item in located}
    counts = Counter(filter(None, newest.values()))
    return tuple(sorted(counts, key=lambda value: (-counts[value], value)))


def _texts(facts: Facts) -> dict[str, str]:
    return {name: value for name, value in facts if isinstance(value, str)}


def _machine_type(facts: Mapping[str, str]) -> str:
    return MachineType(facts.get("instance type")).name


def _disks(facts: Mapping[str, str]) -> str:
    """Return '2 × nvme_card, 375 GiB'; several models are counted already."""
    number, models = facts.get("disks", ""), facts.get("disk models", "")
    if not models:
        return ""
    lead = models if "," in models else f"{number} × {models}"
    return ", ".join(filter(None, (lead, facts.get("disk sizes", ""))))


def _price(pool: PoolReadings, types: Sequence[str], prices: Mapping[str, Price]) -> Price | None:
    """Return the price of a pool's workers; None where they have different ones."""
    of_types = {Price.find(prices, pool.pool, pool.queue, name) for name in types or ("",)}
    return of_types.pop() if len(of_types) == 1 else None
