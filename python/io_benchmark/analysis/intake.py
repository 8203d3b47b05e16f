# SPDX-License-Identifier: MPL-2.0
"""From a result file to a worker. Its columns are the arrays that the reader made."""

from array import array
from collections.abc import Sequence
from operator import add

import msgspec

from io_benchmark.analysis import time_parts
from io_benchmark.analysis.model import UNKNOWN, Entry, Integers, Subject, Worker
from io_benchmark.analysis.observed.storage_waits import with_other_waits
from io_benchmark.results import BatchEntry, CacheRetrieveEntry
from io_benchmark.results.format import RecordedTimeline
from io_benchmark.results.parts import BatchColumns, OutcomeState
from io_benchmark.results.workloads.cache_retrieve import RetrieveColumns
from io_benchmark.sources.run_results import RunResult

_STOLEN = "cpu_steal_ms"
_WORKING = ("cpu_user_ms", "cpu_nice_ms", "cpu_system_ms", "cpu_irq_ms", "cpu_softirq_ms")
_NO_RETRIEVES = RetrieveColumns(file_index=[], start_ns=[], lookup_ns=[], copy_ns=[])
_NO_BATCHES = BatchColumns(start_ns=[], duration_ns=[], operations=[])


def worker_of(measured: RunResult, side: str) -> Worker:
    result, task = measured.result, measured.task
    stolen = _stolen_per_cpu(result.timeline)
    entries = [
        _retrieves(entry, stolen)
        if isinstance(entry, CacheRetrieveEntry)
        else _batches(entry, stolen)
        for entry in result.workloads
    ]
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
        result=msgspec.structs.replace(result, workloads=[entry.facts for entry in entries]),
        entries=tuple(with_other_waits(entry, result.timeline) for entry in entries),
        reason=task.reason_resolved if task else None,
        machine=worker_id,
        url=result.task.ci.link if result.task.ci is not None else None,
        queue=task.task_queue if task else "",
        started=(task.started if task else "") or result.started,
        task_ns=task.task_ns if task else None,
    )


def _stolen_per_cpu(timeline: RecordedTimeline | None) -> float | None:
    """Return how long the hypervisor took the CPUs away, per time that they worked."""
    columns = timeline.columns if timeline is not None else {}
    growth = {}
    for name in (_STOLEN, *_WORKING):
        values = [value for value in columns.get(name, ()) if value is not None] or [0]
        growth[name] = values[-1] - values[0]
    worked = sum(growth[name] for name in _WORKING)
    return growth[_STOLEN] / worked if worked > 0 else None


def _retrieves(entry: CacheRetrieveEntry, stolen_per_cpu: float | None) -> Entry:
    samples = entry.samples
    lookup_ns = _column(samples.lookup_ns)
    first_reads: dict[int, int] = {}
    for sample, file in enumerate(samples.file_index):
        first_reads.setdefault(file, sample)
    return Entry(
        subject=Subject("cache-retrieve", entry.place, entry.destination, entry.fidelity),
        facts=msgspec.structs.replace(entry, samples=_NO_RETRIEVES),
        start_ns=_column(samples.start_ns),
        total_ns=array("q", list(map(add, lookup_ns, samples.copy_ns))),
        operations=array("q", [1]) * len(lookup_ns),
        size_bytes=array("q", [entry.file_sizes_bytes[file] for file in samples.file_index]),
        first_reads=frozenset(first_reads.values()),
        planned=entry.retrieves_planned,
        parts_ns=time_parts.of_retrieves(samples, stolen_per_cpu),
        lookup_ns=lookup_ns,
        turn_ends=entry.turn_ends or (),
    )


def _batches(entry: BatchEntry, stolen_per_cpu: float | None) -> Entry:
    samples = entry.samples
    return Entry(
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
        parts_ns=time_parts.of_batches(samples, entry.process_times, stolen_per_cpu),
        turn_ends=entry.turn_ends or (),
    )


def _column(values: Sequence[int]) -> Integers:
    return values if isinstance(values, array) else array("q", values)
