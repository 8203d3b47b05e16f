# SPDX-License-Identifier: MPL-2.0
"""The data of one run: what a worker measured, and which machine it is.

Candidate and baseline are *sides*: pools, with `compare A --against B` one pool before and after.
"""

from array import array
from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from statistics import median
from typing import TypeAlias, cast

from msgspec import Struct, field
from msgspec.structs import force_setattr, replace

from io_benchmark.analysis.model.pool_machine import PoolMachine
from io_benchmark.analysis.model.statements import Statement, statement
from io_benchmark.analysis.model.subject import Subject
from io_benchmark.analysis.model.time_parts import ON_CPU, Kind, Part, Phase
from io_benchmark.results import BatchEntry, CacheRetrieveEntry, Result
from io_benchmark.results.format import PLAN_VARIABLE
from io_benchmark.results.machine import LINUX, Host, Limits, StoragePlace
from io_benchmark.results.parts import NS_PER_S, OutcomeState, ResultOutcome
from io_benchmark.results.workloads.cache_retrieve import Trials

Integers: TypeAlias = "array[int]"  # of 64 bits
_NO_SAMPLES: Integers = array("q")
_NOT_STARTED = ResultOutcome(OutcomeState.NOT_STARTED, None)
UNKNOWN = "unknown"


class Run(Struct, frozen=True, dict=True, eq=False):
    """What one run of a worker measured of one subject: retrieves, or batches of operations.

    Samples are in the order of time. None is what the result file does not have.
    """

    subject: Subject
    facts: CacheRetrieveEntry | BatchEntry | None = None  # all but the samples; None: not measured
    start_ns: Integers = _NO_SAMPLES
    total_ns: Integers = _NO_SAMPLES  # a retrieve's time, or a batch's
    operations: Integers = _NO_SAMPLES  # in each sample; a retrieve is one
    # Of each sample's file; 0 for batches, whose operations are all the same.
    size_bytes: Integers = _NO_SAMPLES
    planned: int = 0  # samples that were to be taken
    parts_ns: Mapping[Part, float] = field(default_factory=dict)  # means of one operation
    lookup_ns: "Integers | None" = None  # the part of a retrieve's time; only of cache-retrieve
    first_reads: frozenset[int] = frozenset()  # retrieves that took a file for the first time
    # How many samples there were after each turn, where it took turns with other measurements.
    turn_ends: Sequence[int] = ()
    # The worker that measured this; a worker sets it in each of its runs.
    worker: "Worker" = cast("Worker", None)

    @property
    def is_measured(self) -> bool:
        return len(self.total_ns) > 0

    @property
    def side(self) -> str:
        return self.worker.side

    @cached_property
    def place(self) -> StoragePlace | None:
        places = self.worker.result.storage.places
        return next((place for place in places if place.name == self.subject.place), None)

    @property
    def host(self) -> Host | None:
        return self.worker.result.host

    @property
    def system(self) -> str:
        return LINUX if self.host is None else self.host.system

    @property
    def limits(self) -> Limits | None:
        return self.worker.result.limits

    @property
    def sees_cgroups(self) -> bool:
        return self.limits is not None and bool(self.limits.cgroup_versions)

    @property
    def retrieves(self) -> CacheRetrieveEntry | None:
        return self.facts if isinstance(self.facts, CacheRetrieveEntry) else None

    @property
    def are_retrieves(self) -> bool:
        return self.retrieves is not None

    @property
    def trials(self) -> Trials | None:
        return self.retrieves.trials if self.retrieves is not None else None

    @property
    def outcome(self) -> ResultOutcome:
        return self.facts.outcome if self.facts is not None else _NOT_STARTED

    @property
    def measured(self) -> BatchEntry | None:
        return self.facts if isinstance(self.facts, BatchEntry) else None

    @cached_property
    def mean_ns(self) -> float:
        """Return the mean time of one operation: all the time divided by all the operations."""
        return sum(self.total_ns) / self.operations_done

    @property
    def known_mean_ns(self) -> float | None:
        return self.mean_ns if self.is_measured else None

    @cached_property
    def copied_bytes(self) -> int | None:
        return sum(self.size_bytes) if self.retrieves is not None else None

    @cached_property
    def operations_done(self) -> int:
        return sum(self.operations)

    @cached_property
    def lookup_mean_ns(self) -> float | None:
        return None if self.lookup_ns is None else sum(self.lookup_ns) / len(self.lookup_ns)

    def first(self, length: int) -> "Run":
        """Return the run with this many samples; the parts of the time stay those of all."""
        return replace(
            self,
            start_ns=self.start_ns[:length],
            total_ns=self.total_ns[:length],
            operations=self.operations[:length],
            size_bytes=self.size_bytes[:length],
            lookup_ns=None if self.lookup_ns is None else self.lookup_ns[:length],
        )

    @property
    def blocked_ns(self) -> float | None:
        """Return how long a copy or operation was blocked on average; None where not recorded."""
        phase = Phase.OPERATION if self.retrieves is None else Phase.COPY
        return self.parts_ns.get(Part(phase, Kind.BLOCKED))

    @property
    def copy_work_ns(self) -> float:
        """Return how long a copy was on a CPU or waited for one, on average."""
        kinds = (*ON_CPU, Kind.WAITING)
        return sum(self.parts_ns.get(Part(Phase.COPY, kind), 0.0) for kind in kinds)

    @cached_property
    def first_read_bytes_per_s(self) -> float | None:
        """Return the bytes of first reads per second that they take longer than further reads."""
        times_ns: dict[int, tuple[list[int], list[int]]] = {}
        for sample, (size, time_ns) in enumerate(zip(self.size_bytes, self.total_ns, strict=True)):
            times_ns.setdefault(size, ([], []))[sample in self.first_reads].append(time_ns)
        read_bytes, longer_ns = 0, 0.0
        for size, (again_ns, first_ns) in times_ns.items():
            if again_ns and first_ns:
                read_bytes += size * len(first_ns)
                longer_ns += len(first_ns) * (median(first_ns) - median(again_ns))
        return read_bytes / longer_ns * NS_PER_S if longer_ns > 0 else None


class WorkerLine(Struct, frozen=True, kw_only=True):
    """One run of one task. The unit of replication is its machine, which may have run others."""

    side: str  # the name that it is grouped by
    pool: str
    task_id: str
    run_id: int | None
    worker_id: str  # "group/id", or "unknown" without a record of the task
    state: str  # the run's state, or "unknown"
    completed: bool
    incomplete_reason: str | None
    instance_type: str | None
    zone: str | None
    source: str  # a path or an address, for people
    reason: str | None = None  # why the run ended, as the queue names it
    machine: str = UNKNOWN  # as all results together identify it
    is_counted: bool = True  # otherwise it confirms a cause, and only its trials count
    at_once: bool = False  # its machine ran several of these tasks at the same time
    url: str | None = None  # of its job on another CI system
    group_id: str | None = None  # of its task group; without a queue, what the worker wrote
    measurements: int = 0  # that have samples
    measurements_used: int = 0  # of these; validity rules leave out the others


class Worker(WorkerLine, frozen=True, kw_only=True):
    result: Result  # its samples are in `runs` alone
    runs: tuple[Run, ...]  # what it measured of each subject
    queue: str = ""  # PROVISIONER/WORKERTYPE, where it is known
    image: str = ""  # of its task's container, where it is known
    started: str = ""  # by the queue where it is known, else by the worker
    task_ns: int | None = None  # from the start of the run to its end, with the task's set-up
    named_baseline: str | None = None  # by the task's definition
    engine: str | None = None  # DOCKER or NATIVE; None: not known
    defined: PoolMachine | None = None  # by its pool's definition, where that was given

    def __post_init__(self) -> None:
        """Let the runs know their worker, also after a change of it."""
        force_setattr(self, "runs", tuple(replace(run, worker=self) for run in self.runs))

    @property
    def queue_or_pool(self) -> str:
        """Return the worker pool as the queue names it; without a queue, the benchmark's name."""
        return self.queue or self.pool

    def run_of(self, subject: Subject) -> Run:
        """Return what it measured of a subject; a run without samples where it did not."""
        measured = (run for run in self.runs if run.subject == subject and run.is_measured)
        return next(measured, Run(subject, worker=self))

    @property
    def task_name(self) -> Statement:
        run = "" if self.run_id is None else statement(" run {run}", run=str(self.run_id))
        return statement("{side}, task {task}{run}", side=self.side, task=self.task_id, run=run)

    @property
    def confirms(self) -> bool:
        """Return whether this run was made to confirm a cause that other runs support."""
        return self.result.config.pace_bytes_per_s is not None

    @property
    def plan(self) -> tuple[Hashable, str]:
        """Return what its task measures, and the number of replicates that it names, or nothing."""
        config = self.result.config
        measured = (config.profile, tuple(config.workloads))
        return measured, config.environment.get(PLAN_VARIABLE) or ""

    @property
    def cpu_quota(self) -> float | None:
        return self.result.limits.cpu_quota if self.result.limits is not None else None
