# SPDX-License-Identifier: MPL-2.0
"""Run the report's task after the pools' tasks, also if these fail, and set its command and deadline.

If no worker takes a task, the queue resolves it at its deadline. Only then does the report become pending.
With the same deadline, the report would be resolved at the same moment, without having run.
"""

from collections.abc import Sequence
from typing import Any

from taskgraph.transforms.base import TransformSequence
from taskgraph.util.time import InvalidString, UnknownTimeMeasurement, value_of

from io_benchmark_taskgraph.mistakes import BadKeyError, in_task, quoted
from io_benchmark_taskgraph.report_stanza import STANZA, ReportSettings
from io_benchmark_taskgraph.selection import POOL_ATTRIBUTE
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
_UNITS = (("day", _DAY_S), ("hour", 60 * _MINUTE_S), ("minute", _MINUTE_S), ("second", 1))


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


def _length(seconds: int) -> str:
    """Write a length of time as taskgraph reads it: one number and one unit."""
    name, unit_s = next(unit for unit in _UNITS if seconds % unit[1] == 0)
    number = seconds // unit_s
    return f"{number} {name}{'' if number == 1 else 's'}"


def _seconds(key: str, length: object) -> int:
    try:
        return int(value_of(length).total_seconds())
    except (InvalidString, UnknownTimeMeasurement, TypeError, ValueError):
        problem = "is not a length of time; write one such as 2 days"
        raise BadKeyError(key, f"{quoted(length)} {problem}") from None


def _set_times(task: dict[str, Any], pools: Sequence[Any]) -> None:
    """Set the report's `deadline-after` and `expires-after`, or check given ones.

    Check `worker.max-run-time` before; it includes the minutes of waiting.
    """
    deadlines = [pool.task["deadline"]["relative-datestamp"] for pool in pools]
    pools_s = max(_seconds(DEADLINE, length) for length in deadlines)
    needed_s = pools_s + RESOLVING_S + task["worker"]["max-run-time"]
    task.setdefault(DEADLINE, _length(max(needed_s, pools_s + OWN_TIME_S)))
    deadline_s = _seconds(DEADLINE, task[DEADLINE])
    if deadline_s < needed_s:
        raise BadKeyError(
            DEADLINE,
            f"{task[DEADLINE]} is too early: the pools' tasks may take until "
            f"{_length(pools_s)} and the report after them until {_length(needed_s)}; "
            f"write at least {_length(needed_s)}, or remove the key",
        )
    if deadline_s > LATEST_S:
        raise BadKeyError(
            DEADLINE,
            f"{task[DEADLINE]} is later than the queue accepts, {_length(LATEST_S)}; "
            f"lower {DEADLINE} of the pools' tasks or of the report",
        )
    lengths = [pool.task["expires"]["relative-datestamp"] for pool in pools]
    earliest = min(lengths, key=lambda length: _seconds(EXPIRES, length))
    task.setdefault(EXPIRES, earliest)
    # The queue refuses a task that expires before its deadline, or whose dependency does.
    for owner, length in (("a pool's task", earliest), ("the report", task[EXPIRES])):
        if _seconds(EXPIRES, length) < deadline_s:
            raise BadKeyError(
                EXPIRES,
                f"{owner} expires after {length}, before the report's deadline of "
                f"{_length(deadline_s)}; raise {EXPIRES} of that task",
            )


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
