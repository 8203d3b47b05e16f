# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Confirming tasks: a pool's task once more, with its copies limited to another pool's pace.

It is the pool's own task with two variables. The action "Confirm the cause" makes the same task
(io_benchmark_taskgraph/group_tasks.py), and a test compares them. Pure: no clock, no network.
"""

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from io_benchmark.submit.definitions import SelectedTask
from io_benchmark.submit.repeating import repeated_task

TRIALS_VARIABLE, PACE_VARIABLE = "IO_BENCHMARK_TRIALS", "IO_BENCHMARK_PACE"
SUFFIX = "-confirm"
_ALWAYS = "always"


def with_trials(definition: Mapping[str, Any], bytes_per_s: int | None = None) -> dict[str, Any]:
    """Return a task that runs all trials, one of them at a pace if that is given."""
    made: dict[str, Any] = copy.deepcopy(dict(definition))
    variables = {TRIALS_VARIABLE: _ALWAYS}
    if bytes_per_s is not None:
        variables[PACE_VARIABLE] = str(bytes_per_s)
    made["payload"]["env"] = {**(made["payload"].get("env") or {}), **variables}
    return made


def pace_of(definition: Mapping[str, Any]) -> int | None:
    """Return the pace of a confirming task; None for any other task."""
    payload = definition.get("payload")
    variables = payload.get("env") if isinstance(payload, Mapping) else None
    text = str(variables.get(PACE_VARIABLE, "")) if isinstance(variables, Mapping) else ""
    return int(text) if text.isdecimal() and len(text) < 20 else None


def confirming_task(
    definition: Mapping[str, Any], label: str, pool: str, bytes_per_s: int, labels: Sequence[str]
) -> SelectedTask:
    """Return a confirming task for a task of a group; `labels` are those that the group has."""
    remark = f"once more, with copies at {bytes_per_s} bytes/s"
    definition = with_trials(definition, bytes_per_s)
    return repeated_task(definition, label, pool, labels, remark, SUFFIX)
