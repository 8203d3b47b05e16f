# SPDX-License-Identifier: MPL-2.0
"""Where tasks and task groups are on the deployment that their results were read from.

Anyone's task can have written an id: a link has only what has the form of one.
"""

import re

from io_benchmark.analysis.model.run import WorkerLine
from io_benchmark.results.format import SLUG_PATTERN

# The source of a result that a deployment had
_TASK = re.compile(
    rf"(?P<root>https?://[A-Za-z0-9.-]+(:[0-9]+)?)/tasks/(?P<task>{SLUG_PATTERN})(/runs/[0-9]+)?",
    re.ASCII,
)


def task_link(run: WorkerLine) -> str:
    """Return the address of a run's task, or of its job on another CI system; else nothing."""
    if run.url:
        return run.url
    source = _TASK.fullmatch(run.source)
    return run.source if source is not None and source["task"] == run.task_id else ""


def address_link(address: str) -> str:
    """Return the address of a result, if it is one of a task on a deployment; else nothing."""
    return address if _TASK.fullmatch(address) else ""


def task_name(link: str) -> str:
    """Return 'task TASKID' for the address of one."""
    task = _TASK.fullmatch(link)
    return f"task {task['task']}" if task is not None else link


def group_link(run: WorkerLine) -> str:
    """Return the address of the group of a run's task; nothing where that is not known."""
    source = _TASK.fullmatch(run.source)
    if source is None or not run.group_id or not re.fullmatch(SLUG_PATTERN, run.group_id):
        return ""
    return f"{source['root']}/tasks/groups/{run.group_id}"
