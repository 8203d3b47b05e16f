# SPDX-License-Identifier: MPL-2.0
"""The data of predictions: each task, its time on each pool, and what it wrote over time."""

from collections.abc import Mapping

from msgspec import Struct

from io_benchmark.analysis.model.statements import Statement
from io_benchmark.costs.worker_time import Price

PREDICTION_LEVEL = 0.90  # the level of the interval of a single task's time


class PoolPrediction(Struct, frozen=True):
    """One task on one pool. Either all of its times are known, or there is a reason why not.

    `time_ns` is the task's own time and what writes, syncs and the CPU add to it. Syncs and the CPU
    may add a negative time. 90 % of single tasks there take between `low_ns` and `high_ns`. Where
    the pool has more CPUs than the task's machine, this includes every number of threads that the
    task may run there, as `at_least_ns` and `at_most_ns` do; these are also known where no time in
    between is likely, and `reason` says what would show it.
    """

    pool: str
    workers: int  # whose results give the pool's figures
    write_bytes_per_s: float | None  # the pool's ceiling: of several places, the lowest
    time_ns: float | None = None
    low_ns: float | None = None
    high_ns: float | None = None
    added_by_writes_ns: float | None = None
    added_by_syncs_ns: float | None = None
    added_by_cpu_ns: float | None = None
    # The share of the profiled time in which the pool's disks would work at their ceiling
    at_ceiling_share: float | None = None
    measured_ns: tuple[int, ...] = ()  # by profiles of the same task that were made there
    reason: Statement | None = None  # why it is not predicted
    price: Price | None = None  # of its workers, where prices were given
    cpus: float | None = None  # of the worker with the fewest
    # Null: the number of CPUs does not change the time, or nothing is known of it.
    at_least_ns: float | None = None
    at_most_ns: float | None = None


class WrittenOverTime(Struct, frozen=True):
    """What a task wrote to the disks of one place, by one profile.

    The ceilings are the most that the disks of each pool write there.
    """

    place: str
    step_ns: float
    window_ns: float  # of the profile, on average
    bytes_per_s: tuple[float, ...]  # the mean of each step
    peaks_bytes_per_s: tuple[float, ...]  # of each step's window with most
    ceilings_bytes_per_s: Mapping[str, float]  # by pool, also that of the profile


class TaskPrediction(Struct, frozen=True):
    """One task: what its profiles recorded on their pool, and its times elsewhere."""

    program: str  # or the label of a task that published a resource profile
    sha256: str | None  # of the command's words; null: of a resource profile
    pool: str | None  # of the profiles that the prediction uses
    measured_ns: tuple[int, ...]  # by these profiles
    # On average, while the task ran; null where no profile can be used.
    cpus_used: float | None
    written_bytes: float | None  # to the disks until the task ended
    read_bytes: float | None
    syncs: float | None
    pools: tuple[PoolPrediction, ...]
    notes: tuple[Statement, ...] = ()
    price: Price | None = None  # of the profiled pool
    at_ceiling_share: float | None = None  # of the profiled pool
    written: WrittenOverTime | None = None  # where the task wrote most
    label: str | None = None  # that --label of measure gave
    more_cpus: Statement | None = None  # whether more of them pay; null: no pool has more


class Predictions(Struct, frozen=True, tag_field="version", tag=2):
    """How long profiled tasks take on other pools."""

    tasks: tuple[TaskPrediction, ...]
    unreadable: tuple[str, ...]
    remarks: tuple[str, ...]


class ExplainedPredictions(Predictions, frozen=True, kw_only=True):
    """Predictions with what only people read of them; it is not published as JSON."""

    addresses: tuple[str, ...]  # of the profiles, then of the results of other pools
