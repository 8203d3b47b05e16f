# SPDX-License-Identifier: MPL-2.0
"""The readings of each pool in their order, with the machine and the push of each."""

from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta
from operator import attrgetter
from typing import NamedTuple

from io_benchmark.analysis.fleet.fleet_model import WorkerReading
from io_benchmark.analysis.model.groups import grouped
from io_benchmark.analysis.model.run import UNKNOWN
from io_benchmark.analysis.model.statements import Statement, count, statement
from io_benchmark.analysis.reading.machines import MachineMarks
from io_benchmark.number_text import plural

CLOCKS_DIFFER = timedelta(days=1)


class Located(NamedTuple):
    """A reading, its machine and its push."""

    reading: WorkerReading
    machine: str  # each unknown one has a name of its own
    push: int
    pushed: datetime  # when the first reading of this push was made


class PoolReadings(NamedTuple):
    """What a pool's workers measured, the oldest first."""

    pool: str
    located: Sequence[Located]

    @property
    def newest(self) -> WorkerReading:
        return self.located[-1].reading

    @property
    def first(self) -> date:
        return self.located[0].reading.time.date()

    @property
    def last(self) -> date:
        return self.newest.time.date()

    @property
    def system(self) -> str:
        """Return the system of its machines; nothing for Linux."""
        return str(dict(self.newest.facts).get("system", ""))

    @property
    def queue(self) -> str:
        return next(
            (item.reading.queue for item in reversed(self.located) if item.reading.queue), ""
        )

    def since(self, day: date) -> list[Located]:
        """Return the readings of pushes from a day on."""
        return [item for item in self.located if item.pushed.date() >= day]


def machines_of(located: Iterable[Located]) -> int:
    """Return how many machines measured these."""
    return len({item.machine for item in located})


def by_pool(readings: Iterable[WorkerReading]) -> list[PoolReadings]:
    """Return the readings of each pool, whatever their order; each run of a task counts once."""
    ordered = sorted(readings, key=_order)
    runs = {_run_of(reading): reading for reading in ordered}
    pools = grouped(runs.values(), attrgetter("pool"))
    return [_pool_readings(pool, members) for pool, members in sorted(pools.items())]


def without_future(
    readings: Iterable[WorkerReading], as_of: date
) -> tuple[list[WorkerReading], list[Statement]]:
    """Return the readings that a clock may have by now, and which pools have later ones."""
    latest = as_of + CLOCKS_DIFFER
    by_time = grouped(readings, lambda reading: reading.time.date() <= latest)
    present, future = by_time.get(True, []), by_time.get(False, [])
    notes = []
    for pool, members in sorted(grouped(future, attrgetter("pool")).items()):
        last = max(reading.time for reading in members)
        template = "{pool}: {number} %s dated in the future left out, up to {last}"
        note = statement(
            template % plural(len(members), "result"),
            pool=pool,
            number=count(len(members)),
            last=last.date().isoformat(),
        )
        notes.append(note)
    return present, notes


def _order(reading: WorkerReading) -> tuple[object, ...]:
    """Return what readings are sorted by: first the time, then whatever may differ."""
    return (
        reading.time,
        reading.group,
        reading.task_id,
        -1 if reading.run_id is None else reading.run_id,
        reading.marks.worker_id,
        reading.source,
        len(reading.values),
        sorted(reading.values.items()),
        reading.facts,
    )


def _run_of(reading: WorkerReading) -> tuple[object, ...]:
    """Return what two readings of the same run have in common, wherever they were read from."""
    run = (reading.pool, reading.time, reading.task_id, reading.run_id)
    return run if reading.task_id != UNKNOWN else (*run, tuple(sorted(reading.values.items())))


def _pool_readings(pool: str, readings: Sequence[WorkerReading]) -> PoolReadings:
    machines = MachineMarks.machine_names([reading.marks for reading in readings])
    pushes: dict[str, tuple[int, datetime]] = {}
    located = []
    for number, (reading, machine) in enumerate(zip(readings, machines, strict=True)):
        push, pushed = pushes.setdefault(reading.group, (len(pushes), reading.time))
        name = machine if machine != UNKNOWN else f"#{number}"
        located.append(Located(reading, name, push, pushed))
    return PoolReadings(pool, located)
