# SPDX-License-Identifier: MPL-2.0
"""Run the report's task after the pools' tasks, also if these fail, and set its command and deadline.

If no worker takes a task, the queue resolves it at its deadline. Only then does the report become pending.
With the same deadline, the report would be resolved at the same moment, without having run.
"""

from collections.abc import Sequence
from typing import Any

from taskgraph.transforms.base import TransformSequence
from taskgraph.util.time import value_of

from io_benchmark_taskgraph.mistakes import BadKeyError, in_task, quoted
from io_benchmark_taskgraph.parameters import POOL_ATTRIBUTE
from io_benchmark_taskgraph.report_stanza import STANZA, ReportSettings
from io_benchmark_taskgraph.transforms import Tasks

DEADLINE = "deadline-after"
EXPIRES = "expires-after"
# For the steps after waiting: reading results, comparing, drawing, uploading.
MARGIN_S = 600
_MINUTE_S = 60
_DAY_S = 24 * 60 * _MINUTE_S
# taskgraph's own default for a task: how long it may wait for a worker, and run.
OWN_TIME_S = _DAY_S
# The queue looks for tasks past their deadline some minutes later.
RESOLVING_S = 20 * _MINUTE_S
# The queue refuses a later deadline.
LATEST_S = 5 * _DAY_S


def _check_time(settings: ReportSettings, max_run_time_s: object) -> None:
    """Refuse a limit that is too short: a task that is stopped at its limit uploads nothing."""
    key = "worker.max-run-time"
    if isinstance(max_run_time_s, bool) or not isinstance(max_run_time_s, int):
        problem = "is not a number of seconds; write one such as 3600"
        raise BadKeyError(key, f"{quoted(max_run_time_s)} {problem}")
    needed_s = settings.wait_minutes * _MINUTE_S + MARGIN_S
    if max_run_time_s < needed_s:
        raise BadKeyError(
            key,
            f"{max_run_time_s} does not hold {settings.wait_minutes} minutes of waiting and "
            f"{MARGIN_S} s for the rest; raise it to {needed_s} or lower {STANZA}.wait-minutes",
        )


def _seconds(length: str) -> int:
    return int(value_of(length).total_seconds())


def _set_times(task: dict[str, Any], pools: Sequence[Any]) -> None:
    """Set the report's `deadline-after` and `expires-after` by those of the pools' tasks.

    Check `worker.max-run-time` before; it includes the minutes of waiting.
    """
    own_s = max(OWN_TIME_S, RESOLVING_S + task["worker"]["max-run-time"])
    deadlines = [pool.task["deadline"]["relative-datestamp"] for pool in pools]
    deadline_s = max(map(_seconds, deadlines)) + own_s
    if deadline_s > LATEST_S:
        raise BadKeyError(
            DEADLINE,
            f"{deadline_s} seconds are more than the queue accepts, {LATEST_S}; lower {DEADLINE} of "
            "the pools' tasks",
        )
    earliest = min((pool.task["expires"]["relative-datestamp"] for pool in pools), key=_seconds)
    # The queue refuses a task that expires before its deadline, or whose dependency does.
    if _seconds(earliest) < deadline_s:
        raise BadKeyError(
            EXPIRES,
            f"a pool's task expires after {earliest}, before the report's deadline of {deadline_s} "
            f"seconds; raise {EXPIRES} of that task",
        )
    task[DEADLINE], task[EXPIRES] = f"{deadline_s} seconds", earliest


def _make_report(config: Any, tasks: Tasks) -> Tasks:
    measuring = [
        task
        for task in config.kind_dependencies_tasks.values()
        if POOL_ATTRIBUTE in task.attributes
    ]
    pools = {task.label: task.attributes[POOL_ATTRIBUTE] for task in measuring}
    for task in tasks:
        with in_task(config, task):
            if task.get("label") in pools:
                problem = "is a pool's task already; give the pool another name"
                raise BadKeyError("label", f"{task['label']} {problem}")
            settings = ReportSettings.parse(task.pop(STANZA, None), list(pools.values()))
            _check_time(settings, task.get("worker", {}).get("max-run-time"))
            _set_times(task, measuring)
        # Soft dependencies select no other pools. The report also runs after pools that failed, and names them.
        task["soft-dependencies"] = sorted(pools)
        task["requires"] = "all-resolved"
        task.setdefault("run", {})["command"] = settings.command()
        yield task


transforms = TransformSequence()
transforms.add(_make_report)
