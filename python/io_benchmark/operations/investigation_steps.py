# SPDX-License-Identifier: MPL-2.0
"""The steps of an investigation, each of which is an operation that exists.

A step that cannot be done, or not without a person, raises a ResultError with what to do.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import slugid
from msgspec import Struct, field
from msgspec.structs import replace

from io_benchmark.analysis.investigation.investigation_model import (
    Explanation,
    Findings,
    Forecast,
    Machines,
    Slowness,
)
from io_benchmark.analysis.investigation.slowness import find_slowness, with_gaining_labels
from io_benchmark.context import Context
from io_benchmark.costs.worker_time import Price
from io_benchmark.errors import IoBenchmarkError, MissingError, ResultError, UsageError
from io_benchmark.operations import submit as submission
from io_benchmark.operations.compare import compare, read_workers
from io_benchmark.operations.history import history
from io_benchmark.operations.investigation_findings import explanation_of, forecast_of, pool_of
from io_benchmark.operations.journal import JournalFolder
from io_benchmark.operations.predict import predict
from io_benchmark.operations.tasks import read_completed_runs
from io_benchmark.report.content import text_of
from io_benchmark.report.formats import rendered
from io_benchmark.sources.taskcluster.access import Access
from io_benchmark.sources.taskcluster.addresses import TaskAddress, default_root_url, parse
from io_benchmark.sources.taskcluster.tasks import ALL_KIND
from io_benchmark.submit.definitions import Image, SubmissionOptions
from io_benchmark.text import clean

if TYPE_CHECKING:
    from io_benchmark.report.formats import AnyReport

DEFAULT_BUDGET_HOURS = 12.0
# Results of the index that are older say little about the machines of today.
_RECENT = timedelta(days=14)
_NEWEST = 3  # pushes


class InvestigationOptions(Struct, frozen=True, kw_only=True):
    runs: Sequence[str] = ()  # further runs: tables, groups
    on: Sequence[str] = ()  # results of the pools
    profile: Sequence[str] = ()  # profiles of the task
    project: str = "io-benchmark"  # in the index
    journal: Path | None = None
    pools_file: Path | None = None
    dry_run: bool = False
    yes: bool = False
    budget: float = DEFAULT_BUDGET_HOURS
    image: Image | None = None
    owner: str | None = None
    root: Path | None = None
    prices: Mapping[str, Price] = field(default_factory=dict)


class InvestigationWork(Struct):
    """An investigation under way: the task, what is known, and how each step is done."""

    task: TaskAddress
    label: str
    queue: str
    group_id: str
    image: Any  # of the task's payload
    options: InvestigationOptions
    context: Context
    folder: JournalFolder
    remarks: list[str] = []

    @classmethod
    def begin(cls, address: str, options: InvestigationOptions, context: Context) -> Self:
        task = parse(address, context.environment)
        if not isinstance(task, TaskAddress):
            raise UsageError(
                f"{clean(address, 200)}: is not a task; give task:ID or its web address"
            )
        if task.root_url != default_root_url(context.environment):
            raise UsageError(f"{task}: set TASKCLUSTER_ROOT_URL to {task.root_url}")
        # Imported here: the client takes 0.2 s to load.
        from io_benchmark.sources.taskcluster.queue_runs import read_task  # noqa: PLC0415

        listed, image = read_task(task, context.environment)
        folder = JournalFolder.open(options.journal, task.task_id, replace(task, run_id=None).url)
        status = listed.status
        return cls(
            *(task, listed.label, status.queue, status.task_group_id, image),
            *(options, context, folder),
        )

    def find(self, findings: Findings) -> Findings:
        """Do the next step; return the findings with what it found."""
        slowness, machines = findings.slowness, findings.machines
        if slowness is None:
            return replace(findings, slowness=self._find_slowness())
        if machines is None:
            return replace(findings, machines=self._find_machines(slowness))
        if findings.explanation is None:
            return replace(findings, explanation=self._find_explanation(machines))
        return replace(findings, forecast=self._find_forecast(slowness, machines))

    # --- the steps ---

    def _find_slowness(self) -> Slowness:
        addresses = [f"group:{self.group_id}", str(self.task), *self.options.runs]
        label = re.compile(f"^{re.escape(self.label)}$")
        sides, lines = read_completed_runs(addresses, label, self.context)
        self.remarks += lines
        pool = next((name for name in sides if f"/{self.queue}".endswith(f"/{name}")), None)
        if pool is None:
            raise ResultError(
                f"{self.label} has no completed run on {self.queue}; wait for one, or give a table of "
                "runs by --runs"
            )
        slowness, warnings = find_slowness(self.label, pool, sides, self.options.prices)
        self.remarks += map(text_of, warnings)
        if not self.options.runs:
            return slowness
        every_label, _ = read_completed_runs(self.options.runs, None, self.context)
        return with_gaining_labels(slowness, every_label)

    def _find_machines(self, slowness: Slowness) -> Machines:
        """Find the benchmark's results of both pools: those given, else recent ones, else new ones."""
        queues = slowness.queue, slowness.reference_queue
        if self.options.on:
            workers = read_workers(self.options.on, self.context).results
            pools = {each.queue or each.pool: each.pool for each in workers}
            named = [pool_of(queue, pools) for queue in queues]
            return Machines(
                addresses=tuple(self.options.on), origin="--on", **_named(queues, named, "--on has")
            )
        kind = submission.pools_of_kind(self.options.root)
        names = _named(queues, [pool_of(queue, kind) for queue in queues], "the kind measures")
        recent = self._recent(*names.values())
        if recent is not None:
            group, day = recent
            return Machines(addresses=(f"group:{group}",), origin=f"the index, {day}", **names)
        group = self._submit(dict(zip(names.values(), queues, strict=True)))
        return Machines(addresses=(f"group:{group}",), origin="new tasks", **names)

    def _find_explanation(self, machines: Machines) -> Explanation:
        asked: dict[str, Any] = {"baseline": machines.reference, "prices": self.options.prices}
        report = compare(self.context, machines.addresses, **asked)
        kind, _, group = machines.addresses[0].partition(":")
        is_missing = any(pace.against == machines.pool for pace in report.confirming.paces)
        if is_missing and kind == "group" and not self._obstacle():
            settings = self._submission(baseline=machines.reference)
            try:
                submission.confirm(group, settings, self.context)
                report = compare(self.context, machines.addresses, **asked)
            except IoBenchmarkError as error:
                self.remarks.append(f"the cause was not confirmed by a trial: {error}")
        self._keep("comparison", report)
        return explanation_of(report, machines.pool, machines.reference)

    def _find_forecast(self, slowness: Slowness, machines: Machines) -> Forecast:
        """Predict the task; where that needs more than retrieves, measure everything once."""
        forecast = self._forecast(slowness, machines)
        if forecast.ratio is None and forecast.profiles and not self._obstacle():
            pools = (machines.pool, machines.reference)
            queues = dict(zip(pools, (slowness.queue, slowness.reference_queue), strict=True))
            group = self._submit(queues, ALL_KIND)
            addresses = (*machines.addresses, f"group:{group}")
            forecast = self._forecast(slowness, replace(machines, addresses=addresses))
        return forecast

    def _forecast(self, slowness: Slowness, machines: Machines) -> Forecast:
        addresses = self.options.profile or slowness.profiles
        prices = self.options.prices
        try:
            predictions = predict(self.context, addresses, machines.addresses, prices=prices)
        except ResultError as error:
            raise ResultError(
                f"no run of {self.label} has a profile that can be read ({error}); add to the task "
                "`benchmark: {measure: /builds/worker/workspace}`, run it on "
                f"{slowness.reference}, and give it by --profile task:ID"
            ) from None
        self._keep("prediction", predictions)
        return forecast_of(predictions, machines)

    # --- parts of steps ---

    def _keep(self, name: str, report: "AnyReport") -> None:
        page = rendered(report, "html").encode("utf-8", "replace")
        self.folder.write(f"{name}.html", page)

    def _recent(self, *names: str) -> tuple[str, str] | None:
        """Return the newest group of the index that has results of all these pools, and its day."""
        since = (datetime.now(UTC) - _RECENT).date()
        times: list[dict[str, datetime]] = []
        for name in names:
            try:
                found = history(
                    self.context, name, project=self.options.project, last=_NEWEST, since=since
                )
            except MissingError:
                return None
            points = (point for series in found.series for point in series.points)
            times.append({point.group: point.time for point in points})
        both = set.intersection(*map(set, times))
        newest = max(both, key=lambda group: (times[0][group], group), default=None)
        return None if newest is None else (newest, times[0][newest].date().isoformat())

    def _obstacle(self) -> str:
        """Return why no tasks may be created; nothing where they may."""
        if Access.of(self.task.root_url, self.context.environment).who == "anonymously":
            return "no credentials; sign in (taskcluster signin)"
        if self.options.yes or self.context.is_interactive:
            return ""
        return "creating tasks needs --yes where nobody can be asked; give it"

    def _submission(self, **changes: Any) -> SubmissionOptions:
        options = self.options
        return SubmissionOptions(
            root=options.root,
            owner=options.owner,
            image=options.image or _image_of(self.image),
            prices=options.prices,
            yes=options.yes,
            budget=options.budget,
            **changes,
        )

    def _submit(self, queues: Mapping[str, str], kind: str = "") -> str:
        """Create the benchmark's tasks on these queues; go on with those that exist.

        The usual ones until they decide; of another kind, one per pool.
        """
        jobs = tuple(f"{kind}-{pool}" if kind else pool for pool in queues)
        push = f"git commit --allow-empty --message 'try: -j {','.join(jobs)} --rebuild 3'"
        if obstacle := self._obstacle():
            raise ResultError(f"{obstacle}, or push it and give the push by --on: {push}")
        # A table may name a pool without its provisioner: then the kind's own is used.
        whole = {pool: queue for pool, queue in queues.items() if "/" in queue}
        options = self._submission(jobs=jobs, pool=whole, baseline=[*queues][1])
        options = replace(options, until_decided=not kind, replicates=1 if kind else None)
        if options.image is None:
            raise ResultError("the task has no image for the benchmark; give --image")
        journal = self.folder.journal
        # Before the first task is there: what was stopped has the same group.
        groups: dict[str, str] = {kind: slugid.nice(), **journal.groups}
        self.folder.save(replace(journal, groups=groups))
        try:
            submission.submit(options, self.context, groups[kind])
        except ResultError as error:
            raise ResultError(
                f"{error}; call this again, or push it and give the push by --on: {push}"
            ) from None
        return groups[kind]


def _image_of(image: Any) -> Image | None:
    """Return the image of the task's payload, which anybody may have written; None where it is none."""
    if isinstance(image, str) and image:
        return image
    if isinstance(image, dict) and isinstance(image.get("taskId"), str):
        return {name: word for name, word in image.items() if isinstance(word, str)}
    return None


def _named(queues: Sequence[str], pools: Sequence[str | None], who: str) -> dict[str, str]:
    missing = [queue for queue, pool in zip(queues, pools, strict=True) if pool is None]
    if missing:
        raise ResultError(
            f"{who} no pool {' and '.join(missing)}; add it to kind.yml, measure it, and give the "
            "results by --on"
        )
    return {key: pool or "" for key, pool in zip(("pool", "reference"), pools, strict=True)}
