# SPDX-License-Identifier: MPL-2.0
"""The actions "Confirm the cause" and "Measure more workers" of a push's tasks.

A task is repeated by its definition, as the queue has it, so the graph of the decision task is not
needed. All of a group's new tasks depend on the action's task: none runs if the action fails.
"""

from __future__ import annotations

import logging
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import voluptuous
from taskgraph.actions import registry
from taskgraph.actions.util import create_task_from_def
from taskgraph.util import taskcluster

from io_benchmark_taskgraph import report_file
from io_benchmark_taskgraph.parameters import GATE_JOB, JOB
from io_benchmark_taskgraph.payloads import text_of
from io_benchmark_taskgraph.repeating import derived_id, pace, repeated, with_relative_dates
from io_benchmark_taskgraph.versions import task_group

logger = logging.getLogger(__name__)

CONFIRM = "io-benchmark-confirm"
MORE_WORKERS = "io-benchmark-more-workers"
_MOST_AT_ONCE = 24
_MOST_PACES = 6
_CONFIRM_DESCRIPTION = """\
Run each pool that the report calls faster once more, with its copies limited to what the slower
pool's disks can write, then the report. The report then says whether the disks are the cause."""
_MORE_WORKERS_DESCRIPTION = """\
Measure more workers of the pools that the report calls inconclusive, as many as it asks for, then
run the report again. Workers that the report does not have yet count as measured."""
REPORT_JOB = "io-benchmark-report"
REPORT = "public/io-benchmark/report.json"
_RESOLVED = ("completed", "failed", "exception")
_POOL = re.compile(r"(?<!\S)--pool[ =]([A-Za-z0-9][A-Za-z0-9._-]*)(?!\S)")


def register() -> None:
    """Register the actions once per process: a program may load several trees."""
    if CONFIRM in registry.callbacks:
        return
    registry.register_callback_action(
        name=CONFIRM,
        title="Confirm the cause",
        symbol="cc",
        description=_CONFIRM_DESCRIPTION,
        order=50,
        context=[{"kind": JOB}, {"kind": GATE_JOB}, {"kind": REPORT_JOB}],
    )(_confirm)
    registry.register_callback_action(
        name=MORE_WORKERS,
        title="Measure more workers",
        symbol="mw",
        description=_MORE_WORKERS_DESCRIPTION,
        order=51,
        context=[{"kind": REPORT_JOB}],
    )(_measure_more)


def _confirm(
    parameters: Any, graph_config: Any, _input: Any, task_group_id: str, task_id: Any
) -> None:
    group = _Group(task_group_id, parameters, graph_config, task_id)
    confirming = group.report["confirming"]
    paces = confirming["paces"][:_MOST_PACES]
    missing = len(confirming["paces"])
    if missing > _MOST_PACES:
        message = "the first %d of %d missing runs; ask again after the next report"
        logger.warning(message, _MOST_PACES, missing)
    pools = [wish["pool"] for wish in paces]
    underway = {pool: group.new_tasks(pool, confirming=True) for pool in pools}
    dependencies = []
    for pool, wish in zip(pools, paces):
        model = group.model(pool)
        if underway[pool] or model is None:
            dependencies += underway[pool]
            continue
        logger.info("%s once more, at the ceiling of %s", pool, wish["against"])
        dependencies.append(group.repeat(model, wish["bytes_per_s"]))
    if dependencies:
        group.report_after(dependencies)
    elif not paces:
        reasons = " ".join(reason["text"] for reason in confirming["reasons"])
        logger.info("nothing to confirm: %s", reasons)


def _measure_more(
    parameters: Any, graph_config: Any, _input: Any, task_group_id: str, task_id: Any
) -> None:
    group = _Group(task_group_id, parameters, graph_config, task_id)
    dependencies = []
    for row in group.report["replication"]:
        pool, number = row["side"], min(row["workers_to_add"] or 0, _MOST_AT_ONCE)
        if row["standing"] == "not by repetition":
            logger.warning("%s: more workers will not decide this, says the report", pool)
        model = group.model(pool) if number else None
        if model is None:
            continue
        # Confirming tasks hold their copies back, and are not compared.
        new = group.new_tasks(pool, confirming=False)
        new += [group.repeat(model) for _ in range(number - len(new))]
        logger.info("%s: %d more workers", pool, len(new))
        dependencies += new
    if dependencies:
        group.report_after(dependencies)
    else:
        logger.info("no more workers: the report calls no comparison inconclusive")


@dataclass(frozen=True)
class _GroupTask:
    task_id: str
    state: str
    definition: dict[str, Any]

    @property
    def label(self) -> str:
        return str(self.definition["metadata"]["name"])

    @property
    def kind(self) -> str | None:
        kind: str | None = self.definition["tags"].get("kind")
        return kind

    @property
    def pool(self) -> str | None:
        pools: list[str] = _POOL.findall(text_of(self.definition["payload"]))
        return pools[-1] if pools else None

    @property
    def is_confirming(self) -> bool:
        return pace(self.definition) is not None


class _Group:
    """The pools' tasks and the reports of a group, in the order of their creation.

    A click on a report means this report and its repetitions: the group may also have a gate's.
    """

    def __init__(
        self, group_id: str, parameters: Any, graph_config: Any, task_id: str | None
    ) -> None:
        self.group_id, self.parameters, self.graph_config = group_id, parameters, graph_config
        tasks = [
            _GroupTask(answer["status"]["taskId"], answer["status"]["state"], answer["task"])
            for answer in task_group(group_id)
        ]
        benchmark = [task for task in tasks if task.kind in (JOB, GATE_JOB, REPORT_JOB)]
        benchmark.sort(key=lambda task: str(task.definition["created"]))
        self.pools = [task for task in benchmark if task.kind != REPORT_JOB]
        reports = [task for task in benchmark if task.kind == REPORT_JOB]
        clicked = {task.label for task in reports if task.task_id == task_id}
        self.reports = [task for task in reports if not clicked or task.label in clicked]
        self.report, report_task = self._read_report()
        self.read = {worker["task_id"] for worker in self.report["workers"]}
        self.awaited = set(report_task.definition.get("dependencies", []))

    def _read_report(self) -> tuple[Any, _GroupTask]:
        """Return the newest report as data, and its task.

        A task whose expectations are not met has failed, and has a report. Without a report the
        action fails; taskgraph prints a traceback for any other exception.
        """
        for task in reversed(self.reports):
            files = taskcluster.list_artifacts(task.task_id) if task.state in _RESOLVED else []
            # A run may leave an error in an artifact's place.
            if any(file["name"] == REPORT and file["storageType"] != "error" for file in files):
                report = taskcluster.get_artifact(task.task_id, REPORT)
                if report_file.can_be_read(report):
                    return self._checked(report, task), task
        sys.exit(
            f"error: group {self.group_id}: has no report that this action can read; wait for it, "
            f"or compare with: io-benchmark compare group:{self.group_id}"
        )

    def _checked(self, report: Any, task: _GroupTask) -> Any:
        try:
            return report_file.checked(report)
        except voluptuous.Invalid as error:
            path = ".".join(map(str, error.path))
            sys.exit(
                f"error: task {task.task_id}: {REPORT}: {path}: {error.msg}; io-benchmark has not "
                f"written this report; compare with: io-benchmark compare group:{self.group_id}"
            )

    def new_tasks(self, pool: str, *, confirming: bool) -> list[str]:
        """Return the ids of tasks that measure, or have measured, what the report does not have."""
        return [
            task.task_id
            for task in self.pools
            if task.pool == pool
            and task.is_confirming is confirming
            and task.task_id not in self.read | self.awaited
            and task.state not in ("failed", "exception")
        ]

    def model(self, pool: str) -> _GroupTask | None:
        """Return a task of the pool to repeat: one in the report, which confirms nothing."""
        for task in self.pools:
            if task.pool == pool and not task.is_confirming and task.task_id in self.read:
                return task
        logger.warning("%s: the group has no task that the report read", pool)
        return None

    def _create(
        self, definition: dict[str, Any], part: str, dependencies: Sequence[str] = ()
    ) -> str:
        """Create a task after these and the action's; its id follows from the group and `part`."""
        action_id = os.environ.get("TASK_ID")
        if action_id:
            definition["extra"]["parent"] = action_id
            dependencies = [action_id, *dependencies]
        dependencies = [*definition.get("dependencies", []), *dependencies]
        definition["dependencies"] = list(dict.fromkeys(dependencies))
        task_id = derived_id(self.group_id, part)
        level, domain = self.parameters["level"], self.graph_config["trust-domain"]
        create_task_from_def(task_id, definition, level, domain)
        return task_id

    def repeat(self, task: _GroupTask, bytes_per_s: int | None = None) -> str:
        """Create a pool's task once more, with a pace to confirm a cause, and return its id."""
        labels = (existing.label for existing in self.pools)
        made = repeated(task.definition, task.pool or "", labels, bytes_per_s)
        task_id = self._create(made, made["metadata"]["name"])
        self.pools.append(_GroupTask(task_id, "unscheduled", made))
        return task_id

    def report_after(self, task_ids: Sequence[str]) -> None:
        """Create the newest report once more, after these tasks, unless one waits for them."""
        awaited = [set(report.definition.get("dependencies", [])) for report in self.reports]
        if not any(set(task_ids) <= dependencies for dependencies in awaited):
            part = f"{self.reports[-1].label} {len(self.reports)}"
            self._create(with_relative_dates(self.reports[-1].definition), part, task_ids)
