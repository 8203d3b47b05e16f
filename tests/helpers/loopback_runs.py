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
        shape |= {
            "state": "running",
            "workerGroup": "us-central1-a",
            "workerId": f"worker-{run_id}",
            "started": STARTED,
            "takenUntil": TAKEN_UNTIL,
        }
    if state in RESOLVED:
        reason = reason or ("worker-shutdown" if state == "exception" else state)
        shape |= {"state": state, "resolved": ENDED, "reasonResolved": reason}
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
    status["runs"][-1] |= {"state": "exception", "resolved": ENDED, "reasonResolved": "canceled"}
    status["state"] = "exception"


def _pending(run_id: int, reason: str) -> dict[str, Any]:
    return {"runId": run_id, "state": "pending", "reasonCreated": reason, "scheduled": SCHEDULED}
