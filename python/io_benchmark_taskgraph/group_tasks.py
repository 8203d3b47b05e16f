# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The benchmark's tasks of a group, for actions: read their results, repeat them, report anew.

A task is repeated by its definition, as the queue has it, so the graph of the decision task is not
needed. All of a group's new tasks depend on the action's task: none runs if the action fails.
"""

from __future__ import annotations

import base64
import copy
import hashlib
import logging
import os
import re
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from taskgraph.actions.util import create_task_from_def, relativize_datestamps
from taskgraph.util import taskcluster

from io_benchmark_taskgraph.selection import JOB

logger = logging.getLogger(__name__)

REPORT_JOB = "io-benchmark-report"
RESULT = "public/io-benchmark/io-benchmark.json"
_POOL = re.compile(r"(?<!\S)--pool[ =]([A-Za-z0-9][A-Za-z0-9._-]*)(?!\S)")
_SYMBOL_LENGTH = 25  # Treeherder's limit


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
        found = _POOL.findall(" ".join(self._command()))
        return found[-1] if found else None

    @property
    def job(self) -> str:
        """Return the label without what was added: a replicate's number, `-confirm`."""
        pool = re.escape(self.pool or "")
        match = re.fullmatch(rf"(.+?-{pool})(-confirm)?(-[0-9]+)?", self.label)
        return match[1] if pool and match else self.label

    def variable(self, name: str) -> str | None:
        value = self.definition["payload"].get("env", {}).get(name)
        return value if isinstance(value, str) else None

    def option(self, name: str) -> str | None:
        """Return the value of an option in the command."""
        found = re.findall(rf"(?<!\S){name}[ =]'?([^\s']+)", " ".join(self._command()))
        return found[-1] if found else None

    def _command(self) -> list[str]:
        words = self.definition["payload"].get("command", [])
        return [word for word in words if isinstance(word, str)]


def list_group(group_id: str) -> list[GroupTask]:
    """Return the pools' tasks and the reports of a group, in the order of their creation."""
    answers: list[dict[str, Any]] = []

    def add_page(page: dict[str, Any]) -> None:
        answers.extend(page["tasks"])

    queue = taskcluster.get_taskcluster_client("queue")
    queue.listTaskGroup(group_id, paginationHandler=add_page)
    tasks = [
        GroupTask(each["status"]["taskId"], each["status"]["state"], each["task"])
        for each in answers
    ]
    mine = [task for task in tasks if task.kind in (JOB, REPORT_JOB)]
    return sorted(mine, key=lambda task: str(task.definition["created"]))


def read_results(tasks: Iterable[GroupTask]) -> list[tuple[GroupTask, Any]]:
    """Return the result files of the completed tasks that have one."""
    results = []
    for task in tasks:
        if task.state != "completed":
            continue
        artifacts = taskcluster.list_artifacts(task.task_id)
        kinds = {each["name"]: each["storageType"] for each in artifacts}
        if kinds.get(RESULT, "error") == "error":
            logger.warning("%s (%s) has no result", task.label, task.task_id)
            continue
        results.append((task, taskcluster.get_artifact(task.task_id, RESULT)))
    return results


def repeat(
    task: GroupTask, end: str, remark: str, variables: dict[str, str]
) -> dict[str, Any]:
    """Return a pool's task once more: another name, a remark, and some variables.

    The routes of the index are left out: they name the pool's usual results.
    """
    made = _copy(task)
    label = task.job + end
    made["metadata"]["name"] = label
    made["metadata"]["description"] += f"; {remark}"
    if "label" in made["tags"]:
        made["tags"]["label"] = label
    made["payload"]["env"] = {**made["payload"].get("env", {}), **variables}
    routes = made.get("routes", [])
    made["routes"] = [route for route in routes if not route.startswith("index.")]
    treeherder = made["extra"].get("treeherder", {})
    if "symbol" in treeherder:
        symbol = treeherder["symbol"].removesuffix(task.label[len(task.job) :])
        treeherder["symbol"] = symbol[: _SYMBOL_LENGTH - len(end)] + end
    return made


def report_after(
    tasks: Sequence[GroupTask],
    waited_for: Sequence[str],
    parameters: Any,
    graph_config: Any,
) -> None:
    """Create the newest report once more, after these tasks, unless one waits for them."""
    reports = [task for task in tasks if task.kind == REPORT_JOB]
    if not reports:
        logger.info("no report here; use: io-benchmark compare group:ID")
        return
    dependencies = [report.definition.get("dependencies", []) for report in reports]
    if any(set(waited_for) <= set(known) for known in dependencies):
        return
    made = _copy(reports[-1])
    made["dependencies"] = list(dict.fromkeys([*made["dependencies"], *waited_for]))
    create(made, f"{reports[-1].label} {len(reports)}", parameters, graph_config)


def create(
    definition: dict[str, Any], part: str, parameters: Any, graph_config: Any
) -> str:
    """Create a task and return its id, which follows from the group and `part`."""
    task_id = derived_id(definition["taskGroupId"], part)
    level, trust_domain = parameters["level"], graph_config["trust-domain"]
    create_task_from_def(task_id, definition, level, trust_domain)
    return task_id


def derived_id(group_id: str, part: str) -> str:
    """Return the same id as `io-benchmark submit`, so that no task is created twice."""
    digest = hashlib.sha256(f"io-benchmark {group_id} {part}".encode()).digest()
    made = uuid.UUID(bytes=bytes([digest[0] & 0x7F, *digest[1:16]]), version=4)
    return base64.urlsafe_b64encode(made.bytes).decode().rstrip("=")


def _copy(task: GroupTask) -> dict[str, Any]:
    made: dict[str, Any] = relativize_datestamps(copy.deepcopy(task.definition))
    made.pop("taskQueueId", None)  # the queue makes it of the two names of the pool
    action_id = os.environ.get("TASK_ID")
    if action_id:
        made["extra"]["parent"] = action_id
        made["dependencies"] = [*made.get("dependencies", []), action_id]
    return made
