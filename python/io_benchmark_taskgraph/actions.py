# SPDX-License-Identifier: MPL-2.0
"""The actions on a push's group: "Confirm the cause" and "Measure more workers"."""

from __future__ import annotations

import logging
from typing import Any

from taskgraph.actions import registry

from io_benchmark_taskgraph.group_tasks import REPORT_JOB, Group
from io_benchmark_taskgraph.selection import JOB

logger = logging.getLogger(__name__)

CONFIRM = "io-benchmark-confirm"
MORE_WORKERS = "io-benchmark-more-workers"
MOST_WORKERS = 100
# More than this need the number in the action's input.
MOST_BY_DEFAULT = 24
CONFIRM_DESCRIPTION = """\
Run each pool that the report calls faster once more, with its copies limited to what the slower pool's
disks can write, then the report. The report then says whether the disks are the cause."""
MORE_WORKERS_DESCRIPTION = """\
Measure more workers of the pools that the report calls inconclusive, as many as it asks for, then run the
report again. Workers that the report does not have yet count as measured."""
MORE_WORKERS_SCHEMA = {
    "type": "object",
    "properties": {
        "workers": {
            "type": "integer",
            "minimum": 1,
            "maximum": MOST_WORKERS,
            "title": "More workers per pool",
            "description": f"Without it: what the report asks for, up to {MOST_BY_DEFAULT}.",
        }
    },
    "additionalProperties": False,
}


def register() -> None:
    """Register the actions once per process: a program may load several trees."""
    if CONFIRM in registry.callbacks:
        return
    registry.register_callback_action(
        name=CONFIRM,
        title="Confirm the cause",
        symbol="cc",
        description=CONFIRM_DESCRIPTION,
        order=50,
        context=[{"kind": JOB}, {"kind": REPORT_JOB}],
    )(_confirm)
    registry.register_callback_action(
        name=MORE_WORKERS,
        title="Measure more workers",
        symbol="mw",
        description=MORE_WORKERS_DESCRIPTION,
        order=51,
        context=[{"kind": REPORT_JOB}],
        schema=MORE_WORKERS_SCHEMA,
    )(_measure_more)


def _confirm(
    parameters: Any, graph_config: Any, _input: Any, task_group_id: str, _task_id: Any
) -> None:
    group = Group(task_group_id, parameters, graph_config)
    confirming = group.read_report()["confirming"]
    pools = {pace["pool"] for pace in confirming["paces"]}
    underway = {pool: group.new_tasks(pool, confirming=True) for pool in pools}
    dependencies = []
    for pace in confirming["paces"]:
        pool = pace["pool"]
        model = group.model(pool)
        if underway[pool] or model is None:
            dependencies += underway[pool]
            continue
        logger.info("%s once more, at the ceiling of %s", pool, pace["against"])
        dependencies.append(group.repeat(model, pace["bytes_per_s"]))
    if dependencies:
        group.report_after(dependencies)
    elif not confirming["paces"]:
        reasons = " ".join(reason["text"] for reason in confirming["reasons"])
        logger.info("nothing to confirm: %s", reasons)


def _measure_more(
    parameters: Any, graph_config: Any, given: Any, task_group_id: str, _task_id: Any
) -> None:
    group = Group(task_group_id, parameters, graph_config)
    numbers = _workers_to_add(group.read_report(), (given or {}).get("workers"))
    dependencies = []
    for pool, number in sorted(numbers.items()):
        model = group.model(pool)
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


def _workers_to_add(report: Any, number: int | None) -> dict[str, int]:
    """Return how many workers to add per undecided pool, and of its baseline."""
    if number is not None:
        return {
            comparison[side]: number
            for subject in report["subjects"]
            for comparison in subject["comparisons"]
            if comparison["verdict"] == "inconclusive"
            for side in ("candidate", "baseline")
        }
    numbers: dict[str, int] = {}
    for row in report["replication"]:
        if row["standing"] == "not by repetition":
            logger.warning("%s: more workers will not decide this, says the report", row["side"])
        elif row["standing"] == "open" and row["workers_to_add"]:
            numbers[row["side"]] = min(row["workers_to_add"], MOST_BY_DEFAULT)
    return numbers
