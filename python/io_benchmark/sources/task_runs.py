# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Runs of any tasks, as the queue or a table describes them, and which of them a command wants."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

from msgspec import Struct, field

from io_benchmark.errors import UsageError
from io_benchmark.sources.protocol import ReadProgress

if TYPE_CHECKING:
    from io_benchmark.sources.web.retrying import RequestPolicy

MOST_RUNS = 200_000
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


class RunQuery(Struct):
    """Which runs a command wants, and where they go."""

    environment: Mapping[str, str]
    label: re.Pattern[str] | None = None
    pools: tuple[str, ...] = ()  # each with or without its provisioner; none: all
    since: date | None = None
    progress: Callable[[ReadProgress], None] = lambda _progress: None
    policy: "RequestPolicy | None" = None  # None: the default
    runs: list[TaskRun] = field(default_factory=list)

    def wants_task(self, label: str, pool: str) -> bool:
        """Return whether the runs of such a task are wanted."""
        is_wanted = not self.pools or any(
            pool == wanted or pool.endswith(f"/{wanted}") for wanted in self.pools
        )
        return is_wanted and (self.label is None or self.label.search(label) is not None)

    def accept(self, run: TaskRun) -> None:
        """Keep a run that is wanted; raise a UsageError where there are too many."""
        if not self.wants_task(run.label, run.pool):
            return
        if self.since is not None:
            moment_ms = run.started_ms if run.started_ms >= 0 else run.resolved_ms
            first = datetime(self.since.year, self.since.month, self.since.day, tzinfo=UTC)
            if moment_ms < first.timestamp() * 1000:
                return
        if len(self.runs) == MOST_RUNS:
            raise UsageError(
                f"there are more than {MOST_RUNS:,} runs; select fewer by --label, --pool or --since"
            )
        self.runs.append(run)


def parse_milliseconds(text: str) -> float | None:
    """Return the milliseconds from 1970 to a date with its time, in UTC without a zone; None for other text."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    try:
        return moment.timestamp() * 1000
    except OverflowError:
        return None
