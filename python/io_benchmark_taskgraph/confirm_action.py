# SPDX-License-Identifier: MPL-2.0
"""The action "Confirm the cause": run faster pools once more, and the report after them."""

from __future__ import annotations

import logging
from typing import Any

from io_benchmark_taskgraph.group_tasks import REPORT_JOB, Group, GroupAction
from io_benchmark_taskgraph.selection import JOB

logger = logging.getLogger(__name__)

NAME = "io-benchmark-confirm"
DESCRIPTION = """\
Run each pool that the report calls faster once more, with its copies limited to what the slower pool's
disks can write, then the report. The report then says whether the disks are the cause."""


def _confirm(
    parameters: Any, graph_config: Any, _input: Any, task_group_id: str, _task_id: Any
) -> None:
    group = Group(task_group_id, parameters, graph_config)
    report = group.read_report()
    confirming = report["confirming"]
    pools = {pace["pool"] for pace in confirming["paces"]}
    underway = {pool: group.new_tasks(pool, confirming=True) for pool in pools}
    waited_for = []
    for pace in confirming["paces"]:
        pool = pace["pool"]
        model = group.model(pool)
        if underway[pool] or model is None:
            waited_for += underway[pool]
            continue
        logger.info("%s once more, at the ceiling of %s", pool, pace["against"])
        waited_for.append(group.repeat(model, pace["bytes_per_s"]))
    if waited_for:
        group.report_after(waited_for)
    elif not confirming["paces"]:
        reasons = " ".join(reason["text"] for reason in confirming["reasons"])
        logger.info("nothing to confirm: %s", reasons)


ACTION = GroupAction(
    name=NAME,
    title="Confirm the cause",
    symbol="cc",
    description=DESCRIPTION,
    order=50,
    kinds=(JOB, REPORT_JOB),
    run=_confirm,
)
