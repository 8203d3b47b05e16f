# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Confirming tasks: a pool's task once more, with its copies held to another pool's pace.

It is the pool's own task with two variables. The action "Confirm the cause" makes the same task
(io_benchmark_taskgraph/group_tasks.py), and a test compares them. Pure: no clock, no network.
"""

import copy
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from io_benchmark.errors import ResultError
from io_benchmark.submit.definitions import SelectedTask, job_of
from io_benchmark.submit.submission import RECORD, RELATIVE

TRIALS_VARIABLE, PACE_VARIABLE = "IO_BENCHMARK_TRIALS", "IO_BENCHMARK_PACE"
SUFFIX = "-confirm"
_ALWAYS = "always"
_SYMBOL_LENGTH = 25  # Treeherder's limit


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


def confirming_label(label: str, pool: str, labels: Sequence[str]) -> str:
    """Return `io-benchmark-intel-confirm` for any task of the pool, `…-2` where that exists."""
    first = f"{job_of(label, pool) or label}{SUFFIX}"
    number = 1 + sum(known == first or known.startswith(f"{first}-") for known in labels)
    return first if number == 1 else f"{first}-{number}"


def confirming_task(
    definition: Mapping[str, Any], label: str, pool: str, bytes_per_s: int, labels: Sequence[str]
) -> SelectedTask:
    """Return a task of a group once more, to create in the same group, which has these `labels`.

    Its routes are dropped: the index names the pool's usual results. So are its dependencies, which
    are resolved.
    """
    made = with_trials(definition, bytes_per_s)
    new = confirming_label(label, pool, labels)
    for key in ("dependencies", "requires", "taskQueueId"):
        made.pop(key, None)
    made["routes"] = []
    made["metadata"]["name"] = new
    made["metadata"]["description"] += f"; once more, with copies at {bytes_per_s} bytes/s"
    if "label" in made.get("tags", {}):
        made["tags"]["label"] = new
    extra = made.get("extra") or {}
    extra.pop(RECORD, None)
    if "symbol" in extra.get("treeherder", {}):
        extra["treeherder"]["symbol"] = _symbol(extra["treeherder"]["symbol"], label, new, pool)
    _make_relative(made)
    return SelectedTask(new, job_of(label, pool) or label, pool, made)


def _symbol(symbol: str, label: str, new: str, pool: str) -> str:
    """Return `intel-confirm` for `intel`, and for the replicate `intel-2`."""
    job = job_of(label, pool) or label
    end = SUFFIX + new.removeprefix(job).removeprefix(SUFFIX)
    return symbol.removesuffix(label.removeprefix(job))[: _SYMBOL_LENGTH - len(end)] + end


def _make_relative(definition: dict[str, Any]) -> None:
    """Count the dates from the creation of the task, as the kinds do."""
    try:
        created = datetime.fromisoformat(definition["created"])
        for holder, key in _dates(definition):
            seconds = int((datetime.fromisoformat(holder[key]) - created).total_seconds())
            holder[key] = {RELATIVE: f"{seconds} seconds"}
    except (KeyError, TypeError, ValueError):
        name = definition["metadata"]["name"]
        raise ResultError(f"{name}: the task that it repeats has malformed dates") from None


def _dates(definition: dict[str, Any]) -> list[tuple[dict[str, Any], str]]:
    """Return where the dates are: in the task, and in the artifacts of both kinds of worker."""
    artifacts = definition["payload"].get("artifacts") or []
    listed = artifacts.values() if isinstance(artifacts, dict) else artifacts
    own = [(definition, key) for key in ("deadline", "expires", "created")]
    return own + [(artifact, "expires") for artifact in listed if "expires" in artifact]
