# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Choose the runs of a task that count.

Every completed run is a replicate. Where none completed, the newest resolved run that has the
artifact is used instead, and its state marks it: artifacts of a failed or preempted run stay
readable. A remark names every other run.
"""

from dataclasses import dataclass

from io_benchmark.resolutions import in_words
from io_benchmark.sources.taskcluster.api_answers import QueueRun
from io_benchmark.sources.taskcluster.tasks import QueueTask
from io_benchmark.text import clean, clean_name


@dataclass(frozen=True)
class WantedResult:
    """One result of a task: that of the first of these runs that has one."""

    task: QueueTask
    runs: tuple[QueueRun, ...]
    is_substitute: bool = False  # for a completed run, because none completed


@dataclass(frozen=True)
class _RunChoice:
    """The results to read of a task, and messages about its other runs."""

    wanted: tuple[WantedResult, ...]
    problems: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def run_title(task: QueueTask, run: QueueRun | None = None) -> str:
    """Return `task ID run 0 (io-benchmark-amd-16)`."""
    shown_run = "" if run is None else f" run {run.run_id}"
    return f"task {task.task_id}{shown_run} ({task.label})"


def how_it_ended(run: QueueRun) -> str:
    """Return `was preempted (worker-shutdown)`."""
    return clean(in_words(run.state, run.reason_resolved), 100)


def how_the_task_ended(task: QueueTask) -> str:
    """Return how the newest run ended, else the task's state."""
    runs = task.status.runs
    return how_it_ended(runs[-1]) if runs else f"is {clean_name(task.status.state)}"


def advice_on_run(task: QueueTask, run_id: int) -> str:
    """Advise what to do about a resolved run that left no result."""
    runs = sorted(task.status.runs, key=lambda one: one.run_id)
    later = [one for one in runs if one.run_id > run_id and not one.is_resolved]
    if later:
        state = clean_name(later[-1].state)
        return f"run {later[-1].run_id} is {state}; read it again when that has ended"
    run = next((one for one in runs if one.run_id == run_id), None)
    if run is not None and run.is_resolved:
        if run.started is None:
            return "it never started, so that there is no log; run the benchmark again"
        if run.reason_resolved == "claim-expired":
            return "its worker died and left no log; run the benchmark again"
    return "look at the task's log, or run it again"


def skipped_run(task: QueueTask, run: QueueRun) -> str:
    """Say that a resolved run is not read, because there is a better one."""
    return f"{run_title(task, run)} {how_it_ended(run)} and is not counted"


def choose_runs(task: QueueTask, run_id: int | None) -> _RunChoice:
    """Choose the runs to read, or explain why there are none."""
    if run_id is not None:
        return _named(task, run_id)
    runs = sorted(task.status.runs, key=lambda run: run.run_id)
    completed = [run for run in runs if run.state == "completed"]
    resolved = [run for run in runs if run.is_resolved]
    unfinished = [run for run in runs if not run.is_resolved]
    remarks = tuple(
        f"{run_title(task, run)} is still {clean_name(run.state)} and not counted; read it again later"
        for run in unfinished
        if resolved
    )
    if completed:
        wanted = tuple(WantedResult(task, (run,)) for run in completed)
        others = tuple(skipped_run(task, run) for run in resolved if run.state != "completed")
        return _RunChoice(wanted, remarks=others + remarks)
    if resolved:
        return _RunChoice(
            (WantedResult(task, tuple(reversed(resolved)), is_substitute=True),), remarks=remarks
        )
    if unfinished:
        return _RunChoice((), (_unfinished(task, unfinished[-1]),))
    return _RunChoice((), (_without_runs(task),))


def _named(task: QueueTask, run_id: int) -> _RunChoice:
    run = next((run for run in task.status.runs if run.run_id == run_id), None)
    if run is None:
        numbers = ", ".join(str(one.run_id) for one in task.status.runs) or "none"
        problem = f"{run_title(task)}: has no run {run_id}; its runs are {numbers}"
        return _RunChoice((), (problem,))
    if not run.is_resolved:
        return _RunChoice((), (_unfinished(task, run),))
    return _RunChoice((WantedResult(task, (run,)),))


def _unfinished(task: QueueTask, run: QueueRun) -> str:
    return (
        f"{run_title(task, run)}: is still {clean_name(run.state)}; read it again when it has ended"
    )


def _without_runs(task: QueueTask) -> str:
    state = clean_name(task.status.state)
    why = "waits for other tasks" if state == "unscheduled" else "was never started"
    return f"{run_title(task)}: has no runs, it is {state} and {why}; look at its group"
