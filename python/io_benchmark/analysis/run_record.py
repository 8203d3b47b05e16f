# SPDX-License-Identifier: MPL-2.0
"""What a report lists of one run of one task."""

from msgspec import Struct

UNKNOWN = "unknown"


class WorkerLine(Struct, frozen=True, kw_only=True):
    """One run of one task. The unit of replication is its machine, which may have run others."""

    side: str  # the name that it is grouped by
    pool: str
    task_id: str
    run_id: int | None
    worker_id: str  # "group/id", or "unknown" without a record of the task
    state: str  # the run's state, or "unknown"
    completed: bool
    incomplete_reason: str | None
    instance_type: str | None
    zone: str | None
    source: str  # a path or an address, for people
    reason: str | None = None  # why the run ended, as the queue names it
    machine: str = UNKNOWN  # as all results together identify it; see `machine_identity`
    is_counted: bool = True  # otherwise it confirms a cause, and only its trials count
    at_once: bool = False  # its machine ran several of these tasks at the same time
    url: str | None = None  # of its job on another CI system
