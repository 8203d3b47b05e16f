# SPDX-License-Identifier: MPL-2.0
"""Explain why a group has none of the benchmark's tasks, or perhaps not all of them.

The decision task and actions (retrigger, add new jobs) add tasks to a group. Both are tasks of the
group themselves. A group that `submit` created has neither.
"""

from collections.abc import Sequence

from msgspec import Struct

from io_benchmark.sources.taskcluster.addresses import GroupAddress, TaskAddress
from io_benchmark.sources.taskcluster.tasks import KINDS, QueueTask
from io_benchmark.text import clean_name


class GroupProblems(Struct, frozen=True):
    """The problems of a group with these members."""

    root_url: str
    members: Sequence[QueueTask]

    def no_benchmark(self, group_id: str) -> str:
        """Explain why no member is the benchmark's, and what to do."""
        kinds = " or ".join(KINDS)
        decisions = [task for task in self.members if task.is_decision]
        creating = [
            task for task in self.members if task.adds_tasks and not task.status.is_resolved
        ]
        if creating:
            return f"has no task of kind {kinds} yet: {self._unfinished(creating[0])}"
        failed = [task for task in decisions if task.status.state != "completed"]
        if failed and len(failed) == len(decisions):
            return f"has no task of kind {kinds}: {self._failed(failed[-1])}"
        count = len(self.members)
        tasks = "its only task is not" if count == 1 else f"none of its {count} tasks is"
        why = "it has no decision task: check the id"
        if decisions:
            why = (
                "its decision task has completed: the push did not select the benchmark; push again "
                "and select it, or add its tasks with the action add-new-jobs"
            )
        return f"{tasks} of kind {kinds}, and {why} ({GroupAddress(self.root_url, group_id).url})"

    def incomplete(self) -> list[str]:
        """Name members that may still add tasks, and decision tasks that may have added too few."""
        lines = [
            self._unfinished(task)
            for task in self.members
            if task.adds_tasks and not task.status.is_resolved
        ]
        decisions = [task for task in self.members if task.is_decision and task.status.is_resolved]
        if decisions and all(task.status.state != "completed" for task in decisions):
            lines += [f"{self._failed(task)}; tasks may be missing" for task in decisions[-1:]]
        return lines

    def _unfinished(self, task: QueueTask) -> str:
        what = "creates the group's tasks" if task.is_decision else "may add tasks"
        return (
            f"{task.label} is still {clean_name(task.status.state)} and {what}; read the group again later, "
            f"or wait with compare --wait MINUTES ({TaskAddress(self.root_url, task.task_id).url})"
        )

    def _failed(self, task: QueueTask) -> str:
        where = TaskAddress(self.root_url, task.task_id).url
        return f"its decision task {task.ending}; look at it ({where})"
