# SPDX-License-Identifier: MPL-2.0
"""A group's task once more, for one more worker or to confirm a cause.

The actions and `io-benchmark submit` make the same tasks by this. A task is its definition, as the
queue has it. A *job* is a task's label without a replicate's number and `-confirm`. Pure; standard
library only.
"""

from __future__ import annotations

import base64
import copy
import hashlib
import re
import uuid
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from io_benchmark_taskgraph.names import symbol_with

# Set in tasks that confirm a cause.
TRIALS_VARIABLE, PACE_VARIABLE = "IO_BENCHMARK_TRIALS", "IO_BENCHMARK_PACE"
CONFIRMING = "-confirm"
RELATIVE = "relative-datestamp"
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z")


def job_of(label: str, pool: str) -> str:
    """Return the label of a pool's task without what was added to it."""
    match = re.fullmatch(rf"(.+?-{re.escape(pool)})({CONFIRMING})?(-[0-9]+)?", label)
    return match[1] if match else label


def new_label(job: str, labels: Iterable[str], end: str = "") -> str:
    """Return the job's label with `end`, or with the number after the highest in `labels`."""
    first = f"{job}{end}"
    form = re.compile(rf"{re.escape(first)}(-([0-9]{{1,6}}))?")
    numbers = [int(match[2] or 1) for match in map(form.fullmatch, labels) if match]
    return f"{first}-{max(numbers) + 1}" if numbers else first


def repeated(
    definition: Mapping[str, Any], pool: str, labels: Iterable[str], bytes_per_s: int | None = None
) -> dict[str, Any]:
    """Return a pool's task under a label that no other has; with a pace it confirms a cause.

    The index's routes are left out, because they name the pool's usual results. The dependencies
    stay: a worker takes an image only from a task that the task depends on.
    """
    made = with_relative_dates(definition)
    metadata = made["metadata"]
    job = job_of(metadata["name"], pool)
    label = new_label(job, labels, "" if bytes_per_s is None else CONFIRMING)
    rename(made, metadata["name"][len(job) :], label[len(job) :])
    if bytes_per_s is None:
        metadata["description"] += "; one more worker"
    else:
        metadata["description"] += f"; once more, with copies at {bytes_per_s} bytes/s"
        made = with_trials(made, bytes_per_s)
    routes = made.get("routes") or []
    made["routes"] = [route for route in routes if not route.startswith("index.")]
    return made


def rename(definition: dict[str, Any], former_end: str, end: str) -> None:
    label = definition["metadata"]["name"].removesuffix(former_end) + end
    definition["metadata"]["name"] = label
    if "label" in definition.get("tags", {}):
        definition["tags"]["label"] = label
    treeherder = (definition.get("extra") or {}).get("treeherder", {})
    if "symbol" in treeherder:
        symbol = treeherder["symbol"].removesuffix(former_end)
        treeherder["symbol"] = symbol_with(symbol, end)


def with_trials(definition: Mapping[str, Any], bytes_per_s: int | None = None) -> dict[str, Any]:
    """Return a task that runs all trials, one of them at a pace if that is given."""
    made: dict[str, Any] = copy.deepcopy(dict(definition))
    variables = {TRIALS_VARIABLE: "always"}
    if bytes_per_s is not None:
        variables[PACE_VARIABLE] = str(bytes_per_s)
    made["payload"]["env"] = {**(made["payload"].get("env") or {}), **variables}
    return made


def pace(definition: Mapping[str, Any]) -> int | None:
    """Return the pace of a confirming task; None for any other task."""
    payload = definition.get("payload")
    variables = payload.get("env") if isinstance(payload, Mapping) else None
    number = str(variables.get(PACE_VARIABLE, "")) if isinstance(variables, Mapping) else ""
    return int(number) if number.isdecimal() and len(number) < 20 else None


def derived_id(group_id: str, part: object) -> str:
    """Return the id of a group's task, so that no task is created twice.

    It is a slug in the queue's form: a version 4 UUID whose first bit is 0, in URL-safe base64.
    """
    digest = hashlib.sha256(f"io-benchmark {group_id} {part}".encode()).digest()
    made = uuid.UUID(bytes=bytes([digest[0] & 0x7F, *digest[1:16]]), version=4)
    return base64.urlsafe_b64encode(made.bytes).decode().rstrip("=")


def with_relative_dates(definition: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy whose dates count from its creation; a date of another form is a ValueError."""
    created = _date(definition["created"])
    for key in ("deadline", "expires"):
        _date(definition[key])

    def copied(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: copied(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [copied(inner) for inner in value]
        if isinstance(value, str) and _DATE.fullmatch(value):
            return {RELATIVE: f"{int((_date(value) - created).total_seconds())} seconds"}
        return value

    made: dict[str, Any] = copied(dict(definition))
    made.pop("taskQueueId", None)  # the queue makes it of the two names of the pool
    return made


def _date(moment: str) -> datetime:
    # Python 3.9 reads no Z.
    return datetime.fromisoformat(moment.replace("Z", "+00:00"))
