# SPDX-License-Identifier: MPL-2.0
"""The action "Measure more workers": as many as the report recommends, then the report again."""

from __future__ import annotations

import logging
from typing import Any

from io_benchmark_taskgraph.group_tasks import REPORT_JOB, Group, GroupAction

logger = logging.getLogger(__name__)

NAME = "io-benchmark-more-workers"
MOST_WORKERS = 100
# More than this need the number in the action's input.
MOST_BY_DEFAULT = 24
DESCRIPTION = """\
Measure more workers of the pools that the report calls inconclusive, as many as it asks for, then run the
report again. Workers that the report does not have yet count as measured."""
SCHEMA = {
    "type": "object",
    "properties": {
        "workers": {
            "type": "integer",
            "minimum": 1,
            "maximum": MOST_WORKERS,
            "title": "More workers per pool",
            "description": "Without it: what the report asks for, up to "
            f"{MOST_BY_DEFAULT}.",
        }
    },
    "additionalProperties": False,
}


def _measure(
    parameters: Any, graph_config: Any, given: Any, task_group_id: str, _task_id: Any
) -> None:
    group = Group(task_group_id, parameters, graph_config)
    report = group.read_report()
    wanted = _wanted(report, (given or {}).get("workers"))
    waited_for = []
    for pool, count in sorted(wanted.items()):
        model = group.model(pool)
        if model is None:
            continue
        # Confirming tasks hold their copies back, and are not compared.
        new = group.new_tasks(pool, confirming=False)
        new += [group.repeat(model) for _ in range(count - len(new))]
        logger.info("%s: %d more workers", pool, len(new))
        waited_for += new
    if waited_for:
        group.report_after(waited_for)
    else:
        logger.info("no more workers: the report calls no comparison inconclusive")


def _wanted(report: Any, given: int | None) -> dict[str, int]:
    """Return how many workers to add per undecided pool, and of its baseline."""
    if given is not None:
        undecided = [
            comparison
            for part in report["subjects"]
            for comparison in part["comparisons"]
            if comparison["verdict"] == "inconclusive"
        ]
        sides = ("candidate", "baseline")
        return {comparison[side]: given for comparison in undecided for side in sides}
    wanted: dict[str, int] = {}
    for row in report["replication"]:
        if row["standing"] == "not by repetition":
            logger.warning(
                "%s: more workers will not decide this, says the report", row["side"]
            )
        elif row["standing"] == "open" and row["workers_to_add"]:
            wanted[row["side"]] = min(row["workers_to_add"], MOST_BY_DEFAULT)
    return wanted


ACTION = GroupAction(
    name=NAME,
    title="Measure more workers",
    symbol="mw",
    description=DESCRIPTION,
    order=51,
    kinds=(REPORT_JOB,),
    run=_measure,
    schema=SCHEMA,
)
