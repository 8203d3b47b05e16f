# SPDX-License-Identifier: MPL-2.0
"""Runs of any tasks, as the queue or a table describes them."""

from datetime import UTC, datetime

from msgspec import Struct

LATEST_MS = 4_102_444_800_000  # the year 2100


class TaskRun(Struct, frozen=True, order=True):
    """One run of one task. Times are milliseconds since 1970, from the queue unless noted."""

    label: str
    pool: str  # PROVISIONER/WORKERTYPE, or as a table names it
    task_id: str  # empty: not known
    run_id: int
    worker: str  # GROUP/ID; empty: not known
    state: str  # completed, failed, exception
    reason: str  # as the queue names it
    scheduled_ms: int = -1  # -1, here and below: not known, or never
    started_ms: int = -1
    resolved_ms: int = -1
    # When the task's own work began and ended, by the worker's clock.
    own_started_ms: int = -1
    own_ended_ms: int = -1
    cost: float = -1.0
    currency: str = ""

    @property
    def title(self) -> str:
        """Return 'task ID run 0 (label)'."""
        return f"task {self.task_id or 'without an id'} run {self.run_id} ({self.label})"


def parse_milliseconds(text: str) -> float | None:
    """Return the milliseconds from 1970 to a date with its time, in UTC without a zone; None for other text."""
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000
    except (ValueError, OverflowError):
        return None
