# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Finds the runs that would confirm a cause, by results that have trials."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis import compare
from io_benchmark.analysis.intake import worker_of
from io_benchmark.analysis.model import Worker
from io_benchmark.analysis.plan import Plan
from io_benchmark.analysis.trials.confirm import Pace
from io_benchmark.report.content.confirming import pace_text
from io_benchmark.results.trials import Trials
from io_benchmark.sources.protocol import RunResult
from io_benchmark.submit.confirming import SUFFIX, with_trials
from io_benchmark.submit.repeating import new_label

if TYPE_CHECKING:
    from io_benchmark.graph.generate import GeneratedTask


class _Confirmation(Struct, frozen=True):
    """The missing runs of one comparison; where none is missing, the reason."""

    paces: tuple[Pace, ...]
    reason: str
    has_trials: bool


def find_confirmation(workers: Sequence[Worker], baseline: str | None) -> _Confirmation:
    """Compare the pools and return the runs that are missing."""
    plan = Plan.of_pools({worker.pool for worker in workers}, baseline)
    ordered = sorted(workers, key=lambda worker: (worker.side, worker.task_id, worker.run_id or 0))
    missing = compare.compare(plan, ordered, compare.Options()).confirming
    recorded = [trials for worker in workers for trials in _recorded(worker)]
    return _Confirmation(
        missing, _reason(workers, recorded), any(trials.ceilings for trials in recorded)
    )


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
        tell(f"Nothing to confirm: {found.reason}")
    made: list[GeneratedTask] = []
    for pace in found.paces:
        tell(f"To confirm: {pace_text(pace)}")
        model = next(task for task in tasks if task.pool == pace.pool)
        label = new_label(model.label, pace.pool, [task.label for task in made], SUFFIX)
        definition = with_trials(model.definition, pace.bytes_per_s)
        made.append(replace(model, label=label, definition=definition))
    return made


def _recorded(worker: Worker) -> list[Trials]:
    return [entry.trials for entry in worker.entries if entry.trials is not None]


def _reason(workers: Sequence[Worker], recorded: Sequence[Trials]) -> str:
    """Explain why no run is missing."""
    paced = {
        worker.pool
        for worker in workers
        if any(trials.pace_bytes_per_s is not None for trials in _recorded(worker))
    }
    if paced:
        return f"the results have the confirming run of {', '.join(sorted(paced))}"
    if not any(trials.ceilings for trials in recorded):
        reasons = list(dict.fromkeys(trials.reason for trials in recorded if trials.reason))
        why = f" ({reasons[0]})" if reasons else ""
        return f"no result has trials{why}"
    return (
        "no pool is slower than another by 1.1× or more while the other's disks write 1.2× faster "
        "or more"
    )
