# SPDX-License-Identifier: MPL-2.0
"""What a group's tasks took and showed, and what its next look needs.

The tasks name the looks (analysis/inference/looks.py), so comparing the group later gives the same
verdicts. What is needed follows from the group alone. Pure: no clock, no network.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from statistics import fmean

from msgspec import Struct

from io_benchmark.analysis.inference.looks import Schedule
from io_benchmark.analysis.model import Subject, Verdict, Worker
from io_benchmark.analysis.report_model import Report
from io_benchmark.sources.run_results import parse_time
from io_benchmark.sources.taskcluster.api_answers import QueueRun
from io_benchmark.sources.taskcluster.tasks import QueueTask
from io_benchmark_taskgraph.repeating import CONFIRMING, job_of

# Workers per pool. A difference of 10 % mostly needs 6 to 12, equivalence within 5 % needs 24.
LOOKS = (3, 6, 12, 24)
# With more tasks than this per independent worker, more tasks do not help.
_MOST_TASKS_PER_WORKER = 2


class NextLook(Struct, frozen=True):
    """The pools that are undecided, and what they need."""

    undecided: tuple[str, ...]
    tasks_to_add: Mapping[str, int]  # by job
    exhausted: tuple[str, ...]  # pools where more tasks do not reach more workers


class MeasuredGroup(Struct, frozen=True):
    """The benchmark's tasks of a group, and the workers of those whose results could be read."""

    tasks: Sequence[QueueTask]
    workers: Sequence[Worker] = ()

    @property
    def labels(self) -> list[str]:
        return [task.label for task in self.tasks]

    @property
    def unresolved(self) -> list[QueueTask]:
        return [task for task in self.tasks if not task.status.is_resolved]

    @property
    def running(self) -> dict[str, str]:
        """Return the labels of the tasks that are not resolved, by id."""
        return {task.task_id: task.label for task in self.unresolved}

    @property
    def spent_minutes(self) -> float:
        return sum(map(_minutes, chain.from_iterable(task.status.runs for task in self.tasks)))

    def minutes_by_job(self) -> dict[str, float]:
        """Return how long a task of each job took, as the queue measured it."""
        minutes_of: dict[str, list[float]] = {}
        for task in self.tasks:
            minutes = [_minutes(run) for run in task.status.runs if run.started]
            minutes_of.setdefault(_job_of(task), []).extend(minutes)
        return {job: fmean(minutes) for job, minutes in minutes_of.items() if minutes}

    def measured_tasks(self) -> list[tuple[Worker, QueueTask]]:
        """Return the workers with their tasks, in the order of the labels."""
        by_id = {task.task_id: task for task in self.tasks}
        pairs = [(worker, by_id[worker.task_id]) for worker in self.workers]
        return sorted(pairs, key=lambda pair: pair[1].label)

    def models(self) -> dict[str, tuple[str, str]]:
        """Return a pool and the id of a task of each job, to be measured by one more worker."""
        models: dict[str, tuple[str, str]] = {}
        for worker, task in self.measured_tasks():
            if CONFIRMING not in task.label:
                models.setdefault(_job_of(task), (worker.pool, task.task_id))
        return models

    def next_look(self, report: Report, schedule: Schedule) -> NextLook:
        """Return what a comparison of the workers leaves undecided, and the tasks that it needs."""
        undecided: dict[str, None] = {}
        exhausted: dict[str, None] = {}
        to_add: dict[str, int] = {}
        tasks = Counter(map(_job_of, self.tasks))
        jobs: dict[tuple[str, Subject], str] = {}
        for worker, task in self.measured_tasks():
            for entry in worker.entries:
                jobs.setdefault((worker.side, entry.subject), _job_of(task))
        for part in report.subjects:
            for comparison in part.comparisons:
                if comparison.verdict is not Verdict.INCONCLUSIVE:
                    continue
                undecided[comparison.candidate] = None
                sides = (comparison.candidate, comparison.baseline)
                workers = {side: part.figures[side].workers for side in sides}
                left_behind = [
                    side
                    for side, count in workers.items()
                    if tasks[jobs[side, part.subject]] > _MOST_TASKS_PER_WORKER * count
                ]
                exhausted |= dict.fromkeys(left_behind)
                target = schedule.next_look(*workers.values())
                if target is None or left_behind:
                    continue
                for side, count in workers.items():
                    job = jobs[side, part.subject]
                    to_add[job] = max(to_add.get(job, 0), target - count)
        return NextLook(tuple(undecided), to_add, tuple(exhausted))


def _job_of(task: QueueTask) -> str:
    """Return the label without a replicate's number."""
    return job_of(task.label, task.pool or "") or task.label


def _minutes(run: QueueRun) -> float:
    """Return how long a run took on its worker; 0 where it never started."""
    started, resolved = parse_time(run.started), parse_time(run.resolved)
    if started is None or resolved is None:
        return 0.0
    return (resolved - started).total_seconds() / 60
