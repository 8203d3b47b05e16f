# SPDX-License-Identifier: MPL-2.0
"""Readings of pools, with given values: every week, of new machines unless they are named."""

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any

from io_benchmark.analysis.fleet.fleet import fleet
from io_benchmark.analysis.fleet.fleet_model import Fleet, FleetPool, WorkerReading
from io_benchmark.analysis.model.statements import Statement
from io_benchmark.analysis.reading.machines import Facts, MachineMarks
from io_benchmark.report.content import text_of

START = datetime(2026, 6, 1, 3, tzinfo=UTC)
AS_OF = date(2026, 8, 1)
FACTS = {
    "instance type": "projects/p/machineTypes/c2-standard-16",
    "disks": "2",
    "disk models": "nvme_card",
    "disk sizes": "375 GiB",
    "kernel": "6.8.0",
    "image": "linux",
    "local SSDs": "2",
}


def facts_with(**changes: str) -> Facts:
    """Return the usual facts with changes; an underscore in a name is a space."""
    return tuple((FACTS | {name.replace("_", " "): text for name, text in changes.items()}).items())


def reading(
    pool: str = "intel",
    week: int = 0,
    machine: str | None = None,
    *,
    values: Mapping[str, float] | None = None,
    **changes: Any,
) -> WorkerReading:
    """Return what a machine measured in a week."""
    name = machine or f"{pool} {week}"
    queue = changes.pop("queue", f"releng/{pool}")
    usual: dict[str, Any] = {
        "pool": pool,
        "queue": queue,
        "time": START + timedelta(weeks=week),
        "group": f"push {week}",
        "task_id": f"task {pool} {week} {name}",
        "run_id": 0,
        "marks": MachineMarks(name, (), (), queue),
        "facts": facts_with(),
        "values": {"write": 700.0} if values is None else values,
        "work": {},
    }
    return WorkerReading(**usual | changes)


def weekly(
    pool: str, values: Iterable[float], figure: str = "write", **changes: Any
) -> list[WorkerReading]:
    """Return one reading per week with these values."""
    return [
        reading(pool, week, values={figure: value}, **changes) for week, value in enumerate(values)
    ]


def table(readings: Iterable[WorkerReading], **changes: Any) -> Fleet:
    """Return the table of these readings, in the order of what they write."""
    usual: dict[str, Any] = {"as_of": AS_OF, "by": "write", "margin_ratio": 0.05}
    return fleet(readings, **usual | changes)


def row(made: Fleet, pool: str) -> FleetPool:
    (of_pool,) = [each for each in made.pools if each.pool == pool]
    return of_pool


def texts(statements: Iterable[Statement]) -> list[str]:
    return [text_of(each) for each in statements]
