# SPDX-License-Identifier: MPL-2.0
"""Adds tasks to a group: more workers of undecided pools, look by look, or runs that confirm causes.

Nothing is kept between two calls. What is missing follows from the group, and a task's id from the
group and the task's label, so the same command completes what was stopped.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.inference.looks import Schedule
from io_benchmark.analysis.intake import worker_of
from io_benchmark.analysis.model import Worker
from io_benchmark.analysis.report_model import Report
from io_benchmark.analysis.trials.confirm import Pace
from io_benchmark.context import Context
from io_benchmark.costs.worker_time import MINUTES_PER_HOUR, Cost
from io_benchmark.errors import ResultError, UsageError
from io_benchmark.operations.announcement import Announcement
from io_benchmark.operations.compare import compare_pools
from io_benchmark.operations.group_work import (
    DONE,
    NOT_DONE,
    GroupWork,
    SubmissionOptions,
    SubmissionOutcome,
    check_baseline,
    group_of,
)
from io_benchmark.report.content.confirming import pace_text, reasons_text
from io_benchmark.sources.gather import gather
from io_benchmark.sources.run_results import RunResult
from io_benchmark.submit.definitions import GroupMember, ReadyTask, SelectedTask, job_of
from io_benchmark.submit.measured_group import MeasuredGroup, NextLook
from io_benchmark.submit.submission import ready_in_group, repeated_task
from io_benchmark.submit.task_creation import CreatedTasks, TaskQueue
from io_benchmark_taskgraph.repeating import CONFIRMING, pace


class _GroupRun(Struct, frozen=True):
    """A result of the group; without a task record its label is that of its pool."""

    worker: Worker
    label: str

    @classmethod
    def of(cls, measured: RunResult) -> "_GroupRun":
        label = measured.task.label if measured.task is not None else measured.pool
        return cls(worker_of(measured, measured.pool), label)

    @property
    def job(self) -> str:
        return job_of(self.label, self.worker.pool) or self.label

    @property
    def has_ceilings(self) -> bool:
        trials = (entry.trials for entry in self.worker.entries)
        return any(trial is not None and bool(trial.ceilings) for trial in trials)


class _GroupResults(Struct, frozen=True):
    """A group's tasks, and the results that could be read."""

    group_id: str
    tasks: MeasuredGroup
    runs: Sequence[_GroupRun]

    @classmethod
    def read(cls, group_id: str, tasks: MeasuredGroup, context: Context) -> "_GroupResults":
        """Read the results; name those that are missing."""
        with context.progress() as progress:
            address = f"group:{group_id}"
            gathered = gather([address], context.environment, progress, _GroupRun.of)
        for line in gathered.unreadable:
            context.tell(f"missing: {line}")
        return cls(group_id, tasks, gathered.results)

    @property
    def pools(self) -> set[str]:
        return {run.worker.pool for run in self.runs}

    def compare(self, baseline: str | None) -> Report:
        return compare_pools([run.worker for run in self.runs], baseline)

    def announcement(
        self, tasks: Sequence[SelectedTask], options: SubmissionOptions
    ) -> Announcement:
        """Return what creating these means: they have the scheduler and the times of the group."""
        scheduler = next((str(task.definition["schedulerId"]) for task in tasks), "")
        return Announcement(tasks, scheduler, self.tasks.minutes_by_job(), options.prices)


def confirm(text: str, options: SubmissionOptions, context: Context) -> SubmissionOutcome:
    """Create the confirming tasks that a group lacks, wait for all of them, and compare."""
    group_id = group_of("--confirm", text, context.environment)
    results = _GroupResults.read(group_id, _read_tasks(group_id, context), context)
    if not results.runs:
        raise ResultError(
            f"group:{group_id}: has no results to confirm; wait for its tasks, or submit new ones"
        )
    check_baseline(options, results.pools)
    confirming = results.compare(options.baseline).confirming
    underway, chosen = TaskQueue.connect(
        context.environment,
        lambda queue: _confirming_tasks(queue, results, confirming.paces, context),
    )
    if not confirming.paces and not underway:
        context.tell(f"Nothing to confirm in group:{group_id}: {reasons_text(confirming)}")
        return SubmissionOutcome(group_id)
    announcement = results.announcement(chosen, options)
    if options.dry_run:
        announcement.print_instead(_ready(chosen, group_id), context)
        return DONE
    if chosen and not announcement.is_agreed(context, yes=options.yes):
        return NOT_DONE
    ready = _ready(chosen, group_id)
    work = GroupWork(group_id, ready, [*underway, *ready], "--confirm", options.baseline)
    context.tell(f"Confirming in group:{group_id}; if this stops, go on with: {work.how_to_resume}")
    return work.create_and_wait_for_all(options, context, CreatedTasks(underway, len(underway)))


async def _confirming_tasks(
    queue: TaskQueue, results: _GroupResults, paces: Sequence[Pace], context: Context
) -> tuple[list[GroupMember], list[SelectedTask]]:
    """Return the confirming tasks that are not resolved, and those that are missing."""
    underway, running = [], []
    for task in results.tasks.tasks:
        if CONFIRMING in task.label and not task.status.is_resolved:
            bytes_per_s = pace(await queue.definition(task.task_id))
            if bytes_per_s:
                underway.append(GroupMember(task.task_id, task.label))
                running.append((task.pool, bytes_per_s))
    labels, chosen = results.tasks.labels, []
    for missing in paces:
        if any(missing.is_like(pool, bytes_per_s) for pool, bytes_per_s in running):
            continue
        context.tell(f"To confirm: {pace_text(missing)}")
        model = next(
            run for run in results.runs if run.worker.pool == missing.pool and run.has_ceilings
        )
        definition = await queue.definition(model.worker.task_id)
        chosen.append(
            repeated_task(definition, model.label, missing.pool, labels, missing.bytes_per_s)
        )
        labels.append(chosen[-1].label)
    return underway, chosen


class LookByLook(Struct, frozen=True):
    """A group that is measured until its pools are decided."""

    options: SubmissionOptions
    context: Context
    looks: tuple[int, ...]
    budget_hours: float | None

    def of_group(self, work: GroupWork) -> GroupWork:
        """Return work to which more may be added."""
        return replace(work, baseline=self.options.baseline, goes_on=True)

    def announced_cost(self, announcement: Announcement) -> str:
        """Return what all looks take at most; refuse what cannot decide anything."""
        pools = {task.pool for task in announcement.chosen}
        if len(pools) < 2:
            raise UsageError(
                f"--until-decided compares pools, and {', '.join(pools)} is the only one that is "
                "selected; select another one, or omit it"
            )
        first = announcement.cost
        most = first.repeated(self.looks[-1] // self.looks[0])
        budget = self.budget_hours
        if budget is None:
            limit = f"{most.amount}, {self.looks[-1]} tasks per pool"
        elif first.minutes > budget * MINUTES_PER_HOUR:
            raise UsageError(
                f"--budget {budget:g}: {self.looks[0]} tasks per pool can take "
                f"{first.time}; raise it, select fewer pools, or give --like"
            )
        else:
            most_minutes = min(most.minutes, budget * MINUTES_PER_HOUR)
            limit = f"{Cost.worker_time(most_minutes, is_limit=True)} (--budget)"
        return f"Then more tasks of pools that are undecided; all looks together: at most {limit}"

    def run(self, work: GroupWork, created: CreatedTasks, *, is_agreed: bool) -> SubmissionOutcome:
        """Create the missing tasks, and more until all pools are decided; then compare."""
        options, context = self.options, self.context
        while work.create_and_wait(options, context, created):
            tasks = _read_tasks(work.group_id, context)
            chosen: Sequence[SelectedTask] = ()
            # Those of a command that was stopped may still run.
            if tasks.are_resolved:
                results = _GroupResults.read(work.group_id, tasks, context)
                chosen = self._next_tasks(work, results)
                if not chosen:
                    break
                announcement = results.announcement(chosen, options)
                if not is_agreed and not announcement.is_agreed(context, yes=options.yes):
                    return NOT_DONE
                is_agreed = True
            ready = _ready(chosen, work.group_id)
            running = [
                GroupMember(task.task_id, task.label)
                for task in tasks.tasks
                if not task.status.is_resolved
            ]
            work = replace(work, missing=ready, members=[*running, *ready])
            created = CreatedTasks(running, len(running))
        return work.to_compare(context)

    def _next_tasks(self, work: GroupWork, results: _GroupResults) -> list[SelectedTask]:
        """Compare, and return the tasks of the next look; none where this was the last one."""
        baseline = self.options.baseline
        if not results.pools or baseline not in (None, *results.pools):
            return []  # the comparison says so
        report = results.compare(baseline)
        if not any(subject.comparisons for subject in report.subjects):
            return []  # this as well
        jobs = {
            (run.worker.side, entry.subject): run.job
            for run in sorted(results.runs, key=lambda run: run.label, reverse=True)
            for entry in run.worker.entries
        }
        schedule = Schedule(self.looks, is_declared=True)
        look = NextLook.after(report, schedule, jobs, results.tasks.count_by_job())
        chosen = TaskQueue.connect(
            self.context.environment, lambda queue: _more_tasks(queue, results, look.tasks_to_add)
        )
        return chosen if self._goes_on(work, look, results, chosen) else []

    def _goes_on(
        self,
        work: GroupWork,
        look: NextLook,
        results: _GroupResults,
        chosen: Sequence[SelectedTask],
    ) -> bool:
        """Say what is undecided, and what the next look costs or why there is none."""
        tell = self.context.tell
        spent = results.tasks.spent_minutes
        taken = f"{Cost.worker_time(spent)} spent"
        if not look.undecided:
            tell(f"Decided; {taken}")
            return False
        standing = f"Undecided: {', '.join(look.undecided)}; {taken}"
        if not chosen:
            reason = f"{self.looks[-1]} workers per pool are the last look"
            if look.exhausted:
                pools = ", ".join(look.exhausted)
                reason = (
                    f"half of the tasks or more brought no further worker of {pools}; "
                    "look at the tasks"
                )
            tell(f"{standing}; {reason}")
            return False
        cost = results.announcement(chosen, self.options).cost
        tell(f"{standing}; the next look has {cost.summary}")
        budget = self.budget_hours
        if budget is not None and spent + cost.minutes > budget * MINUTES_PER_HOUR:
            tell(
                f"Stopped by --budget {budget:g}; to go on with a higher one: "
                f"{work.how_to_resume} --budget HOURS"
            )
            return False
        for share in cost.shares:
            tell(f"  {share.summary}")
        return True


def _read_tasks(group_id: str, context: Context) -> MeasuredGroup:
    members = TaskQueue.connect(context.environment, lambda queue: queue.members(group_id))
    return MeasuredGroup([task for task in members if task.is_benchmark])


def _ready(tasks: Sequence[SelectedTask], group_id: str) -> list[ReadyTask]:
    now = datetime.now(UTC)
    return [ready_in_group(task, group_id, now) for task in tasks]


async def _more_tasks(
    queue: TaskQueue, results: _GroupResults, tasks_to_add: Mapping[str, int]
) -> list[SelectedTask]:
    """Return the tasks to add, the pools in turn."""
    models: dict[str, tuple[_GroupRun, dict[str, Any]]] = {}
    for job in sorted(tasks_to_add):
        model = next(run for run in results.runs if run.job == job and CONFIRMING not in run.label)
        models[job] = (model, await queue.definition(model.worker.task_id))
    labels, chosen = results.tasks.labels, []
    for number in range(max(tasks_to_add.values(), default=0)):
        for job, (model, definition) in models.items():
            if number < tasks_to_add[job]:
                known = [model.label, *labels]
                task = repeated_task(definition, model.label, model.worker.pool, known)
                labels.append(task.label)
                chosen.append(task)
    return chosen
