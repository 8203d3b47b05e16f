# SPDX-License-Identifier: MPL-2.0
"""From a result file to a worker: its columns, which the reader made, and the parts of its time."""

import math
from array import array
from collections.abc import Mapping, Sequence
from functools import lru_cache
from operator import add
from statistics import fmean

import msgspec

from io_benchmark.analysis.model.run import UNKNOWN, Integers, Run, Worker
from io_benchmark.analysis.model.subject import Subject
from io_benchmark.analysis.model.time_parts import ON_CPU, Kind, Part, Phase
from io_benchmark.analysis.reading.windows import BUSY_COLUMNS, TimelineRows
from io_benchmark.results import BatchEntry, CacheRetrieveEntry, Result
from io_benchmark.results.format import RecordedTimeline
from io_benchmark.results.machine import WINDOWS
from io_benchmark.results.parts import BatchColumns, OutcomeState, ProcessTimes
from io_benchmark.results.workloads.cache_retrieve import RetrieveColumns
from io_benchmark.sources.run_results import DOCKER, NATIVE, RunResult, TaskRecord

# Between two rows of the timeline, the samples took at least this share of the time.
_COVERED_SHARE = 0.9
# Less than this of an operation's time is what pressure and clocks do not agree on.
_LEAST_SHARE = 0.05
_TICK_NS = 15_625_000  # of Windows
_MOST_CHANCE_SHARE = 0.08  # chosen: less than what two sides must differ by to be explained
_NO_RETRIEVES = RetrieveColumns(file_index=[], start_ns=[], lookup_ns=[], copy_ns=[])
_NO_BATCHES = BatchColumns(start_ns=[], duration_ns=[], operations=[])


def worker_of(measured: RunResult, side: str) -> Worker:
    result, task = measured.result, measured.task
    stolen = _stolen_per_cpu(result.timeline)
    runs = [
        _retrieves(entry, stolen)
        if isinstance(entry, CacheRetrieveEntry)
        else _batches(entry, stolen)
        for entry in result.workloads
    ]
    if result.host is not None and result.host.system == WINDOWS:
        runs = list(map(_of_enough_ticks, runs))
    worker_id = f"{task.worker_group}/{task.worker_id}" if task and task.worker_id else UNKNOWN
    task_id, run_id = (task.task_id, task.run_id) if task else result.task.name
    return Worker(
        side=side,
        pool=measured.pool,
        task_id=task_id or UNKNOWN,
        run_id=run_id,
        worker_id=worker_id,
        state=task.state if task else UNKNOWN,
        completed=result.outcome.state is OutcomeState.COMPLETED,
        incomplete_reason=result.outcome.explanation,
        instance_type=result.task.instance_type,
        zone=result.task.location.get("zone"),
        source=measured.source,
        result=msgspec.structs.replace(result, workloads=[run.facts for run in runs]),
        runs=tuple(_with_other_waits(run, result.timeline) for run in runs),
        reason=task.reason_resolved if task else None,
        machine=worker_id,
        url=result.task.ci.link if result.task.ci is not None else None,
        group_id=(task.task_group_id if task else None) or result.task.task_group_id,
        queue=task.task_queue if task else "",
        image=(task.image if task else None) or "",
        started=(task.started if task else "") or result.started,
        task_ns=task.task_ns if task else None,
        named_baseline=task.baseline if task else None,
        engine=_engine(result, task),
    )


def _engine(result: Result, task: TaskRecord | None) -> str | None:
    """Return what ran the task, by its definition; without one, by what the worker saw."""
    if task is not None and (task.engine or task.image):
        return task.engine or DOCKER
    if result.host is None:
        return None
    return NATIVE if result.host.container is None else DOCKER


def _stolen_per_cpu(timeline: RecordedTimeline | None) -> float:
    """Return how long the hypervisor took the CPUs away, per time that they worked."""
    columns = timeline.columns if timeline is not None else {}

    def growth(name: str) -> int:
        values = [value for value in columns.get(name, ()) if value is not None] or [0]
        return values[-1] - values[0]

    stolen = growth("cpu_steal_ms")
    worked = sum(map(growth, BUSY_COLUMNS)) - stolen
    return stolen / worked if worked > 0 else 0.0


def _retrieves(entry: CacheRetrieveEntry, stolen_per_cpu: float) -> Run:
    samples = entry.samples
    lookup_ns = _column(samples.lookup_ns)
    size_bytes, first_reads = _of_files(tuple(samples.file_index), tuple(entry.file_sizes_bytes))
    return Run(
        subject=Subject("cache-retrieve", entry.place, entry.destination, entry.fidelity),
        facts=msgspec.structs.replace(entry, samples=_NO_RETRIEVES),
        start_ns=_column(samples.start_ns),
        total_ns=array("q", list(map(add, lookup_ns, samples.copy_ns))),
        operations=array("q", [1]) * len(lookup_ns),
        size_bytes=size_bytes,
        first_reads=first_reads,
        planned=entry.retrieves_planned,
        parts_ns=_parts_of_retrieves(samples, stolen_per_cpu),
        lookup_ns=lookup_ns,
        turn_ends=entry.turn_ends or (),
    )


@lru_cache(maxsize=8)
def _of_files(
    files: tuple[int, ...], sizes_bytes: tuple[int, ...]
) -> tuple[Integers, frozenset[int]]:
    """Return the size of each sample's file, and the samples that first read a file.

    Many runs have the same.
    """
    first_reads = {file: sample for sample, file in reversed([*enumerate(files)])}
    return array("q", [sizes_bytes[file] for file in files]), frozenset(first_reads.values())


def _batches(entry: BatchEntry, stolen_per_cpu: float) -> Run:
    samples = entry.samples
    return Run(
        subject=Subject(
            str(entry.__struct_config__.tag),
            entry.place,
            variant=entry.variant,
            threads=entry.threads or 0,
        ),
        facts=msgspec.structs.replace(entry, samples=_NO_BATCHES),
        start_ns=_column(samples.start_ns),
        total_ns=_column(samples.duration_ns),
        operations=_column(samples.operations),
        size_bytes=array("q", [0]) * len(samples.duration_ns),
        planned=entry.parameters.samples_planned,
        parts_ns=_parts_of_batches(samples, entry.process_times, stolen_per_cpu),
        turn_ends=entry.turn_ends or (),
    )


def _column(values: Sequence[int]) -> Integers:
    return values if isinstance(values, array) else array("q", values)


def _parts_of_batches(
    columns: BatchColumns, spent: ProcessTimes | None, stolen_per_cpu: float
) -> dict[Part, float]:
    """Return the mean nanoseconds of each part of an operation.

    Where several processes work at once, the mean is less than the time that one process takes for
    an operation: N of them do N in that time. So each part is the mean times a share: the share of
    all processes' time that they spent in this part.
    """
    operations = sum(columns.operations)
    if not operations:
        return {}
    mean_ns = sum(columns.duration_ns) / operations
    shares = {Kind.UNEXPLAINED: 1.0}
    if spent is not None:
        times = (spent.user_ns, spent.kernel_ns, spent.waiting_ns)
        shares = _divide(1.0, *(None if time is None else time / spent.wall_ns for time in times))
    parts = {Part(Phase.OPERATION, kind): share * mean_ns for kind, share in shares.items()}
    return _with_stolen(parts, stolen_per_cpu)


def _parts_of_retrieves(columns: RetrieveColumns, stolen_per_cpu: float) -> dict[Part, float]:
    if not len(columns.copy_ns):
        return {}
    lookups = columns.lookup_user_ns, columns.lookup_kernel_ns, columns.lookup_waiting_ns
    copies = columns.copy_user_ns, columns.copy_kernel_ns, columns.copy_waiting_ns
    phases = {
        Phase.LOOKUP: _divide(fmean(columns.lookup_ns), *map(_mean_if_known, lookups)),
        Phase.COPY: _divide(fmean(columns.copy_ns), *map(_mean_if_known, copies)),
    }
    parts = {
        Part(phase, kind): mean_ns
        for phase, kinds in phases.items()
        for kind, mean_ns in kinds.items()
    }
    return _with_stolen(parts, stolen_per_cpu)


def _of_enough_ticks(run: Run) -> Run:
    """Return a run without the parts of phases that took too few ticks to be divided.

    Windows counts a whole tick as the CPU time of what it finds running. Of N ticks that it counts,
    about the root of N are chance.
    """
    parts, times = dict(run.parts_ns), run.operations_done * max(1, run.subject.threads)
    run_ns = sum(parts.values()) * times
    for phase in {part.phase for part in run.parts_ns}:
        of_phase = {part: ns for part, ns in parts.items() if part.phase is phase}
        worked_ns = times * sum(ns for part, ns in of_phase.items() if part.kind in ON_CPU)
        if math.sqrt(max(worked_ns, _TICK_NS) * _TICK_NS) > _MOST_CHANCE_SHARE * run_ns:
            parts = {part: ns for part, ns in parts.items() if part.phase is not phase}
            parts[Part(phase, Kind.UNEXPLAINED)] = sum(of_phase.values())
    return msgspec.structs.replace(run, parts_ns=parts)


def _with_stolen(parts: Mapping[Part, float], stolen_per_cpu: float) -> dict[Part, float]:
    """Move the time that a hypervisor took away from blocked to waiting for a CPU.

    The kernel cannot tell it from being blocked. `stolen_per_cpu` is what the hypervisor took of
    this machine's CPUs for each second that they worked; each phase lost the same share.
    """
    moved = dict(parts)
    for phase in Phase:
        worked = sum(parts.get(Part(phase, kind), 0.0) for kind in ON_CPU)
        blocked, waiting = Part(phase, Kind.BLOCKED), Part(phase, Kind.WAITING)
        if blocked in parts and waiting in parts:
            stolen = min(parts[blocked], worked * stolen_per_cpu)
            moved[blocked] -= stolen
            moved[waiting] += stolen
    return moved


def _divide(
    wall: float, user: float | None, kernel: float | None, waiting: float | None
) -> dict[Kind, float]:
    """Return the parts of a time; together they are the whole.

    A process and the child that it waits for may be on two CPUs. Or one waits for a CPU while the
    other runs. So CPU time is limited to the whole, and waiting to the rest. Sums are compared, not
    samples, because bash's times are known in steps of 10 ms.
    """
    if user is None or kernel is None:
        return {Kind.UNEXPLAINED: wall}
    fits = min(1.0, wall / (user + kernel)) if user + kernel else 1.0
    parts = {Kind.USER: user * fits, Kind.KERNEL: kernel * fits}
    left = max(0.0, wall - (user + kernel) * fits)
    if waiting is None:
        return {**parts, Kind.UNEXPLAINED: left}
    waited = min(waiting, left)
    return {**parts, Kind.WAITING: waited, Kind.BLOCKED: left - waited}


def _with_other_waits(run: Run, timeline: RecordedTimeline | None) -> Run:
    """Return the run with blocked time that was not for storage or memory as a separate part."""
    blocked = [phase for phase in Phase if Part(phase, Kind.BLOCKED) in run.parts_ns]
    at_most = _storage_share(run, timeline) if blocked and timeline is not None else None
    if at_most is None:
        return run
    parts, left_ns = dict(run.parts_ns), at_most * run.mean_ns
    # Lookups read files that are in memory: copies wait for the disks first.
    for phase in reversed(blocked):
        blocked_ns = parts[Part(phase, Kind.BLOCKED)]
        more_ns, left_ns = blocked_ns - left_ns, max(0.0, left_ns - blocked_ns)
        elsewhere_ns = more_ns if more_ns >= _LEAST_SHARE * run.mean_ns else 0.0
        parts[Part(phase, Kind.BLOCKED)] = blocked_ns - elsewhere_ns
        parts[Part(phase, Kind.ELSEWHERE)] = elsewhere_ns
    return msgspec.structs.replace(run, parts_ns=parts)


def _storage_share(run: Run, timeline: RecordedTimeline) -> float | None:
    """Return the share of the samples' time in which they waited for storage or memory at most.

    None where that was not recorded for most of that time, without other measurements in between.
    """
    rows = TimelineRows.of_samples(timeline, run)
    sampled_ns = rows.sampled_ns(run)
    lasted_ns = [end - begin for begin, end in rows.spans_ns]
    covered = [step for step, ns in enumerate(lasted_ns) if sampled_ns[step] >= _COVERED_SHARE * ns]
    if 2 * sum(lasted_ns[step] for step in covered) < sum(run.total_ns):
        return None
    return rows.waited_share(run, covered)


def _mean_if_known(column: Sequence[int] | None) -> float | None:
    return None if column is None else fmean(column)
