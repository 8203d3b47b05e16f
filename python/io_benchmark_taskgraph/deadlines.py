# SPDX-License-Identifier: MPL-2.0
"""The deadline of the report's task: later than those of the tasks that it waits for.

If no worker takes a task, the queue resolves it at its deadline. Only then does the
report become pending. With the same deadline, the report would be resolved at the same
moment, without having run.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from taskgraph.util.time import InvalidString, UnknownTimeMeasurement, value_of

from io_benchmark_taskgraph.mistakes import BadKeyError, shown

DEADLINE = "deadline-after"
EXPIRES = "expires-after"
_MINUTE_S = 60
_DAY_S = 24 * 60 * _MINUTE_S
# taskgraph's own default for a task: how long it may wait for a worker, and run.
OWN_TIME_S = _DAY_S
# The queue looks for tasks past their deadline some minutes later.
RESOLVING_S = 20 * _MINUTE_S
# The queue refuses a later deadline.
LATEST_S = 5 * _DAY_S
_UNITS = (("day", _DAY_S), ("hour", 60 * _MINUTE_S), ("minute", _MINUTE_S))


def _length(seconds: int) -> str:
    """Write a length of time as taskgraph reads it: one number and one unit."""
    fitting = (unit for unit in _UNITS if seconds and seconds % unit[1] == 0)
    name, unit_s = next(fitting, ("second", 1))
    number = seconds // unit_s
    return f"{number} {name}{'' if number == 1 else 's'}"


def _seconds(key: str, text: object) -> int:
    try:
        return int(value_of(text).total_seconds())
    except (InvalidString, UnknownTimeMeasurement, TypeError, ValueError):
        pass
    problem = "is not a length of time; write one such as 2 days"
    raise BadKeyError(key, f"{shown(text)} {problem}")


def _relative(task: Any, key: str) -> str:
    text: str = task.task[key]["relative-datestamp"]
    return text


def set_times(task: dict[str, Any], pools: Iterable[Any]) -> None:
    """Set the report's `deadline-after` and `expires-after`, or check given ones.

    Check `worker.max-run-time` before; it includes the minutes of waiting.
    """
    pools = list(pools)
    others_s = max(_seconds(DEADLINE, _relative(pool, "deadline")) for pool in pools)
    needed_s = others_s + RESOLVING_S + task["worker"]["max-run-time"]
    if DEADLINE not in task:
        task[DEADLINE] = _length(max(needed_s, others_s + OWN_TIME_S))
    deadline_s = _seconds(DEADLINE, task[DEADLINE])
    if deadline_s < needed_s:
        raise BadKeyError(
            DEADLINE,
            f"{task[DEADLINE]} is too early: the pools' tasks may take until "
            f"{_length(others_s)} and the report after them until {_length(needed_s)}; "
            f"write at least {_length(needed_s)}, or remove the key",
        )
    if deadline_s > LATEST_S:
        raise BadKeyError(
            DEADLINE,
            f"{task[DEADLINE]} is later than the queue accepts, {_length(LATEST_S)}; "
            f"lower {DEADLINE} of the pools' tasks or of the report",
        )
    _set_expires(task, [_relative(pool, "expires") for pool in pools], deadline_s)


def _set_expires(
    task: dict[str, Any], of_pools: Sequence[str], deadline_s: int
) -> None:
    """Set `expires-after`: the queue refuses a task that expires, or whose dependency does, too early."""
    earliest = min(of_pools, key=lambda text: _seconds(EXPIRES, text))
    task.setdefault(EXPIRES, earliest)
    for whose, text in (("a pool's task", earliest), ("the report", task[EXPIRES])):
        if _seconds(EXPIRES, text) < deadline_s:
            raise BadKeyError(
                EXPIRES,
                f"{whose} expires after {text}, before the report's deadline of "
                f"{_length(deadline_s)}; raise {EXPIRES} of that task",
            )
