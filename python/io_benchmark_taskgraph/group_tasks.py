# SPDX-License-Identifier: MPL-2.0
"""The benchmark's tasks of a group, for actions: read their results, repeat them and the report.

A task is repeated by its definition, as the queue has it, so the graph of the decision task is not
needed. All of a group's new tasks depend on the action's task: none runs if the action fails.
"""

from __future__ import annotations

import logging
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from taskgraph.actions.util import create_task_from_def
from taskgraph.util import taskcluster

from io_benchmark_taskgraph.repeating import (
    CONFIRMING,
    derived_id,
    job_of,
    new_label,
    pace,
    repeated,
    with_relative_dates,
)
from io_benchmark_taskgraph.selection import JOB

logger = logging.getLogger(__name__)

REPORT_JOB = "io-benchmark-report"
REPORT = "public/io-benchmark/report.json"
REPORT_VERSION = 4
_POOL = re.compile(r"(?<!\S)--pool[ =]([A-Za-z0-9][A-Za-z0-9._-]*)(?!\S)")


@dataclass(frozen=True)
class GroupTask:
    """A task of a group, by the queue's answer."""

    task_id: str
    state: str
    definition: dict[str, Any]

    @property
    def kind(self) -> str:
        return str(self.definition["tags"].get("kind", ""))

    @property
    def label(self) -> str:
        return str(self.definition["metadata"]["name"])

    @property
    def is_resolved(self) -> bool:
        return self.state in ("completed", "failed", "exception")

    @property
    def pool(self) -> str | None:
        """Return the pool that the command names."""
        words = self.definition["payload"].get("command", [])
        command = " ".join(word for word in words if isinstance(word, str))
        pools: list[str] = _POOL.findall(command)
        return pools[-1] if pools else None

    @property
    def job(self) -> str:
        """Return the label without a replicate's number and `-confirm`."""
        return (self.pool and job_of(self.label, self.pool)) or self.label

    @property
    def is_confirming(self) -> bool:
        return pace(self.definition) is not None


@dataclass
class Group:
    """The pools' tasks and the reports of a group, in the order of their creation."""

    group_id: str
    parameters: Any
    graph_config: Any
    pools: list[GroupTask] = field(default_factory=list)
    reports: list[GroupTask] = field(default_factory=list)
    read: set[str] = field(default_factory=set)  # ids of the tasks that the report has
    awaited: set[str] = field(default_factory=set)  # and of those that it waited for

    def __post_init__(self) -> None:
        answers: list[dict[str, Any]] = []

        def add_page(page: dict[str, Any]) -> None:
            answers.extend(page["tasks"])

        queue = taskcluster.get_taskcluster_client("queue")
        queue.listTaskGroup(self.group_id, paginationHandler=add_page)
        for answer in answers:
            status = answer["status"]
            task = GroupTask(status["taskId"], status["state"], answer["task"])
            if task.kind == JOB:
                self.pools.append(task)
            elif task.kind == REPORT_JOB:
                self.reports.append(task)
        for tasks in (self.pools, self.reports):
            tasks.sort(key=lambda task: str(task.definition["created"]))

    def read_report(self) -> Any:
        """Return the newest report as data; one whose expectations are not met has failed.

        Without one the action fails; taskgraph prints a traceback for any other exception.
        """
        for task in reversed(self.reports):
            if task.is_resolved and _has(task, REPORT):
                report = taskcluster.get_artifact(task.task_id, REPORT)
                if report["version"] == REPORT_VERSION:
                    self.read = {worker["task_id"] for worker in report["workers"]}
                    self.awaited = set(task.definition.get("dependencies", []))
                    return report
        sys.exit(
            f"error: group {self.group_id}: has no report that this action can read; wait for it, or "
            f"compare with: io-benchmark compare group:{self.group_id}"
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

    def model(self, pool: str) -> GroupTask | None:
        """Return a task of the pool to repeat: one that the report has, and that confirms nothing."""
        for task in self.pools:
            is_usual = task.pool == pool and not task.is_confirming
            if is_usual and task.task_id in self.read:
                return task
        logger.warning("%s: the group has no task that the report read", pool)
        return None

    def _create(self, definition: dict[str, Any], part: str) -> str:
        """Create a task and return its id, which follows from the group and `part`."""
        task_id = derived_id(self.group_id, part)
        level, domain = self.parameters["level"], self.graph_config["trust-domain"]
        create_task_from_def(task_id, definition, level, domain)
        return task_id

    def repeat(self, task: GroupTask, bytes_per_s: int | None = None) -> str:
        """Create a pool's task once more, with a pace to confirm a cause, and return its id."""
        end = "" if bytes_per_s is None else CONFIRMING
        labels = (existing.label for existing in self.pools)
        label = new_label(task.job, labels, end)
        made = repeated(task.definition, task.job, label, bytes_per_s)
        task_id = self._create(_after_action(made), label)
        self.pools.append(GroupTask(task_id, "unscheduled", made))
        return task_id

    def report_after(self, task_ids: Sequence[str]) -> None:
        """Create the newest report once more, after these tasks, unless one waits for them."""
        reports = [report.definition for report in self.reports]
        if any(set(task_ids) <= set(report.get("dependencies", [])) for report in reports):
            return
        made = _after_action(with_relative_dates(reports[-1]))
        made["dependencies"] = list(dict.fromkeys([*made["dependencies"], *task_ids]))
        self._create(made, f"{self.reports[-1].label} {len(self.reports)}")


def _has(task: GroupTask, name: str) -> bool:
    """Return whether the newest run left the artifact, and not an error in its place."""
    artifacts = taskcluster.list_artifacts(task.task_id)
    kinds = {artifact["name"]: artifact["storageType"] for artifact in artifacts}
    return bool(kinds.get(name, "error") != "error")


def _after_action(definition: dict[str, Any]) -> dict[str, Any]:
    """Let the task depend on the action's task, if this runs in one."""
    action_id = os.environ.get("TASK_ID")
    if action_id:
        definition["extra"]["parent"] = action_id
        dependencies = definition.get("dependencies", [])
        definition["dependencies"] = [*dependencies, action_id]
    return definition
