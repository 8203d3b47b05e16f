# SPDX-License-Identifier: MPL-2.0
"""A group whose tasks were measured: what they cost, and what its next look needs.

What is needed follows from the group alone. The tasks name the looks
(analysis/statistics/looks.py), so comparing the group later gives the same verdicts.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import NamedTuple, Self

from msgspec import Struct

from io_benchmark.analysis.gate.gate_model import Answer, GateAnswer
from io_benchmark.analysis.model.comparison import Verdict
from io_benchmark.analysis.model.groups import grouped
from io_benchmark.analysis.model.looks import Schedule
from io_benchmark.analysis.model.report import Report
from io_benchmark.analysis.model.run import Worker
from io_benchmark.analysis.model.subject import Subject
from io_benchmark.costs.worker_time import Cost, CostShare, Price
from io_benchmark.sources.gather import Gathered
from io_benchmark.sources.run_results import parse_time
from io_benchmark.sources.taskcluster.api_answers import QueueRun
from io_benchmark.sources.taskcluster.tasks import QueueTask
from io_benchmark.submit.definitions import LOOKS, NewTask, Repetition
from io_benchmark_taskgraph.repeating import CONFIRMING, job_of

# With more tasks than this per independent worker, more tasks do not help. Chosen: where over half
# of the tasks ran on a worker that counts already, further ones would, too.
_MOST_TASKS_PER_WORKER = 2


class OpenPair(NamedTuple):
    """Two pools that a measurement leaves undecided, with their workers in it."""

    candidate: str
    baseline: str
    subject: Subject
    workers: tuple[int, int]

    @classmethod
    def of_report(cls, report: Report) -> list[Self]:
        """Return the pairs whose comparison is inconclusive."""
        return [
            cls(
                comparison.candidate,
                comparison.baseline,
                part.subject,
                (
                    part.figures[comparison.candidate].workers,
                    part.figures[comparison.baseline].workers,
                ),
            )
            for part in report.subjects
            for comparison in part.comparisons
            if comparison.verdict is Verdict.INCONCLUSIVE
        ]

    @classmethod
    def of_gates(cls, gates: Sequence[GateAnswer]) -> list[Self]:
        """Return the pairs of each gate that more workers may decide."""
        return [
            cls(gate.candidate, gate.baseline, test.subject, test.workers)
            for gate in gates
            if gate.answer is Answer.NOT_DECIDED
            for test in gate.tests
            if test.answer is Answer.NOT_DECIDED
        ]


class NextLook(NamedTuple):
    """The pools that are undecided, and what they need."""

    undecided: list[str]
    repetitions: list[Repetition]  # the tasks to add, the pools in turn
    exhausted: list[str]  # pools where more tasks do not reach more workers


class MeasuredGroup(Struct, frozen=True):
    """The benchmark's tasks of a group, and the workers of those whose results could be read."""

    tasks: Sequence[QueueTask]
    workers: Sequence[Worker] = ()
    reading: Gathered[Worker] | None = None  # what the workers were read by

    @property
    def spent_minutes(self) -> float:
        return sum(_minutes(run) for task in self.tasks for run in task.status.runs)

    def cost(self, tasks: Sequence[NewTask], prices: Mapping[str, Price]) -> Cost:
        """Estimate the cost of tasks by what those of their job took, else by their budget."""
        by_job = grouped(tasks, lambda task: task.job)
        jobs_of_pool = Counter(replicates[0].pool for replicates in by_job.values())
        shares = []
        for job, replicates in by_job.items():
            first = replicates[0]
            # How long each run of the job took that a worker started
            minutes = [
                _minutes(run)
                for task in self.tasks
                for run in task.status.runs
                if _job_of(task) == job and run.started
            ]
            share = CostShare(
                name=first.pool if jobs_of_pool[first.pool] == 1 else job,
                tasks=len(replicates),
                # Not rounded: a comparison of the same tasks writes the same amount of money.
                minutes=fmean(minutes) if minutes else first.limit_s / 60,
                is_limit=not minutes,
                price=Price.find(prices, first.pool, first.queue),
                queue=first.queue,
            )
            shares.append(share)
        return Cost(tuple(shares), with_prices=bool(prices))

    def measured_tasks(self) -> list[tuple[Worker, QueueTask]]:
        """Return the workers with their tasks, in the order of the labels."""
        tasks = {task.task_id: task for task in self.tasks}
        pairs = ((worker, tasks[worker.task_id]) for worker in self.workers)
        return sorted(pairs, key=lambda pair: pair[1].label)

    def next_look(self, pairs: Sequence[OpenPair]) -> NextLook:
        """Return the pools that are undecided, and the tasks that they need."""
        jobs: dict[tuple[str, Subject], str] = {}
        for worker, task in self.measured_tasks():
            for entry in worker.runs:
                jobs.setdefault((worker.side, entry.subject), _job_of(task))
        tasks_of_job = Counter(_job_of(task) for task in self.tasks)
        undecided: list[str] = []
        exhausted: list[str] = []
        missing: dict[str, int] = {}  # tasks by job
        for pair in pairs:
            undecided.append(pair.candidate)
            sides = list(zip((pair.candidate, pair.baseline), pair.workers, strict=True))
            left_behind = [
                side
                for side, count in sides
                if tasks_of_job[jobs[side, pair.subject]] > _MOST_TASKS_PER_WORKER * count
            ]
            exhausted += left_behind
            target = Schedule(LOOKS).next_look(*pair.workers)
            if target is None or left_behind:
                continue
            for side, count in sides:
                job = jobs[side, pair.subject]
                missing[job] = max(missing.get(job, 0), target - count)
        return NextLook(
            list(dict.fromkeys(undecided)),
            self._repetitions(missing),
            list(dict.fromkeys(exhausted)),
        )

    def _repetitions(self, missing: Mapping[str, int]) -> list[Repetition]:
        """Return the tasks that are missing, by job; each repeats the first task of its job."""
        first_tasks: dict[str, Repetition] = {}
        for worker, task in self.measured_tasks():
            if CONFIRMING not in task.label:
                first_tasks.setdefault(_job_of(task), Repetition(task.task_id, worker.pool))
        return [
            first_tasks[job]
            for number in range(max(missing.values(), default=0))
            for job in sorted(first_tasks)
            if number < missing.get(job, 0)
        ]


def _job_of(task: QueueTask) -> str:
    """Return the label without a replicate's number."""
    return job_of(task.label, task.pool or "")


def _minutes(run: QueueRun) -> float:
    """Return how long a run took on its worker; 0 where it never started."""
    started, resolved = parse_time(run.started), parse_time(run.resolved)
    if started is None or resolved is None:
        return 0.0
    return (resolved - started).total_seconds() / 60
