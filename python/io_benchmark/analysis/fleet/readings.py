# SPDX-License-Identifier: MPL-2.0
"""From a result to a reading: all that a fleet keeps of it.

What a single result adds is limited: any task can have written it.
"""

from io_benchmark.analysis.fleet.figures import measured_figures, place_of
from io_benchmark.analysis.fleet.fleet_model import WorkerReading
from io_benchmark.analysis.history.bounds import (
    IDENTIFIER,
    LINE,
    LINES,
    UNDATED,
    bound_fact,
    bound_sentence,
    origin_of,
    reasons_of,
    shorten,
)
from io_benchmark.analysis.history.history_model import LeftOut
from io_benchmark.analysis.model.run import Worker
from io_benchmark.analysis.reading.disks import Stack
from io_benchmark.analysis.reading.intake import worker_of
from io_benchmark.analysis.reading.machines import KIND_FACTS, Facts, facts_of
from io_benchmark.analysis.validity import checks
from io_benchmark.sources.run_results import RunResult

LOCAL_SSDS = "local SSDs"
NO_DISKS = "none"
# What tells machines of a pool apart, and what may change a pool.
_KEPT_FACTS = frozenset(
    (*KIND_FACTS, "system", "image", "script", "schedulers", "I/O limits", "CPU limits")
)


def reading_of(measured: RunResult) -> tuple[WorkerReading | None, list[LeftOut]]:
    """Return what a fleet keeps of a result, and what no rule of a comparison would allow."""
    worker = worker_of(measured, measured.pool)
    origin = origin_of(worker, measured.task)
    if origin is None:
        return None, [LeftOut(shorten(measured.source, LINE), UNDATED)]
    kept, problems = checks.check_runs(worker.runs, frozenset())
    when = origin.time.date().isoformat()
    left_out = [
        LeftOut(when, bound_sentence(reason, LINE))
        for reason in reasons_of(worker, problems)[:LINES]
    ]
    figures = measured_figures(worker, kept)
    if not kept or not figures:
        return None, left_out
    reading = WorkerReading(
        pool=shorten(measured.pool, IDENTIFIER),
        queue=shorten(worker.queue, IDENTIFIER),
        time=origin.time,
        group=origin.group,
        task_id=origin.task_id,
        run_id=origin.run_id,
        source=shorten(measured.source, LINE),
        marks=origin.marks,
        facts=_facts(worker, place_of(worker, kept)),
        values={name: figure.value for name, figure in figures.items()},
        work={name: figure.work for name, figure in figures.items() if figure.work},
    )
    return reading, left_out


def _facts(worker: Worker, place: str | None) -> Facts:
    """Return the facts of a worker by which pools and machines differ."""
    facts = facts_of(worker.result, place or "", None, worker.image)
    kept = [fact for fact in facts if fact[0] in _KEPT_FACTS]
    for storage in worker.result.storage.places:
        stack = Stack.under(storage) if storage.name == place else None
        if stack is not None and stack.local_ssds is not None:
            kept.append((LOCAL_SSDS, str(stack.local_ssds or NO_DISKS)))
    return tuple(map(bound_fact, kept))
