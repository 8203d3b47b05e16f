# SPDX-License-Identifier: MPL-2.0
"""What the queue does to a task's status, one function for each thing that happens to a task."""

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


def claim(status: dict[str, Any], worker: str = "worker-0") -> None:
    """Let a worker claim a task."""
    _start(status["runs"][-1], worker)
    status["state"] = "running"


def resolve(status: dict[str, Any], state: str, reason: str | None = None) -> None:
    """Resolve a task as its worker reports it."""
    _end(status["runs"][-1], state, reason or state)
    status["state"] = state


def interrupt(status: dict[str, Any], reason: str) -> None:
    """End a run by `claim-expired` or `worker-shutdown`; add a retry while some are left."""
    resolve(status, "exception", reason)
    if status["retriesLeft"] > 0:
        status["retriesLeft"] -= 1
        status["runs"].append(_pending(len(status["runs"]), "retry"))
        status["state"] = "pending"


def cancel(status: dict[str, Any]) -> None:
    """Cancel a task; a resolved one does not change."""
    _stop(status, "canceled")


def pass_deadline(status: dict[str, Any]) -> None:
    _stop(status, "deadline-exceeded")


def _stop(status: dict[str, Any], reason: str) -> None:
    if status["state"] in RESOLVED:
        return
    if not status["runs"]:
        # It never ran, and gets a run for the reason alone.
        status["runs"].append({**_pending(0, "exception"), "scheduled": ENDED})
    resolve(status, "exception", reason)


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
