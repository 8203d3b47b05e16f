# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The action "Confirm the cause": run faster pools once more, and the report after them."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from io_benchmark_taskgraph.group_tasks import REPORT_JOB, Group, GroupAction, GroupTask
from io_benchmark_taskgraph.mistakes import UserMistake
from io_benchmark_taskgraph.paces import Pace, entries_of
from io_benchmark_taskgraph.selection import JOB

logger = logging.getLogger(__name__)

NAME = "io-benchmark-confirm"
TRIALS_VARIABLE, PACE_VARIABLE = "IO_BENCHMARK_TRIALS", "IO_BENCHMARK_PACE"
END = "-confirm"
DESCRIPTION = """\
Run each pool that is faster than another once more, with its copies limited to what the slower pool's
disks can write, then the report. The report then says whether the disks are the cause."""


def _confirm(
    parameters: Any, graph_config: Any, _input: Any, task_group_id: str, _task_id: Any
) -> None:
    group = Group(task_group_id, parameters, graph_config)
    results = group.read_results()
    measured = [
        (task, entry) for task, result in results for entry in entries_of(result)
    ]
    entries = [entry for _, entry in measured]
    if not any(entry.ceiling for entry in entries):
        raise UserMistake(
            f"group {task_group_id}: no result has trials, which confirming needs; "
            "measure again with `trials: auto` or `always` in the kind"
        )
    models = {entry.pool: task for task, entry in reversed(measured) if entry.ceiling}
    # The pool that the newest report compares with, where it names one.
    baseline = group.reports[-1].option("--baseline") if group.reports else None
    waited_for = []
    for pace in Pace.missing(entries, baseline):
        underway = _underway(pace, group.pools)
        if underway is not None:
            waited_for.append(underway.task_id)
            continue
        logger.info("%s once more, at the ceiling of %s", pace.pool, pace.against)
        rate = str(pace.bytes_per_s)
        remark = f"once more, with copies at {rate} bytes/s"
        variables = {TRIALS_VARIABLE: "always", PACE_VARIABLE: rate}
        waited_for.append(group.repeat(models[pace.pool], END, remark, variables))
    if waited_for:
        group.report_after(waited_for)
    else:
        logger.info("nothing to confirm: the runs exist, or no pool needs one")


def _underway(pace: Pace, pools: Sequence[GroupTask]) -> GroupTask | None:
    """Return the task that is not resolved and runs the pool at this pace."""
    for task in pools:
        rate = task.variable(PACE_VARIABLE) or ""
        is_like = rate.isdecimal() and pace.is_like(task.pool, int(rate))
        if is_like and not task.is_resolved:
            return task
    return None


ACTION = GroupAction(
    name=NAME,
    title="Confirm the cause",
    symbol="cc",
    description=DESCRIPTION,
    order=50,
    kinds=(JOB, REPORT_JOB),
    run=_confirm,
)
