# SPDX-License-Identifier: MPL-2.0
"""The table of all pools as OpenMetrics text, for Grafana and alerts.

A number has the base unit that OpenMetrics wants: bytes, seconds. There are no timestamps, because
a number is true from when it was measured on; `last_measured` says when that was.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, time
from typing import NamedTuple

from msgspec import Struct

from io_benchmark.analysis.fleet.fleet_model import Cell, Fleet, FleetFigure, FleetPool
from io_benchmark.analysis.model.statements import MIB
from io_benchmark.report.content import make_harmless
from io_benchmark.report.formats import Layout
from io_benchmark.results.parts import NS_PER_S

_PREFIX = "io_benchmark_pool"
_SECONDS = "seconds"


class _BaseUnit(NamedTuple):
    name: str
    factor: float  # by which a value of the figure's unit is multiplied


_UNITS = {
    "MiB/s": _BaseUnit("bytes_per_second", MIB),
    "ms": _BaseUnit(_SECONDS, 1e6 / NS_PER_S),
    "µs": _BaseUnit(_SECONDS, 1e3 / NS_PER_S),
    "IOPS": _BaseUnit("operations_per_second", 1),
    "ops/s": _BaseUnit("operations_per_second", 1),
    "calls/s": _BaseUnit("calls_per_second", 1),
    "starts/s": _BaseUnit("starts_per_second", 1),
    "files/s": _BaseUnit("files_per_second", 1),
    "CPUs": _BaseUnit("cpus", 1),
}
_Labels = Mapping[str, str]


class _Family(Struct, frozen=True):
    """Samples with one name; without samples it is not written."""

    name: str
    help: str
    samples: Sequence[tuple[_Labels, float | None]]
    kind: str = "gauge"
    unit: str = ""

    def lines(self) -> Iterator[str]:
        samples = [(labels, value) for labels, value in self.samples if value is not None]
        if not samples:
            return
        name = f"{_PREFIX}_{self.name}" if self.name else _PREFIX
        yield f"# TYPE {name} {self.kind}"
        if self.unit:
            yield f"# UNIT {name} {self.unit}"
        yield f"# HELP {name} {_escaped(self.help)}"
        suffix = "_info" if self.kind == "info" else ""
        for labels, value in samples:
            pairs = ",".join(f'{label}="{_escaped(words)}"' for label, words in labels.items())
            yield f"{name}{suffix}{{{pairs}}} {value!r}"


def render(fleet: Fleet, _layout: Layout) -> str:
    lines = [line for family in _families(make_harmless(fleet)) for line in family.lines()]
    return "\n".join([*lines, "# EOF\n"])


def _escaped(words: str) -> str:
    return words.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _families(fleet: Fleet) -> Iterator[_Family]:
    yield _Family("", "What a pool is.", [(_about(pool), 1) for pool in fleet.pools], "info")
    for figure in fleet.figures:
        yield from _figure_families(figure, fleet)
    for name, words, rank in (
        ("best_rank", "How many pools are certainly better, plus 1.", _best_rank),
        ("worst_rank", "How many pools may be better, plus 1.", _worst_rank),
    ):
        yield _Family(name, words, [*_samples_of_cells(fleet, rank)])
    yield _Family("work_cost", "What one unit of work costs.", [*_costs(fleet)])
    yield _Family("hour_cost", "What an hour of a worker costs.", [*_prices(fleet)])
    if fleet.program:
        yield from _predicted(fleet)
    yield _Family(
        "workers",
        "Machines that were seen in all results.",
        [({"pool": pool.pool}, pool.machines) for pool in fleet.pools],
    )
    yield _Family(
        "last_measured_timestamp_seconds",
        "The day of the newest result, at its start.",
        [({"pool": pool.pool}, _timestamp(pool)) for pool in fleet.pools],
        unit=_SECONDS,
    )
    yield _Family(
        "change_ratio",
        "Times after the last change of a figure over those before; of the price, prices.",
        [*_changes(fleet)],
        unit="ratio",
    )
    yield _Family(
        "alerts",
        "Changes that make a pool slower by more than the margin, and that are new.",
        [({"pool": pool.pool}, _alerts(pool)) for pool in fleet.pools],
    )


def _about(pool: FleetPool) -> _Labels:
    return {
        "pool": pool.pool,
        "queue": pool.queue,
        "machine_types": "; ".join(pool.machine_types),
        "images": "; ".join(pool.images),
        "disks": "; ".join(pool.disks),
    }


def _figure_families(figure: FleetFigure, fleet: Fleet) -> Iterator[_Family]:
    unit, factor = _UNITS.get(figure.unit, _BaseUnit("", 1))
    start, end = figure.name.replace("-", "_"), f"_{unit}" if unit else ""
    # The unit ends the name, and is in it once: `cpus`, not `cpus_cpus`.
    end = "" if start == unit else end
    bounds: Mapping[str, tuple[str, Callable[[Cell], float]]] = {
        "": ("", lambda cell: cell.value),
        "low_": ("Lower end of the interval: ", lambda cell: cell.interval.low_ratio),
        "high_": ("Upper end of the interval: ", lambda cell: cell.interval.high_ratio),
    }
    for bound, (words, read) in bounds.items():
        samples = [
            ({"pool": pool.pool, "figure": figure.name}, factor * read(pool.cells[figure.name]))
            for pool in fleet.pools
            if figure.name in pool.cells
        ]
        name = f"{bound}{start}{end}"
        yield _Family(name, f"{words}{figure.label}: {figure.basis}.", samples, unit=unit)


def _best_rank(cell: Cell) -> float | None:
    return cell.best_rank


def _worst_rank(cell: Cell) -> float | None:
    return cell.worst_rank


def _samples_of_cells(
    fleet: Fleet, read: Callable[[Cell], float | None]
) -> Iterator[tuple[_Labels, float | None]]:
    for figure in fleet.figures:
        for pool in fleet.pools:
            if figure.name in pool.cells:
                yield {"pool": pool.pool, "figure": figure.name}, read(pool.cells[figure.name])


def _costs(fleet: Fleet) -> Iterator[tuple[_Labels, float | None]]:
    for figure in fleet.figures:
        for pool in fleet.pools:
            if pool.price is not None and figure.name in pool.cells:
                labels = {
                    "pool": pool.pool,
                    "figure": figure.name,
                    "work": figure.work,
                    "currency": pool.price.currency,
                }
                yield labels, pool.cells[figure.name].cost


def _prices(fleet: Fleet) -> Iterator[tuple[_Labels, float | None]]:
    for pool in fleet.pools:
        if pool.price is not None:
            yield {"pool": pool.pool, "currency": pool.price.currency}, pool.price.per_hour


def _predicted(fleet: Fleet) -> Iterator[_Family]:
    minutes: list[tuple[_Labels, float | None]] = []
    costs: list[tuple[_Labels, float | None]] = []
    for pool in fleet.pools:
        labels = {"pool": pool.pool, "program": fleet.program}
        if pool.predicted is not None and pool.predicted.minutes is not None:
            minutes.append((labels, 60 * pool.predicted.minutes))
            if pool.price is not None:
                costs.append(({**labels, "currency": pool.price.currency}, pool.predicted.cost))
    words = "How long the task is predicted to take."
    yield _Family("predicted_seconds", words, minutes, unit=_SECONDS)
    yield _Family("predicted_cost", "What the task is predicted to cost.", costs)


def _timestamp(pool: FleetPool) -> float:
    return datetime.combine(pool.last, time(), UTC).timestamp()


def _changes(fleet: Fleet) -> Iterator[tuple[_Labels, float | None]]:
    """Yield the newest change of each figure, because labels must differ."""
    for pool in fleet.pools:
        newest = {change.figure: change for change in reversed(pool.changes)}
        for figure, change in newest.items():
            since = change.since.isoformat()
            yield {"pool": pool.pool, "figure": figure, "since": since}, change.ratio


def _alerts(pool: FleetPool) -> float:
    return sum(change.is_alert for change in pool.changes)
