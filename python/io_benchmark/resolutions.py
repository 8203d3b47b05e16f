# SPDX-License-Identifier: MPL-2.0
"""Describes how a run ended, by the `reasonResolved` of Taskcluster's queue.

Machines that a cloud may take back at any moment end runs in two ways: a worker that was told in
time says so (worker-shutdown; since release 96.6.0 the queue says it for a worker that is gone),
one that was not is missed when its claim on the task runs out (claim-expired).
"""

# `exception` alone has reasons that its state does not say.
_ENDINGS = {
    "worker-shutdown": "was preempted",
    "claim-expired": "was preempted, or its worker died",
    "deadline-exceeded": "was not done by its deadline",
    "canceled": "was cancelled",
    "superseded": "gave way to a newer task",
    "malformed-payload": "was refused by its worker",
    "resource-unavailable": "lacked something that it needs",
    "internal-error": "met an error of its worker",
    "intermittent-task": "asked to be run again",
}


def ending_in_words(state: str, reason: str | None) -> str:
    """Return `was preempted (worker-shutdown)`, to write after the run's name."""
    if reason is not None and reason in _ENDINGS and state == "exception":
        return f"{_ENDINGS[reason]} ({reason})"
    if state in ("completed", "failed") and reason in (None, state):
        return state
    return f"is {state}" if reason in (None, state) else f"is {state} ({reason})"
