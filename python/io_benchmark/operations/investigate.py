# SPDX-License-Identifier: MPL-2.0
"""Investigate a slow task by operations that exist, until there is a conclusion.

A step that cannot be done, or not without a person, raises a ResultError with what to do.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.adopt.pool_definitions import NoPatchError, PoolDefinitions
from io_benchmark.analysis.compare import Options
from io_benchmark.analysis.investigation.conclusion import conclude
from io_benchmark.analysis.investigation.investigation_model import (
    Conclusion,
    Explanation,
    Findings,
    Fix,
    Forecast,
    Investigation,
    Machines,
    Outcome,
    Slowness,
    Source,
    Target,
)
from io_benchmark.analysis.investigation.slowness import find_slowness
from io_benchmark.analysis.model.report import Report
from io_benchmark.analysis.model.statements import statement
from io_benchmark.context import Context
from io_benchmark.errors import IoBenchmarkError, MissingError, ResultError, UsageError
from io_benchmark.number_text import listed
from io_benchmark.operations.compare import compare, read_workers
from io_benchmark.operations.history import history
from io_benchmark.operations.investigation_tasks import (
    CAPACITIES,
    POOLS,
    InvestigationOptions,
    InvestigationTasks,
)
from io_benchmark.operations.predict import predict
from io_benchmark.operations.submit import pools_of_kind
from io_benchmark.operations.tasks import pool_of, read_completed_runs
from io_benchmark.report.content import text_of
from io_benchmark.report.formats import rendered
from io_benchmark.sources.taskcluster.addresses import TaskAddress, default_root_url, parse
from io_benchmark.sources.taskcluster.queue_runs import find_earlier_tasks, read_task
from io_benchmark.sources.taskcluster.tasks import QueueTask
from io_benchmark.submit.task_creation import TaskQueue
from io_benchmark.text import clean

if TYPE_CHECKING:
    from io_benchmark.report.formats import AnyReport

# Results of the index that are older say little about the machines of today.
_RECENT = timedelta(days=14)
_NEWEST = 3  # pushes
_NEW_TASKS = "new tasks"
# How the scheduler of a task in Firefox's repositories begins: gecko-level-1.
_FIREFOX = "gecko-"
_POOLS_NAMED = 10
_TIMES, _MACHINES, _CAUSES, _DEMAND = _STEPS = (
    "What is slow",
    "What the machines do",
    "Why",
    "What the task asks of them",
)
_COSTS = {
    _TIMES: "reads the queue; no worker time",
    _MACHINES: "no worker time where results are there, else at most {budget:g} h of worker time (--budget)",
    _CAUSES: "no worker time, or a task that confirms the cause, within --budget",
    _DEMAND: "no worker time, or a task of a minute per pool that measures what predictions use",
}


def investigate(address: str, options: InvestigationOptions, context: Context) -> Investigation:
    """Do the steps until there is a conclusion."""
    task = parse(address, context.environment)
    if not isinstance(task, TaskAddress):
        raise UsageError(f"{clean(address, 200)}: is not a task; give task:ID or its web address")
    # Before the first step: a mistake in it must not end hours of measuring.
    pools_file = PoolDefinitions.read(options.pools_file) if options.pools_file else None
    if task.root_url != default_root_url(context.environment):
        raise UsageError(f"{task}: set TASKCLUSTER_ROOT_URL to {task.root_url}")
    queue_task, image = TaskQueue.connect(context.environment, partial(read_task, task))
    new_tasks = InvestigationTasks.open(task, image, options, context)
    steps = _Steps(task, queue_task, options, context, new_tasks)
    findings, conclusion = Findings(), None
    try:
        for findings in steps.findings():
            conclusion = conclude(findings)
            if conclusion is not None:
                break
    except ResultError as error:
        conclusion = _open(f"{steps.title} is not known", str(error))
    except KeyboardInterrupt:
        context.tell(f"The investigation was stopped; {new_tasks.how_to_resume}")
        raise
    conclusion = conclusion or _open("this was a dry run", "omit --dry-run")
    report = Investigation(
        address,
        findings,
        conclusion,
        remarks=tuple(dict.fromkeys(steps.remarks)),
        sources=tuple(dict.fromkeys(steps.sources)),
    )
    fix, slowness = conclusion.fix, findings.slowness
    if fix is None or slowness is None or fix.target is not Target.POOL:
        return report
    patch, fragment, note = _propose_change(
        fix, text_of(fix.remedy.action), slowness.queue, pools_file
    )
    if patch:
        new_tasks.write("pools.patch", patch.encode())
    return replace(report, patch=patch, fragment=fragment, note=note)


def _open(answer: str, todo: str) -> Conclusion:
    certainty = statement("nothing is concluded yet")
    todos = (statement("{todo}", todo=todo),)
    return Conclusion(Outcome.OPEN, statement(answer), certainty, next_steps=todos)


class _Steps(Struct):
    """The steps of an investigation, each of which needs those before it."""

    task: TaskAddress
    queue_task: QueueTask
    options: InvestigationOptions
    context: Context
    new_tasks: InvestigationTasks
    title: str = ""  # of the step under way
    remarks: list[str] = []
    sources: list[Source] = []  # of the evidence

    def findings(self) -> Iterator[Findings]:
        """Do one step after the other; yield what is known after each."""
        if self.options.dry_run:
            for title in _STEPS:
                self._start(title)
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

    def _start(self, title: str) -> None:
        self.title = title
        self.context.tell(f"{title}: {_COSTS[title].format(budget=self.options.budget_hours)}")

    def _use(self, what: str, address: str, *, is_new: bool = False) -> None:
        """Remember where evidence is, as an address that a browser opens."""
        parsed = parse(address, self.context.environment)
        page = getattr(parsed, "url", "")
        self.sources.append(Source(what, str(parsed or address), page, is_new))

    def _find_slowness(self) -> Slowness:
        label, queue = self.queue_task.label, self.queue_task.status.queue
        group = f"group:{self.queue_task.status.task_group_id}"
        addresses = (group, str(self.task), *(self.options.runs or self._earlier_tasks()))
        pattern = re.compile(f"^{re.escape(label)}$")
        for runs in (group, *addresses[2:]):
            self._use("runs of the task", runs)
        sides, remarks = read_completed_runs(addresses, self.context, pattern)
        self.remarks += remarks
        pool = next((name for name in sides if f"/{queue}".endswith(f"/{name}")), None)
        if pool is None:
            raise ResultError(
                f"{label} has no completed run on {queue}; wait for one, or give a table of runs by --runs"
            )
        every_label, _ = read_completed_runs(self.options.runs, self.context)
        slowness, warnings = find_slowness(label, pool, sides, every_label, self.options.prices)
        self.remarks += map(text_of, warnings)
        is_of_firefox = self.queue_task.status.scheduler_id.startswith(_FIREFOX)
        return replace(slowness, is_of_firefox=is_of_firefox)

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
        """Find the benchmark's results of both pools: those given, else recent ones, else new ones."""
        queues, on = (slowness.queue, slowness.reference_queue), tuple(self.options.on)
        if on:
            workers = read_workers(on, self.context).results
            pools = {each.queue or each.pool: each.pool for each in workers}
            return Machines(on, *_named(queues, pools, "--on has"), "--on")
        names = _named(queues, pools_of_kind(self.options.root), "the kind measures")
        recent = None if POOLS in self.new_tasks.journal.groups else self._recent(names)
        if recent is not None:
            group, day = recent
            return Machines((f"group:{group}",), *names, f"the index, {day}")
        group = self.new_tasks.measure(dict(zip(names, queues, strict=True)))
        return Machines((f"group:{group}",), *names, _NEW_TASKS)

    def _recent(self, pools: Sequence[str]) -> tuple[str, str] | None:
        """Return the newest group of the index that has results of all these pools, and its day."""
        since, project = (datetime.now(UTC) - _RECENT).date(), self.options.project
        try:
            pasts = [
                history(self.context, pool, (), project=project, last=_NEWEST, since=since)
                for pool in pools
            ]
        except MissingError:
            return None
        times, others = (
            {point.group: point.time for series in past.series for point in series.points}
            for past in pasts
        )
        both = [(time, group) for group, time in times.items() if group in others]
        if not both:
            return None
        time, group = max(both)
        return group, time.date().isoformat()

    def _explain(self, machines: Machines) -> Explanation:
        report = self._compare(machines)
        kind, _, group = machines.addresses[0].partition(":")
        is_missing = any(pace.against == machines.pool for pace in report.confirming.paces)
        if is_missing and kind == "group" and not self.new_tasks.obstacle:
            try:
                self.new_tasks.confirm(group, machines.reference)
                report = self._compare(machines)
            except IoBenchmarkError as error:
                self.remarks.append(f"the cause was not confirmed by a trial: {error}")
        self._keep("comparison", report)
        return Explanation.of(report, machines.pool, machines.reference)

    def _compare(self, machines: Machines) -> Report:
        return compare(
            self.context,
            machines.addresses,
            baseline=machines.reference,
            options=Options(prices=self.options.prices),
        )

    def _predict(self, slowness: Slowness, machines: Machines) -> Forecast:
        """Predict the task; where results lack what that uses, measure it once."""
        found = self._forecast(slowness, machines, machines.addresses)
        lacks_figures = found.ratio is None and found.task is not None
        if lacks_figures and self.new_tasks.may_measure(CAPACITIES):
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
                f"no run of {slowness.label} has a profile that can be read ({error}); add to the task "
                f"`benchmark: {{measure: /builds/worker/workspace}}`, run it on {reference}, and give "
                "it by --profile task:ID"
            ) from None
        self._keep("prediction", predictions)
        return Forecast.of(predictions, machines.pool, machines.reference)

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


def _propose_change(
    fix: Fix, action: str, queue: str, pools_file: PoolDefinitions | None
) -> tuple[str, str, str]:
    """Return the patch of a file of pools' definitions, else what to write there; and a note."""
    # Anybody may have written the machine types: none of them ends a line.
    own, new = clean(fix.machine_type), clean(fix.new_machine_type)
    words = f"# {clean(action)}"
    if new:
        words = f"machine_type: {new}  # now {own}"
    elif fix.local_ssds_to_add:
        words = f"disks: {fix.local_ssds_to_add} more local SSD, of type SCRATCH"
    elif own:
        words = f"instance_types: without {own}"
    fragment = f"# worker-pools.yml, pool_id {clean(queue, 200)}\n{words}"
    if pools_file is None:
        return "", fragment, "--pools-file FILE makes a patch of it"
    try:
        patch, pools = pools_file.change_machines(queue, fix)
    except NoPatchError as error:
        return "", fragment, f"{clean(pools_file.file, 200)}: no patch: {clean(str(error))}"
    names = clean(listed(pools, _POOLS_NAMED))
    return patch, "", f"All of these pools get it: {names}" if len(pools) > 1 else ""
