# SPDX-License-Identifier: MPL-2.0
"""Runs of a task as the queue shows them, and what scheduling and cancelling do to its status."""

from typing import Any

RESOLVED = ("completed", "failed", "exception")
SCHEDULED = "2026-11-21T08:38:21.418Z"
STARTED = "2026-11-21T08:38:22.384Z"
TAKEN_UNTIL = "2026-11-21T08:58:22.383Z"
ENDED = "2026-11-21T08:48:22.000Z"


def run(run_id: int, state: str, reason: str | None = None) -> dict[str, Any]:
    """Return a run as the queue shows it."""
    shape = _pending(run_id, "scheduled" if run_id == 0 else "rerun")
    if state != "pending":
        _start(shape, f"worker-{run_id}")
    if state in RESOLVED:
        _end(shape, state, reason or ("worker-shutdown" if state == "exception" else state))
    return shape


def schedule(status: dict[str, Any]) -> None:
    """Make a task pending: its dependencies are resolved."""
    status["runs"].append(_pending(0, "scheduled"))
    status["state"] = "pending"


def cancel(status: dict[str, Any]) -> None:
    """Cancel a task; a resolved one does not change."""
    if status["state"] in RESOLVED:
        return
    if not status["runs"]:
        # It never ran, and gets a run for the reason alone.
        status["runs"].append({**_pending(0, "exception"), "scheduled": ENDED})
    _end(status["runs"][-1], "exception", "canceled")
    status["state"] = "exception"


def _pending(run_id: int, reason: str) -> dict[str, Any]:
    return {"runId": run_id, "state": "pending", "reasonCreated": reason, "scheduled": SCHEDULED}


def _start(shape: dict[str, Any], worker: str) -> None:
    shape |= {
        "state": "running",
        "workerGroup": "us-central1-a",
        "workerId": worker,
        "started": STARTED,
        "takenUntil": TAKEN_UNTIL,
    }


def _end(shape: dict[str, Any], state: str, reason: str) -> None:
    shape |= {"state": state, "resolved": ENDED, "reasonResolved": reason}
