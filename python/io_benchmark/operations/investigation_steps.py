# SPDX-License-Identifier: MPL-2.0
"""The steps of an investigation: what is slow, the machines, the causes, and the task's demand.

A step that cannot be done, or not without a person, raises a ResultError with what to do.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from msgspec import UNSET, Struct
from msgspec.structs import replace

from io_benchmark.analysis.investigation.investigation_model import (
    EvidenceSource,
    Explanation,
    Findings,
    Forecast,
    Machines,
    Slowness,
)
from io_benchmark.analysis.investigation.report_findings import explain, forecast
from io_benchmark.analysis.investigation.set_up import needs_logs
from io_benchmark.analysis.investigation.slowness import find_slowness
from io_benchmark.analysis.model.comparison import Verdict
from io_benchmark.analysis.model.groups import grouped
from io_benchmark.analysis.model.report import Report
from io_benchmark.analysis.tasks.task_model import TaskSide
from io_benchmark.context import Context
from io_benchmark.errors import IoBenchmarkError, MissingError, ResultError
from io_benchmark.operations.compare import compare, read_workers
from io_benchmark.operations.history import history
from io_benchmark.operations.investigation_tasks import (
    CAPACITIES,
    POOLS,
    InvestigationOptions,
    InvestigationTasks,
)
from io_benchmark.operations.phases import LogChoice, compare_logs
from io_benchmark.operations.predict import predict
from io_benchmark.operations.submit import pools_of_kind
from io_benchmark.operations.tasks import pool_of, pools_by_queue, side_names
from io_benchmark.report.content import text_of
from io_benchmark.report.formats import rendered
from io_benchmark.sources.gather import gather_task_runs
from io_benchmark.sources.protocol import RunQuery, is_pool_named
from io_benchmark.sources.run_results import TaskRun
from io_benchmark.sources.taskcluster.addresses import TaskAddress, parse
from io_benchmark.sources.taskcluster.queue_runs import find_earlier_tasks
from io_benchmark.sources.taskcluster.tasks import QueueTask
from io_benchmark.submit.task_creation import TaskQueue

if TYPE_CHECKING:
    from io_benchmark.report.formats import AnyReport

# Results of the index that are older say little about the machines of today.
_RECENT = timedelta(days=14)
_NEWEST = 3  # pushes
_NEW_TASKS = "new tasks"
_LOGS = 60  # of both pools; chosen: more add less than they take to read
# How the scheduler of a task in Firefox's repositories begins: gecko-level-1.
_FIREFOX = "gecko-"


class _Step(NamedTuple):
    title: str
    cost: str


_TIMES = _Step(
    "What is slow", "reads the queue, and logs where set-up may be slower; no worker time"
)
_MACHINES = _Step(
    "What the machines do",
    "no worker time where results are there, else at most {budget:g} h of worker time (--budget)",
)
_CAUSES = _Step("Why", "no worker time, or a task that confirms the cause, within --budget")
_DEMAND = _Step(
    "What the task asks of them",
    "no worker time, or a task of a minute per pool that measures what predictions use",
)


class Steps(Struct):
    """The steps of an investigation, each of which needs those before it."""

    task: TaskAddress
    queue_task: QueueTask
    options: InvestigationOptions
    context: Context
    new_tasks: InvestigationTasks
    title: str = ""  # of the step under way
    remarks: list[str] = []
    sources: list[EvidenceSource] = []  # of the evidence

    def findings(self) -> Iterator[Findings]:
        """Do one step after the other; yield what is known after each."""
        if self.options.dry_run:
            for step in (_TIMES, _MACHINES, _CAUSES, _DEMAND):
                self._start(step)
            return
        self._start(_TIMES)
        slowness = self._find_slowness()
        yield Findings(slowness)
        self._start(_MACHINES)
        machines = self._find_machines(slowness)
        for address in machines.addresses:
            is_new = machines.origin == _NEW_TASKS
            self._use("the benchmark's results of both pools", address, is_new=is_new)
        yield Findings(slowness, machines)
        self._start(_CAUSES)
        explanation = self._explain(machines)
        yield Findings(slowness, machines, explanation)
        self._start(_DEMAND)
        yield Findings(slowness, machines, explanation, self._predict(slowness, machines))

    def _start(self, step: _Step) -> None:
        """Tell what the step is and what it costs at most."""
        self.title = step.title
        cost = step.cost.format(budget=self.options.budget_hours)
        self.context.tell(f"{step.title}: {cost}")

    def _use(self, what: str, address: str, *, is_new: bool = False) -> None:
        """Remember where evidence is, as an address that a browser opens."""
        parsed = parse(address, self.context.environment)
        page = getattr(parsed, "url", "")
        self.sources.append(EvidenceSource(what, str(parsed or address), page, is_new))

    def _find_slowness(self) -> Slowness:
        label, queue = self.queue_task.label, self.queue_task.status.queue
        group = f"group:{self.queue_task.status.task_group_id}"
        earlier = self.options.runs or self._earlier_tasks()
        for address in (group, *earlier):
            self._use("runs of the task", address)
        pattern = re.compile(f"^{re.escape(label)}$")
        addresses = [group, str(self.task)]
        if not self.options.runs:
            addresses += earlier
        runs = read_completed_runs(self.context, self.options.runs, addresses, pattern)
        self.remarks += runs.messages
        # A side may be named without the provisioner of its pool.
        pools = [name for name in runs.of_label if is_pool_named(queue, name)]
        if not pools:
            raise ResultError(
                f"{label} has no completed run on {queue}; wait for one, or give a table of runs "
                "by --runs"
            )
        slowness, warnings = find_slowness(
            label, pools[0], runs.of_label, runs.of_all_labels, self.options.prices
        )
        self.remarks += map(text_of, warnings)
        is_of_firefox = self.queue_task.status.scheduler_id.startswith(_FIREFOX)
        return replace(self._with_phases(slowness, runs.of_label), is_of_firefox=is_of_firefox)

    def _with_phases(self, slowness: Slowness, sides: Mapping[str, Sequence[TaskRun]]) -> Slowness:
        """Add what logs say of both pools, where set-up may be what is slower."""
        compared = slowness.comparison
        if compared is None or compared.verdict is not Verdict.SLOWER or not needs_logs(compared):
            return slowness
        pair = (compared.candidate, compared.baseline)
        self.context.tell(f"Where set-up goes: reads at most {_LOGS} logs; no worker time")
        choice = LogChoice(_LOGS, root_urls=frozenset((self.task.root_url,)))
        logs = compare_logs(self.context, [pair], sides, choice)
        self.remarks += map(text_of, logs.notes)
        return replace(slowness, phases=logs.pair_of(*pair) or UNSET)

    def _earlier_tasks(self) -> Sequence[str]:
        try:
            tasks = TaskQueue.connect(
                self.context.environment, partial(find_earlier_tasks, self.queue_task)
            )
        except ResultError as error:
            self.remarks.append(f"earlier pushes were not read: {error}; give runs by --runs")
            return ()
        if tasks:
            self.remarks.append(
                f"earlier pushes whose runs count as well: {len(tasks)} (--runs names others)"
            )
        return tasks

    def _find_machines(self, slowness: Slowness) -> Machines:
        """Find the benchmark's results of both pools: --on, else recent ones, else new ones."""
        queues = (slowness.queue, slowness.reference_queue)
        if self.options.on:
            workers = read_workers(self.options.on, self.context).results
            pool, reference = _named(queues, pools_by_queue(workers), "--on has")
            return Machines(tuple(self.options.on), pool, reference, "--on")
        pool, reference = _named(queues, pools_of_kind(self.options.root), "the kind measures")
        has_new_tasks = POOLS in self.new_tasks.journal.groups
        recent = None if has_new_tasks else self._find_recent_results(pool, reference)
        if recent is not None:
            return recent
        group = self.new_tasks.measure({pool: slowness.queue, reference: slowness.reference_queue})
        return Machines((f"group:{group}",), pool, reference, _NEW_TASKS)

    def _find_recent_results(self, pool: str, reference: str) -> Machines | None:
        """Return the results of the newest push in the index that has some of both pools."""
        try:
            times, times_of_reference = self._recent_groups(pool), self._recent_groups(reference)
        except MissingError:
            return None
        groups = times.keys() & times_of_reference.keys()
        if not groups:
            return None
        newest = max(groups, key=lambda group: (times[group], group))
        day = times[newest].date().isoformat()
        return Machines((f"group:{newest}",), pool, reference, f"the index, {day}")

    def _recent_groups(self, pool: str) -> dict[str, datetime]:
        """Return the groups of the index that lately measured a pool, with their times."""
        project, since = self.options.project, (datetime.now(UTC) - _RECENT).date()
        past = history(self.context, pool, (), project=project, last=_NEWEST, since=since)
        return {point.group: point.time for series in past.series for point in series.points}

    def _explain(self, machines: Machines) -> Explanation:
        report = self._compare(machines)
        kind, _, group = machines.addresses[0].partition(":")
        can_confirm = any(pace.against == machines.pool for pace in report.confirming.paces)
        if can_confirm and kind == "group" and not self.new_tasks.obstacle:
            try:
                self.new_tasks.confirm(group, machines.reference)
                report = self._compare(machines)
            except IoBenchmarkError as error:
                self.remarks.append(f"the cause was not confirmed by a trial: {error}")
        self._keep("comparison", report)
        return explain(report, machines.pool, machines.reference)

    def _compare(self, machines: Machines) -> Report:
        return compare(
            self.context,
            machines.addresses,
            baseline=machines.reference,
            prices=self.options.prices,
            pools_file=self.options.pools_file,
        )

    def _predict(self, slowness: Slowness, machines: Machines) -> Forecast:
        """Predict the task; where results lack what that uses, measure it once."""
        found = self._forecast(slowness, machines, machines.addresses)
        lacks_figures = found.ratio is None and found.task is not None
        is_measured = CAPACITIES in self.new_tasks.journal.measured
        if lacks_figures and (is_measured or not self.new_tasks.obstacle):
            queues = {machines.pool: slowness.queue, machines.reference: slowness.reference_queue}
            group = f"group:{self.new_tasks.measure(queues, CAPACITIES)}"
            self._use("what the prediction uses of both pools", group, is_new=True)
            found = self._forecast(slowness, machines, (*machines.addresses, group))
        return found

    def _forecast(
        self, slowness: Slowness, machines: Machines, addresses: Sequence[str]
    ) -> Forecast:
        profiles = self.options.profiles or slowness.profiles
        for profile in profiles:
            self._use("a profile of the task", profile)
        try:
            predictions = predict(self.context, profiles, addresses, prices=self.options.prices)
        except ResultError as error:
            reference = slowness.comparison.baseline if slowness.comparison else "another pool"
            raise ResultError(
                f"no run of {slowness.label} has a profile that can be read ({error}); add to the "
                f"task `benchmark: {{measure: /builds/worker/workspace}}`, run it on {reference}, "
                "and give it by --profile task:ID"
            ) from None
        self._keep("prediction", predictions)
        return forecast(predictions, machines.pool, machines.reference)

    def _keep(self, name: str, report: "AnyReport") -> None:
        self.new_tasks.write(f"{name}.html", rendered(report, "html").encode("utf-8", "replace"))


def _named(queues: Sequence[str], pools: Mapping[str, str], who: str) -> tuple[str, str]:
    """Return the benchmark's names of the task's pool and of the reference."""
    pool, reference = (pool_of(queue, pools) for queue in queues)
    if pool is None or reference is None:
        missing = " and ".join(queue for queue in queues if pool_of(queue, pools) is None)
        raise ResultError(
            f"{who} no pool {missing}; add it to kind.yml, measure it, and give the results by --on"
        )
    return pool, reference


class _CompletedRuns(NamedTuple):
    """Completed runs by the name of their pool, and the messages about all that were read."""

    of_label: dict[str, list[TaskRun]]
    of_all_labels: dict[str, list[TaskRun]]
    messages: tuple[str, ...]


def read_completed_runs(
    context: Context, whole: Sequence[str], addresses: Sequence[str], label: re.Pattern[str]
) -> _CompletedRuns:
    """Read the runs of every label at the addresses `whole`, and those of a label at all."""
    with context.progress() as progress:
        query = RunQuery(context.environment, progress, label=label, whole_addresses=len(whole))
        # A task that several addresses lead to belongs to the first of them.
        reading = gather_task_runs([*whole, *addresses], query)
    at_whole = {run.identity for address, run in query.runs if address < len(whole)}
    return _CompletedRuns(
        _completed_by_pool([run for run in reading.results if label.search(run.label)]),
        _completed_by_pool([run for run in reading.results if run.identity in at_whole]),
        (*reading.unreadable, *reading.remarks),
    )


def _completed_by_pool(runs: Sequence[TaskRun]) -> dict[str, list[TaskRun]]:
    names = side_names({run.pool for run in runs})
    completed = [run for run in runs if TaskSide.ending(run) == "completed"]
    return grouped(completed, lambda run: names[run.pool])
