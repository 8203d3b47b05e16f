# SPDX-License-Identifier: MPL-2.0
"""What a group took, and what its next look needs: more tasks of the pools that are undecided.

The tasks name the looks (analysis/inference/looks.py), so comparing the group later gives the same
verdicts. What is needed follows from the group alone. Pure: no clock, no network.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import chain
from statistics import fmean

from msgspec import Struct

from io_benchmark.analysis.inference.looks import Schedule
from io_benchmark.analysis.model import Subject, Verdict
from io_benchmark.analysis.report_model import Report
from io_benchmark.sources.taskcluster.api_answers import QueueRun
from io_benchmark.sources.taskcluster.tasks import QueueTask
from io_benchmark.submit.definitions import job_of

# Workers per pool. A difference of 10 % mostly needs 6 to 12, equivalence within 5 % needs 24.
LOOKS = (3, 6, 12, 24)
# With more tasks than this per independent worker, more tasks do not help.
_MOST_TASKS_PER_WORKER = 2


class MeasuredGroup(Struct, frozen=True):
    """The benchmark's tasks of a group."""

    tasks: Sequence[QueueTask]

    @property
    def labels(self) -> list[str]:
        return [task.label for task in self.tasks]

    @property
    def are_resolved(self) -> bool:
        return all(task.status.is_resolved for task in self.tasks)

    @property
    def spent_minutes(self) -> float:
        return sum(map(_minutes, chain.from_iterable(task.status.runs for task in self.tasks)))

    def count_by_job(self) -> Counter[str]:
        return Counter(map(_job, self.tasks))

    def minutes_by_job(self) -> dict[str, float]:
        """Return how long a task of each job took, as the queue measured it."""
        of_jobs: dict[str, list[float]] = {}
        for task in self.tasks:
            minutes = [_minutes(run) for run in task.status.runs if run.started]
            of_jobs.setdefault(_job(task), []).extend(minutes)
        return {job: fmean(minutes) for job, minutes in of_jobs.items() if minutes}


class NextLook(Struct, frozen=True):
    """The pools that are undecided, and what they need."""

    undecided: tuple[str, ...]
    tasks_to_add: Mapping[str, int]  # by job
    exhausted: tuple[str, ...]  # pools where more tasks do not reach more workers

    @classmethod
    def after(
        cls,
        report: Report,
        schedule: Schedule,
        jobs: Mapping[tuple[str, Subject], str],
        tasks: Mapping[str, int],
    ) -> "NextLook":
        """Judge a report; `jobs` measure its subjects on each side, and have so many `tasks`."""
        undecided: dict[str, None] = {}
        exhausted: dict[str, None] = {}
        to_add: dict[str, int] = {}
        for part in report.subjects:
            for comparison in part.comparisons:
                if comparison.verdict is not Verdict.INCONCLUSIVE:
                    continue
                undecided[comparison.candidate] = None
                workers = {
                    side: part.figures[side].workers
                    for side in (comparison.candidate, comparison.baseline)
                }
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
        wanted = {job: count for job, count in to_add.items() if count}
        return cls(tuple(undecided), wanted, tuple(exhausted))


def _job(task: QueueTask) -> str:
    return job_of(task.label, task.pool or "") or task.label


def _minutes(run: QueueRun) -> float:
    """Return how long a run took on its worker; 0 where it never started."""
    try:
        started, resolved = (
            datetime.fromisoformat(date or "") for date in (run.started, run.resolved)
        )
        return max(0.0, (resolved - started).total_seconds() / 60)
    except (TypeError, ValueError):
        return 0.0
