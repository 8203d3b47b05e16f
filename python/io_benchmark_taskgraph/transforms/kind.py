# SPDX-License-Identifier: MPL-2.0
"""All transforms in their order, for a project whose kind `io-benchmark` names one line."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from taskgraph.task import Task
from taskgraph.transforms import run, task
from taskgraph.transforms.base import TransformSequence

from io_benchmark_taskgraph.engines import first_with_images
from io_benchmark_taskgraph.loader import merged_defaults
from io_benchmark_taskgraph.transforms import Tasks, benchmark, command, index, report

REPORT_KIND = "io-benchmark-report"
_measured = TransformSequence([
    *(part.transforms for part in (benchmark, command, index, run, task)),
    command.mounts,
    index.ranks,
])
_compared = TransformSequence([part.transforms for part in (report, run, task)])


def _pools_with_report(config: Any, tasks: Tasks) -> Tasks:
    """Yield the tasks of the pools and of the report.

    `report` in kind.yml has what differs for the report's task. By default it runs on the first
    pool with docker, because it needs an image.
    """
    described = list(tasks)
    aliases = [pool.get("worker-type") for pool in described]
    worker_type = first_with_images(config.graph_config, aliases)
    own = {"worker-type": worker_type, **config.config.get(report.STANZA, {})}
    yield from with_report(config, described, _measured, merged_defaults(REPORT_KIND, own))


def with_report(
    config: Any,
    pools: Sequence[dict[str, Any]],
    measured: TransformSequence,
    report_task: dict[str, Any],
) -> Tasks:
    """Yield the pools' tasks, and the report's as a kind that depends on this one would make it."""
    measuring = {}
    for pool in measured(config, iter(pools)):
        fields = {key: pool[key] for key in ("label", "description", "attributes", "task")}
        measuring[pool["label"]] = Task(config.kind, **fields)
        yield pool
    if measuring:
        kind = replace(config, kind=REPORT_KIND, config={}, kind_dependencies_tasks=measuring)
        yield from _compared(kind, iter([{"name": "report", **report_task}]))


def _build_on_demand(_config: Any, tasks: Tasks) -> Tasks:
    """Build an image only if a selected task runs in it: nearly every push changes the report's."""
    for image in tasks:
        image["always-target"] = False
        yield image


pools = TransformSequence([_pools_with_report])
images = TransformSequence([_build_on_demand])
