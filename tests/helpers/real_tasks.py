# SPDX-License-Identifier: MPL-2.0
"""The seed's update-verify tasks, which take 39 minutes on intel and 45 on amd-16.

There is a table, and a group.

The seed has the two means only. How far workers differ, set-up, and what was lost is made up.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from loopback_deployment import PROFILE, Deployment, run

from io_benchmark.sources.run_results import queue_time

GROUP = "Q0dZr3pPQ3m2cV9zqv1l9A"
PUSH = "gecko.v2.autoland.pushlog-id.1000.decision"
LABEL = "release-update-verify-firefox-linux64-{}/2"
COLUMNS = (
    "label",
    "pool",
    "worker",
    "task_id",
    "run_id",
    "state",
    "reason",
    "scheduled",
    "started",
    "resolved",
    "own_started",
    "own_ended",
)
# Means of both chunks: 39 and 45 minutes.
MINUTES = {"intel": (38.0, 40.0), "amd-16": (43.8, 46.2)}
# Of six workers, in minutes.
DIFFERENCES = (-1.5, -0.9, -0.3, 0.3, 0.9, 1.5)
SET_UP, TEAR_DOWN = {"intel": 1.5, "amd-16": 1.8}, 0.2
_FIRST = datetime(2026, 3, 20, 8, tzinfo=UTC)
_PREEMPTED_AFTER = 12.0

Row = dict[str, Any]


def rows() -> Iterator[Row]:
    """Every run; one of amd-16 was preempted and done again, one of intel failed."""
    for pool, minutes in MINUTES.items():
        for worker, difference in enumerate(DIFFERENCES):
            start = _FIRST + timedelta(hours=3 * worker)
            for chunk, of_chunk in enumerate(minutes, 1):
                # 22 characters, as ids of the queue are.
                task_id = f"{pool.replace('-', ''):A<8.8}Q{worker}G{chunk}AAAAAAAAAA"[:21] + "A"
                row: Row = {"label": LABEL.format(chunk), "pool": pool, "task_id": task_id}
                row |= {"worker": f"us-central1-f/{pool}-{worker}", "run_id": 0}
                row["kind"] = "release-update-verify"
                if (pool, worker, chunk) == ("amd-16", 2, 1):
                    ended = ("exception", "worker-shutdown")
                    yield _row(row, start, _PREEMPTED_AFTER, *ended)
                    row["run_id"] = 1
                    start += timedelta(minutes=_PREEMPTED_AFTER + 1)
                taken = of_chunk + difference
                if (pool, worker, chunk) == ("intel", 4, 2):
                    yield _row(
                        {**row, "task_id": f"{task_id[:20]}CA"}, start, 7.0, "failed", "failed"
                    )
                    start += timedelta(minutes=8)
                yield _row(row, start, taken, "completed", "completed")
                start += timedelta(minutes=taken + 2)


def _row(row: Row, start: datetime, minutes: float, state: str, reason: str) -> Row:
    end = start + timedelta(minutes=minutes)
    made = {**row, "state": state, "reason": reason}
    made |= {"scheduled": start - timedelta(minutes=2), "started": start, "resolved": end}
    if state == "completed" and row["pool"] in SET_UP:
        made["own_started"] = start + timedelta(minutes=SET_UP[row["pool"]])
        made["own_ended"] = end - timedelta(minutes=TEAR_DOWN)
    return {
        name: queue_time(value) if isinstance(value, datetime) else value
        for name, value in made.items()
    }


def table(of_rows: Sequence[Row] | None = None, columns: Sequence[str] = COLUMNS) -> str:
    """Return a table as CSV."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(list(rows()) if of_rows is None else of_rows)
    return stream.getvalue()


def add(deployment: Deployment) -> str:
    """Add the tasks and their decision task as a push to autoland; return the group."""
    add_rows(deployment, GROUP, [_decision(), *rows()])
    deployment.index[PUSH] = GROUP
    return GROUP


def add_rows(deployment: Deployment, group_id: str, of_rows: Iterable[Row]) -> None:
    """Add the tasks of these runs, with the times of their own work."""
    by_task: dict[str, list[Row]] = {}
    for row in of_rows:
        by_task.setdefault(row["task_id"], []).append(row)
    for task_id, runs in by_task.items():
        first = runs[0]
        # As `measure` has it in a task that it wraps.
        artifacts = [{"name": "public/io-benchmark", "type": "directory"}]
        deployment.add_task(
            task_id,
            group_id,
            first["label"],
            first["kind"],
            f"releng-1/{first['pool']}",
            [_run(row) for row in runs],
            created=first["scheduled"],
            payload={"image": "localhost/image:latest", "artifacts": artifacts},
        )
        for row in runs:
            if "own_started" in row:
                profile = {"started": row["own_started"], "ended": row["own_ended"], "wall_ns": 1}
                deployment.leave(task_id, profile, PROFILE, row["run_id"])


def _decision() -> Row:
    row: Row = {"label": "Gecko Decision Task", "pool": "decision", "task_id": GROUP}
    row |= {"kind": "decision-task", "worker": "us-central1-f/decision-1", "run_id": 0}
    return _row(row, _FIRST - timedelta(minutes=5), 4.0, "completed", "completed")


def _run(row: Row) -> dict[str, Any]:
    group, _, worker = row["worker"].partition("/")
    times = {name: row[name] for name in ("scheduled", "started", "resolved")}
    ended = (row["run_id"], row["state"], row["reason"])
    return run(*ended, workerGroup=group, workerId=worker, **times)
