# SPDX-License-Identifier: MPL-2.0
"""Measures look by look: waits, compares, and adds tasks to the pools that are undecided.

Nothing is kept between two looks. What is missing follows from the group, and a task's id from the
group and the task's label, so `--resume` resumes where a command was stopped.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.inference.looks import Schedule
from io_benchmark.analysis.model import Subject
from io_benchmark.costs.worker_time import MINUTES_PER_HOUR, Cost
from io_benchmark.errors import UsageError
from io_benchmark.operations.announcement import Announcement
from io_benchmark.operations.compare import compare_pools
from io_benchmark.operations.group_runs import GroupRun
from io_benchmark.operations.group_work import GroupWork
from io_benchmark.operations.submission_options import (
    NOT_DONE,
    SubmissionOptions,
    SubmissionOutcome,
)
from io_benchmark.operations.user import User
from io_benchmark.submit import cost
from io_benchmark.submit.definitions import (
    GroupMember,
    SelectedTask,
    SubmissionSettings,
)
from io_benchmark.submit.next_look import MeasuredGroup, NextLook
from io_benchmark.submit.repeating import repeated_task
from io_benchmark.submit.submission import ready_in_group
from io_benchmark.submit.task_creation import CreatedTasks, TaskQueue


class LookByLook(Struct, frozen=True):
    """A group that is measured until its pools are decided."""

    options: SubmissionOptions
    user: User
    looks: tuple[int, ...]
    budget_hours: float | None

    @classmethod
    def of(
        cls, options: SubmissionOptions, user: User, settings: SubmissionSettings
    ) -> "LookByLook":
        """Return it with the budget of this call, else the one that the group was submitted with."""
        budget = settings.budget_hours if options.budget is None else options.budget
        return cls(options, user, settings.looks, budget)

    def of_group(self, work: GroupWork) -> GroupWork:
        """Return work to which more may be added."""
        return replace(work, baseline=self.options.baseline, goes_on=True)

    def announced_cost(self, chosen: Sequence[SelectedTask], minutes: Mapping[str, float]) -> str:
        """Return what all looks take at most; refuse what cannot decide anything."""
        pools = {task.pool for task in chosen}
        if len(pools) < 2:
            raise UsageError(
                f"--until-decided compares pools, and {', '.join(pools)} is the only one that is "
                "selected; select another one, or omit it"
            )
        first = cost.estimate(chosen, minutes, self.options.prices)
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
        options, user = self.options, self.user
        while work.create_and_wait(options, user, created):
            group = self._group(work.group_id)
            chosen: Sequence[SelectedTask] = ()
            # Those of a command that was stopped may still run.
            if group.are_resolved:
                chosen = self._next_tasks(work, group)
                if not chosen:
                    break
                if not is_agreed:
                    announcement = Announcement(
                        chosen,
                        _scheduler(chosen),
                        group.minutes_by_job(),
                        prices=options.prices,
                    )
                    if not announcement.is_agreed(user, yes=options.yes):
                        return NOT_DONE
                    is_agreed = True
            now = datetime.now(UTC)
            ready = [ready_in_group(task, work.group_id, now) for task in chosen]
            running = [
                GroupMember(task.task_id, task.label)
                for task in group.tasks
                if not task.status.is_resolved
            ]
            work = replace(work, missing=ready, members=[*running, *ready], journal=None)
            created = CreatedTasks(running, len(running))
        return work.to_compare(user)

    @property
    def schedule(self) -> Schedule:
        return Schedule(self.looks, is_declared=True)

    def _group(self, group_id: str) -> MeasuredGroup:
        members = TaskQueue.connect(self.user.environment, lambda queue: queue.group(group_id))
        return MeasuredGroup([task for task in members if task.is_benchmark])

    def _next_tasks(self, work: GroupWork, group: MeasuredGroup) -> list[SelectedTask]:
        """Compare, and return the tasks of the next look; none where this was the last one."""
        runs = GroupRun.read_all(work.group_id, self.user)
        pools = {run.worker.pool for run in runs}
        baseline = self.options.baseline
        if not pools or baseline not in (None, *pools):
            return []  # the comparison says so
        report = compare_pools([run.worker for run in runs], baseline)
        if not any(part.comparisons for part in report.subjects):
            return []  # this as well
        look = NextLook.after(report, self.schedule, _jobs(runs), group.count_by_job())
        chosen = TaskQueue.connect(
            self.user.environment, lambda queue: _more_tasks(queue, group, runs, look)
        )
        return chosen if self._goes_on(work, look, group, chosen) else []

    def _goes_on(
        self,
        work: GroupWork,
        look: NextLook,
        group: MeasuredGroup,
        chosen: Sequence[SelectedTask],
    ) -> bool:
        """Say what is undecided, and what the next look costs or why there is none."""
        spent = group.spent_minutes
        taken = f"{Cost.worker_time(spent)} spent"
        if not look.undecided:
            self.user.tell(f"Decided; {taken}")
            return False
        undecided = f"Undecided: {', '.join(look.undecided)}"
        if not chosen and look.exhausted:
            pools = ", ".join(look.exhausted)
            reason = f"half of the tasks or more brought no further worker of {pools}"
            self.user.tell(f"{undecided}; {taken}; {reason}; look at the tasks")
            return False
        if not chosen:
            self.user.tell(
                f"{undecided}; {taken}; {self.looks[-1]} workers per pool are the last look"
            )
            return False
        estimate = cost.estimate(chosen, group.minutes_by_job(), self.options.prices)
        self.user.tell(f"{undecided}; {taken}; the next look has {estimate.shown}")
        budget = self.budget_hours
        if budget is not None and spent + estimate.minutes > budget * MINUTES_PER_HOUR:
            self.user.tell(
                f"Stopped by --budget {budget:g}; to go on with a higher one: "
                f"{work.how_to_resume} --budget HOURS"
            )
            return False
        for share in estimate.shares:
            self.user.tell(f"  {share.shown}")
        return True


def _jobs(runs: Sequence[GroupRun]) -> dict[tuple[str, Subject], str]:
    """Return the job that measures each subject on each side."""
    jobs: dict[tuple[str, Subject], str] = {}
    for run in sorted(runs, key=lambda run: run.label):
        for entry in run.worker.entries:
            jobs.setdefault((run.worker.side, entry.subject), run.job)
    return jobs


async def _more_tasks(
    queue: TaskQueue, group: MeasuredGroup, runs: Sequence[GroupRun], look: NextLook
) -> list[SelectedTask]:
    """Return the tasks to add, the pools in turn."""
    labels = group.labels
    models: dict[str, tuple[GroupRun, dict[str, object]]] = {}
    for job in look.tasks_to_add:
        model = next(run for run in runs if run.job == job and not run.is_confirming)
        models[job] = (model, await queue.definition(model.worker.task_id))
    chosen = []
    for number in range(max(look.tasks_to_add.values(), default=0)):
        for job, (model, definition) in sorted(models.items()):
            if number < look.tasks_to_add[job]:
                known = [model.label, *labels]
                task = repeated_task(definition, model.label, model.worker.pool, known)
                labels.append(task.label)
                chosen.append(task)
    return chosen


def _scheduler(chosen: Sequence[SelectedTask]) -> str:
    """Return the group's scheduler, which all its tasks have."""
    return next((str(task.definition["schedulerId"]) for task in chosen), "")
