# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Repeat a group's task in the same group, for one more worker, or to confirm a cause.

The actions make the same tasks (io_benchmark_taskgraph/group_tasks.py), and tests compare them. Pure:
no clock, no network.
"""

import copy
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from io_benchmark.errors import ResultError
from io_benchmark.submit.definitions import SelectedTask, job_of
from io_benchmark.submit.submission import RECORD, RELATIVE

_SYMBOL_LENGTH = 25  # Treeherder's limit


def new_label(label: str, pool: str, labels: Sequence[str], end: str = "") -> str:
    """Return a new label for a task of the pool: `io-benchmark-intel` with `end`.

    Where the group has that label, add the number after its highest.
    """
    first = f"{job_of(label, pool) or label}{end}"
    numbers = [
        int(match[2] or 1)
        for match in (
            re.fullmatch(rf"{re.escape(first)}(-([0-9]{{1,6}}))?", label) for label in labels
        )
        if match
    ]
    return f"{first}-{max(numbers) + 1}" if numbers else first


def repeated_task(
    definition: Mapping[str, Any],
    label: str,
    pool: str,
    labels: Sequence[str],
    remark: str = "one more worker",
    end: str = "",
) -> SelectedTask:
    """Return a group's task under the next label with `end` that is not among `labels`.

    Its routes are dropped, because the index has the pool's usual results. Its dependencies stay: a
    worker takes an image only from a task that the task depends on.
    """
    new = new_label(label, pool, labels, end)
    made: dict[str, Any] = copy.deepcopy(dict(definition))
    made.pop("taskQueueId", None)
    made["routes"] = []
    made["metadata"]["name"] = new
    made["metadata"]["description"] += f"; {remark}"
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
    end = new.removeprefix(job)
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
