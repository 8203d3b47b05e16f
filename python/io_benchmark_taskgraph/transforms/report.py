# SPDX-License-Identifier: MPL-2.0
"""Run the report's task after the pools' tasks, also if these fail, and set its command."""

from typing import Any

from taskgraph.transforms.base import TransformSequence

from io_benchmark_taskgraph import deadlines
from io_benchmark_taskgraph.mistakes import BadKeyError, in_task
from io_benchmark_taskgraph.report_stanza import STANZA, ReportSettings
from io_benchmark_taskgraph.selection import POOL_ATTRIBUTE
from io_benchmark_taskgraph.transforms import Tasks


def _settings(task: dict[str, Any], pools: dict[str, str]) -> ReportSettings:
    if task.get("label") in pools:
        text = f"{task['label']} is a pool's task already; give the pool another name"
        raise BadKeyError("label", text)
    stanza = task.pop(STANZA, None)
    settings = ReportSettings.parse(stanza, list(pools.values()))
    settings.check_time(task.get("worker", {}).get("max-run-time"))
    return settings


def _make_report(config: Any, tasks: Tasks) -> Tasks:
    measuring = [
        task
        for task in config.kind_dependencies_tasks.values()
        if POOL_ATTRIBUTE in task.attributes
    ]
    pools = {task.label: task.attributes[POOL_ATTRIBUTE] for task in measuring}
    for task in tasks:
        with in_task(config, task):
            settings = _settings(task, pools)
            deadlines.set_times(task, measuring)
        # Soft dependencies select no other pools. The report also runs after pools that failed, and names them.
        task["soft-dependencies"] = sorted(pools)
        task["requires"] = "all-resolved"
        task.setdefault("run", {})["command"] = settings.command()
        yield task


transforms = TransformSequence()
transforms.add(_make_report)
