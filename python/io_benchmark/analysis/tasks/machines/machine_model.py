# SPDX-License-Identifier: MPL-2.0
"""What a report about the machines of pools shows. Ratios are of a usual machine of the pool."""

from enum import StrEnum

from msgspec import Struct

from io_benchmark.analysis.model.comparison import Interval
from io_benchmark.analysis.model.statements import Statement


class MachineState(StrEnum):
    """How a machine compares with usual machines of its pool."""

    SLOW = "slow"
    USUAL = "usual"
    FAST = "fast"
    UNKNOWN = "not enough runs"


class PoolState(StrEnum):
    """Whether machines of a pool can be told apart."""

    JUDGED = "judged"
    FEW = "too few machines"  # with enough runs of labels that others run as well
    SHORT_LIVED = "short-lived"  # instances of a cloud, whose names mean nothing the next day


class MeasuredRatio(Struct, frozen=True):
    """A measurement of the benchmark on a machine, divided by that of others of its pool."""

    measurement: str
    ratio: float
    usual: Interval  # of this ratio for one more machine like the others
    is_unusual: bool


class MeasuredMachine(Struct, frozen=True):
    """What results of the benchmark say about a machine, compared with others of its pool."""

    results: int
    other_machines: int
    measurements: tuple[MeasuredRatio, ...]
    differences: tuple[Statement, ...]  # facts that it has, and most others do not


class MachineFigures(Struct, frozen=True, kw_only=True):
    """One machine by its runs."""

    machine: str  # GROUP/ID, as runs name it
    state: MachineState
    ratio: float | None = None  # of its time now, shrunk by how far usual machines differ
    interval: Interval | None = None
    since: str | None = None  # the first day of its newest level; None: all the time
    before_ratio: float | None = None  # until then
    runs: int  # completed ones
    hours_per_week: float  # of all its runs, since then
    lost_hours_per_week: float = 0.0  # that a usual machine would not take
    lost_money_per_week: float | None = None
    last_day: str = ""  # of its runs
    not_completed: int = 0  # failed runs, and lost ones, which the machine or its worker ended
    expected_not_completed: float = 0.0  # of the same tasks, as the pool's others do
    fails_more: bool = False
    at_once: int = 0  # runs that began while another run on it went on
    may_be_several: bool = False  # machines with one name, as runs at the same time suggest
    measured: MeasuredMachine | None = None


class MachinePool(Struct, frozen=True, kw_only=True):
    """A pool and its machines, those that lose most time first."""

    pool: str
    state: PoolState
    workers: int  # names
    runs: int
    labels: int
    variation_ratio: float | None = None  # how far usual machines differ; None: not judged
    lifetime_hours: float = 0.0  # of half of the runs' workers, from a first to a last run
    currency: str = ""
    machines: tuple[MachineFigures, ...] = ()

    def in_state(self, state: MachineState) -> list[MachineFigures]:
        return [machine for machine in self.machines if machine.state is state]


class MachineReport(Struct, frozen=True, tag_field="version", tag=1):
    """Which machines of pools are slow, by real tasks."""

    margin_ratio: float  # a machine that is slower by less is not named
    first_day: str  # of the runs
    last_day: str
    pools: tuple[MachinePool, ...]
    remarks: tuple[Statement, ...] = ()
    unreadable: tuple[str, ...] = ()


class ExplainedMachines(MachineReport, frozen=True, kw_only=True):
    """A report with what only people read of it; it is not published as JSON."""

    addresses: tuple[str, ...]
