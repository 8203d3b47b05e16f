# SPDX-License-Identifier: MPL-2.0
"""The protocol of a source of results, and the data that crosses it.

A source knows one kind of address, finds the runs that an address leads to, and hands over their
results. Commands and `gather` use sources through this protocol alone.
"""

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any, NamedTuple, Protocol

from msgspec import Struct, field

from io_benchmark.analysis.phases.phase_model import RunPhases
from io_benchmark.errors import UsageError
from io_benchmark.sources.budget import Budget
from io_benchmark.sources.run_results import RunProfile, RunResult, TaskRecord, TaskRun
from io_benchmark.sources.taskcluster.addresses import IndexAddress
from io_benchmark.suggestions import did_you_mean
from io_benchmark.text import clean

MOST_RUNS = 200_000
_MIB = 1024 * 1024
MOST_POOLS = 1000  # whose names are compared with a wanted one


class Position(NamedTuple):
    """Where a result or a message belongs among all of a command."""

    address: int  # its number on the command line
    label: str = ""
    task_id: str = ""
    run_id: int = 0


FIRST, LAST = Position(-1), Position(sys.maxsize)

RunKey = tuple[str, int]  # the ids of a task and its run
Environment = Mapping[str, str]
Tell = Callable[[str], None]
# What a source does, how far it is, and of how many; the total may not be known yet.
Progress = Callable[[str, int, int | None], None]


class Reading(Struct):
    """One reading of some addresses: what it may use, and the messages about it by position."""

    environment: Environment
    progress: Progress = lambda *_: None
    budget: Budget = field(default_factory=Budget)
    problems: list[tuple[Position, str]] = field(default_factory=list)
    remarks: list[tuple[Position, str]] = field(default_factory=list)
    # The newest run of each task that ended and left no result.
    without_result: list[TaskRecord] = field(default_factory=list)
    missing: set[str] = field(default_factory=set)  # pools that have a problem
    problems_of_pools: int = 0  # how many of the problems these are
    gave_up: int = 0  # results that another reading may get
    has_run: Callable[[str, int], bool] = lambda _task_id, _run_id: False  # skips this run
    # Gets each result as it arrives, and the file itself from a source that is not local.
    accept: Callable[[Position, RunResult, bytes], None] = lambda *_: None
    profiles: list[tuple[Position, RunProfile]] = field(default_factory=list)
    # Numbers of the addresses whose deployment nobody named, so that it is the default one.
    on_default: set[int] = field(default_factory=set)
    # By pool, where its earlier results are, as its tasks name it.
    pasts: dict[str, set[IndexAddress]] = field(default_factory=dict)

    def problem(
        self, position: Position, sentence: str, url: str = "", pool: str | None = None
    ) -> str:
        """Add a problem and return its line; a long sentence never cuts the URL off."""
        if pool:
            self.missing.add(pool)
            self.problems_of_pools += 1
        line = clean(sentence) + (f" ({url})" if url else "")
        self.problems.append((position, line))
        return line

    def remark(self, position: Position, sentence: str) -> None:
        self.remarks.append((position, clean(sentence)))

    def take_problem_lines(self) -> tuple[str, ...]:
        """Return the problems by their positions, and once what the budget left out."""
        return (*(line for _, line in sorted(self.problems)), *self.budget.take_left_out())

    def remark_lines(self) -> tuple[str, ...]:
        return tuple(line for _, line in sorted(self.remarks))


class RunQuery(Reading, kw_only=True):
    """A reading of the runs of any tasks, and which of them are wanted."""

    label: re.Pattern[str] | None = None
    whole_addresses: int = 0  # at the first so many addresses tasks are wanted whatever their label
    pools: tuple[str, ...] = ()  # each with or without its provisioner; none: all
    since: date | None = None
    # Each with the number of its address.
    runs: list[tuple[int, TaskRun]] = field(default_factory=list)
    pools_there: set[str] = field(default_factory=set)  # of all tasks, where some are wanted
    first_pools: set[str] = field(default_factory=set)  # of the runs at the first address

    def wants_task(self, label: str, pool: str, address: int) -> bool:
        if self.pools:
            if len(self.pools_there) < MOST_POOLS:
                self.pools_there.add(pool)
            if not any(is_pool_named(pool, name) for name in self.pools):
                return False
        if self.label is None or address < self.whole_addresses:
            return True
        return self.label.search(label) is not None

    def remark_on_pools(self) -> None:
        """Say which of the wanted pools no task was on, and which was probably meant."""
        if not self.pools_there:
            return
        # A user may leave out the provisioner.
        names = {name for pool in self.pools_there for name in (pool, pool.rpartition("/")[2])}
        for name in self.pools:
            if not any(is_pool_named(pool, name) for pool in self.pools_there):
                hint = did_you_mean(name, sorted(names))
                self.remark(LAST, f"--pool {name}: no task is on this pool{hint}")

    def add(self, run: TaskRun, address: int) -> None:
        """Keep a run of a wanted task by its day; raise a UsageError where there are too many."""
        if self.since is not None:
            moment_ms = run.started_ms if run.started_ms >= 0 else run.resolved_ms
            if datetime.fromtimestamp(moment_ms / 1000, UTC).date() < self.since:
                return
        if address == 0:
            self.first_pools.add(run.pool)
        self.keep(run, address)

    def keep(self, run: TaskRun, address: int) -> None:
        """Keep a run; who needs only sums of many runs keeps less."""
        if len(self.runs) == MOST_RUNS:
            raise UsageError(
                f"there are more than {MOST_RUNS:,} runs; select fewer by --label, --pool or "
                "--since"
            )
        self.runs.append((address, run))


class LogLimits(Struct, frozen=True):
    """The most that one command reads of logs, as they are transferred."""

    runs: int = 1_000
    log_bytes: int = 32 * _MIB
    total_bytes: int = 1024 * _MIB
    seconds: float = 600.0


class LogQuery(Reading, kw_only=True):
    """A reading of runs' logs, the most that is read, and what was read already."""

    limits: LogLimits = field(default_factory=LogLimits)
    kept: Mapping[RunKey, RunPhases] = field(default_factory=dict)
    tell: Tell = lambda _line: None
    # Gets the phases of each run as they are read.
    accept_phases: Callable[[Position, RunPhases], None] = lambda *_: None


def is_pool_named(pool: str, name: str) -> bool:
    """Return whether this is the pool's name, with or without its provisioner."""
    return f"/{pool}".endswith(f"/{name}")


class HistoryQuery(Struct, frozen=True):
    pool: str
    place: IndexAddress  # a namespace whose names are dates
    newest: int  # at most this many points
    since: date | None = None
    # Otherwise only the indexed task of each push is read: a push may have thousands of other
    # tasks.
    whole_pushes: bool = True


class SourceAddress(Struct, frozen=True):
    number: int
    text: str  # as given
    meaning: Any  # in its source's own terms


Addresses = Sequence[SourceAddress]


class Source(Protocol):
    """One kind of place that results come from.

    To add a source, write a class with `forms`, `parse` and `read`, and name it in `gather`.
    """

    forms: tuple[str, ...]  # its forms of address, for messages
    is_local: bool = False  # its results are on this machine: not to fetch, not to wait for

    def parse(self, address: str, environment: Environment) -> Any | None:
        """Return what an address means, None where it is not one of this source.

        Raise a UsageError where it has this source's form, with a mistake in it.
        """

    def read(self, addresses: Addresses, request: Reading) -> None:
        """Read the results at the addresses; what cannot be read is a problem of the request.

        Raise a UsageError for a mistake in an address that shows before anything is read.
        """

    def wait(
        self, addresses: Addresses, environment: Environment, limit_s: float, tell: Tell
    ) -> None:
        """Wait at most this long until the results at the addresses are complete."""

    def read_runs(self, addresses: Addresses, query: RunQuery) -> None:
        """Give the query the runs of all tasks at the addresses; their results are not read."""

    def read_profiles(self, addresses: Addresses, query: Reading) -> None:
        """Give the query the profiles of all tasks at the addresses."""

    def read_logs(self, addresses: Addresses, query: LogQuery) -> None:
        """Give the query the phases of the runs at the addresses, by their logs."""
