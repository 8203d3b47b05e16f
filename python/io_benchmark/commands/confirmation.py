# SPDX-License-Identifier: MPL-2.0
"""Finds the runs that would confirm a cause, by results that have trials."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from io_benchmark.analysis import compare
from io_benchmark.analysis.intake import worker_of
from io_benchmark.analysis.model import Worker
from io_benchmark.analysis.plan import Plan
from io_benchmark.analysis.trials.confirm import Confirming
from io_benchmark.report.content.confirming import pace_text, reasons_text
from io_benchmark.sources.run_results import RunResult
from io_benchmark.submit.definitions import job_of
from io_benchmark_taskgraph.repeating import CONFIRMING, new_label, with_trials

if TYPE_CHECKING:
    from io_benchmark.graph.generate import GeneratedTask


def find_confirmation(workers: Sequence[Worker], baseline: str | None) -> Confirming:
    """Compare the pools and return the runs that are missing."""
    plan = Plan.of_pools({worker.pool for worker in workers}, baseline)
    ordered = sorted(workers, key=lambda worker: (worker.side, worker.task_id, worker.run_id or 0))
    return compare.compare(plan, ordered, compare.Options()).confirming


def confirming_tasks(
    measured: Sequence[RunResult],
    tasks: Sequence["GeneratedTask"],
    baseline: str | None,
    tell: Callable[[str], None],
) -> list["GeneratedTask"]:
    """Return tasks of faster pools once more, each limited to the ceiling of a slower pool."""
    workers = [worker_of(run, run.pool) for run in measured]
    known = {worker.pool for worker in workers}
    found = find_confirmation(workers, baseline if baseline in known else None)
    if not found.paces:
        tell(f"Nothing to confirm: {reasons_text(found)}")
    made: list[GeneratedTask] = []
    for pace in found.paces:
        tell(f"To confirm: {pace_text(pace)}")
        model = next(task for task in tasks if task.pool == pace.pool)
        job = job_of(model.label, pace.pool) or model.label
        label = new_label(job, [task.label for task in made], CONFIRMING)
        definition = with_trials(model.definition, pace.bytes_per_s)
        made.append(replace(model, label=label, definition=definition))
    return made
