# SPDX-License-Identifier: MPL-2.0
"""All transforms in their order, for a project whose kind `io-benchmark` names one line."""

from dataclasses import replace
from typing import Any

from taskgraph.task import Task
from taskgraph.transforms import run, task
from taskgraph.transforms.base import TransformSequence

from io_benchmark_taskgraph.loader import merged_defaults
from io_benchmark_taskgraph.transforms import Tasks, benchmark, command, index, report

REPORT_KIND = "io-benchmark-report"
_measured = TransformSequence([
    *(part.transforms for part in (benchmark, command, index, run, task)),
    index.ranks,
])
_compared = TransformSequence([part.transforms for part in (report, run, task)])


def _with_report(config: Any, tasks: Tasks) -> Tasks:
    """Yield the pools' tasks, and the report's as a kind that depends on this one would make it.

    `report` in kind.yml has what differs for the report's task; it runs on the first pool by
    default.
    """
    described = list(tasks)
    measuring = {}
    for pool in _measured(config, iter(described)):
        fields = {key: pool[key] for key in ("label", "description", "attributes", "task")}
        measuring[pool["label"]] = Task(config.kind, **fields)
        yield pool
    if measuring:
        worker_type = described[0].get("worker-type")
        own = {"worker-type": worker_type, **config.config.get(report.STANZA, {})}
        kind = replace(config, kind=REPORT_KIND, config={}, kind_dependencies_tasks=measuring)
        yield from _compared(kind, iter([{"name": "report", **merged_defaults(REPORT_KIND, own)}]))


def _build_on_demand(_config: Any, tasks: Tasks) -> Tasks:
    """Build an image only if a selected task runs in it: nearly every push changes the report's."""
    for image in tasks:
        image["always-target"] = False
        yield image


pools = TransformSequence([_with_report])
images = TransformSequence([_build_on_demand])
