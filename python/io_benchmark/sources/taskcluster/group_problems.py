# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Why a group has none of the benchmark's tasks, or perhaps not all of them.

Tasks come into a group by its decision task and by actions (retrigger, add new jobs), which are
tasks of the group themselves. A group that `submit` made has neither.
"""

from collections.abc import Sequence

from io_benchmark.sources.taskcluster.addresses import group_url, task_url
from io_benchmark.sources.taskcluster.run_choice import how_the_task_ended
from io_benchmark.sources.taskcluster.tasks import KINDS, QueueTask
from io_benchmark.text import clean_name


def explain_no_benchmark(root_url: str, group_id: str, members: Sequence[QueueTask]) -> str:
    """Why none of the members is the benchmark's, and what to do."""
    kinds = " or ".join(KINDS)
    decisions = [one for one in members if one.is_decision]
    creating = [one for one in members if one.adds_tasks and not one.status.is_resolved]
    if creating:
        return f"has no task of kind {kinds} yet: {_unfinished(root_url, creating[0])}"
    failed = [one for one in decisions if one.status.state != "completed"]
    if failed and len(failed) == len(decisions):
        return f"has no task of kind {kinds}: {_failed(root_url, failed[-1])}"
    count = len(members)
    tasks = "its only task is not" if count == 1 else f"none of its {count} tasks is"
    why = "it has no decision task: check the id"
    if decisions:
        why = (
            "its decision task has completed: the push did not select the benchmark; push again "
            "and select it, or add its tasks with the action add-new-jobs"
        )
    return f"{tasks} of kind {kinds}, and {why} ({group_url(root_url, group_id)})"


def explain_incomplete(root_url: str, members: Sequence[QueueTask]) -> list[str]:
    """What may add tasks later, and decision tasks that may have added too few."""
    found = [
        _unfinished(root_url, one)
        for one in members
        if one.adds_tasks and not one.status.is_resolved
    ]
    decisions = [one for one in members if one.is_decision and one.status.is_resolved]
    if decisions and all(one.status.state != "completed" for one in decisions):
        found += [f"{_failed(root_url, one)}; tasks may be missing" for one in decisions[-1:]]
    return found


def _unfinished(root_url: str, task: QueueTask) -> str:
    what = "creates the group's tasks" if task.is_decision else "may add tasks"
    return (
        f"{task.label} is still {clean_name(task.status.state)} and {what}; read the group again later, "
        f"or wait with compare --wait MINUTES ({task_url(root_url, task.task_id)})"
    )


def _failed(root_url: str, task: QueueTask) -> str:
    where = task_url(root_url, task.task_id)
    return f"its decision task {how_the_task_ended(task)}; look at it ({where})"
