# SPDX-License-Identifier: MPL-2.0
"""The data of a fleet: what each worker measured in each push, and the table of all pools.

A `WorkerReading` is all that is kept of a result, so the samples need to be read once. `Fleet` is
computed from the readings alone: the same readings give the same table in any order.
"""

from collections.abc import Mapping
from datetime import date, datetime

from msgspec import UNSET, Struct, UnsetType

from io_benchmark.analysis.model.comparison import Interval
from io_benchmark.analysis.model.statements import Statement
from io_benchmark.analysis.reading.machines import Facts, FactValue, MachineMarks
from io_benchmark.costs.worker_time import Price


class FleetFigure(Struct, frozen=True):
    """Something that a pool can do: a column of the table."""

    name: str  # "write": the option --by takes it, and each format for programs has it
    label: str  # "Write"
    unit: str  # "MiB/s"
    higher_is_better: bool
    basis: str  # how it is known, for people: the workload, the variant, and what was taken
    work: str = ""  # the unit of work that a price is given for: "TiB written"
    # How much of `work` one worker does in an hour, for a value of 1. A time divides it.
    work_per_hour: float = 0.0
    is_counted: bool = False  # by the machine: it varies only where machines differ

    def cost_of(self, value: float, price: Price | None) -> float | None:
        """Return what one unit of the figure's work costs; None without a price or such a unit."""
        if price is None or not self.work or value <= 0:
            return None
        done = self.work_per_hour * value if self.higher_is_better else self.work_per_hour / value
        return price.per_hour / done


class WorkerReading(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What one run measured on one worker."""

    pool: str
    queue: str = ""  # PROVISIONER/WORKERTYPE, where it is known
    time: datetime  # of the push
    group: str  # the task group; without one, a name of this task alone
    task_id: str
    run_id: int | None = None
    source: str = ""  # a path or an address, for people
    marks: MachineMarks = MachineMarks()  # by which the machine is recognised
    facts: Facts = ()
    # By the figure's name: the value in its unit, and the work that was done for it. Only values
    # with the same work are compared.
    values: Mapping[str, float] = {}
    work: Mapping[str, str] = {}
    price: Price | None = None  # of its pool when this was read; None: no prices were given


class KeptReadings(Struct, frozen=True, tag_field="version", tag=1):
    """The file that a fleet is kept in, so that no result needs to be read twice."""

    place: str  # where the results are from: the namespace of an index, or empty
    readings: tuple[WorkerReading, ...]
    pushes: tuple[str, ...] = ()  # task groups that were read completely
    announced: tuple[str, ...] = ()  # keys of the changes that an earlier table named as alerts
    alerts: tuple[str, ...] = ()  # keys of the changes that the table of these readings names so


class Cell(Struct, frozen=True):
    """What a pool can do: the geometric mean of its machines since its last change."""

    value: float
    interval: Interval  # of the value, in its unit
    machines: int
    # How many pools are certainly better, plus 1, and how many may be better, plus 1. Pools whose
    # intervals overlap share a part of these ranks. None: other work was measured than of most
    # pools, such as larger files.
    best_rank: int | None
    worst_rank: int | None
    since: date  # of the first push that the mean includes
    work: str = ""  # that was measured: only cells with the same are compared
    is_assumed: bool = False  # one machine, or one push: the interval is by an assumed variation
    cost: float | None = None  # of one unit of the figure's work, in the currency of the price


class WeekPoint(Struct, frozen=True):
    """One push of a pool: the geometric mean of its machines, for a small picture."""

    time: datetime
    value: float


class ChangedFact(Struct, frozen=True):
    """A fact that had another value before a change, or that a part of the machines has now."""

    name: str
    before: FactValue
    after: FactValue


class FleetChange(Struct, frozen=True):
    """A change of what a pool can do."""

    key: str  # the same in each week, so that an alert is raised once
    figure: str  # that changed most; "price": the price of the pool
    since: date  # of the first push after it
    found: date  # of the push with which it was certain
    ratio: float  # of times after and before: above 1 is slower; of prices: above 1 is dearer
    interval: Interval | None
    facts: tuple[ChangedFact, ...] = ()
    # Of how many machines it is true, and how many there were; equal where the whole pool changed.
    machines: int = 0
    of_machines: int = 0
    is_alert: bool = False  # slower by more than the margin, new, and not announced


class PoolPredicted(Struct, frozen=True):
    """A profiled task on a pool."""

    minutes: float | None = None
    low_minutes: float | None = None  # None of the profiled pool, where the time was measured
    high_minutes: float | None = None
    cost: float | None = None  # in the currency of the pool's price
    reason: Statement | None = None  # why there is no prediction


class FleetPool(Struct, frozen=True, kw_only=True):
    """A row of the table."""

    pool: str
    queue: str
    machine_types: tuple[str, ...]
    images: tuple[str, ...]
    disks: tuple[str, ...]  # "1 × nvme_card, 375 GiB", the most frequent one first
    cells: Mapping[str, Cell]  # by the figure's name
    price: Price | None
    machines: int  # seen in all readings
    pushes: int
    last: date
    points: tuple[WeekPoint, ...]  # of the figure `Fleet.drawn`, the oldest first
    changes: tuple[FleetChange, ...]  # the newest first
    flags: tuple[Statement, ...]
    predicted: PoolPredicted | None = None
    address: str = ""  # of its newest results: what `compare` takes, as index:… or a folder
    system: str | UnsetType = UNSET  # of its machines; only of others than Linux


class Fleet(Struct, frozen=True, tag_field="version", tag=1):
    """All pools, in the order that was asked for."""

    title: str
    as_of: date  # the day of which it is said how long ago a pool was measured
    ordered_by: str  # one of `fleet.orders`: a figure's name, "price", …
    drawn: str  # the figure that the pools' points are of; empty: no pool has points
    figures: tuple[FleetFigure, ...]
    pools: tuple[FleetPool, ...]
    margin_ratio: float
    program: str = ""  # the profiled task that `predicted` is about
    notes: tuple[Statement, ...] = ()
    unreadable: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
