# SPDX-License-Identifier: MPL-2.0
"""What a source hands over for a run: its result, what the queue knows about it, and its times."""

from collections.abc import Hashable
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Self

import msgspec
from msgspec import Meta, Struct

from io_benchmark import results
from io_benchmark.results import Result
from io_benchmark.results.format import TaskProfile
from io_benchmark.results.parts import NS_PER_S
from io_benchmark.results.resource_profile import ResourceProfile
from io_benchmark.results.workloads.cache_retrieve import SPENT_COLUMNS

# Measured memory of decoded parts. A sample's times are used in several ways, what was spent is
# only averaged, which takes no more than the array.
_SAMPLE_VALUE_BYTES = 14
_TIMELINE_VALUE_BYTES = 10
_SECOND_BYTES = 40  # of a drawn timeline
_VALUE_BYTES = 40  # of a list
# By the characters that begin the parts of a text.
_PART_BYTES = {b",": _VALUE_BYTES, b'"': 32, b"{": 160, b"[": 100}
_OF_NUMBERS = b"0123456789 "
LATEST_MS = 4_102_444_800_000  # the year 2100
# What ran a task: a container of an image, or the worker itself.
DOCKER, NATIVE = "docker", "native"


class TaskRecord(Struct, frozen=True, kw_only=True):
    """One run of one task, as the queue (or a rehearsal) describes it."""

    version: Annotated[int, Meta(ge=0, le=2**31)] = 1
    task_id: str
    run_id: Annotated[int, Meta(ge=0, le=999_999_999)]
    label: str
    pool: str
    task_queue: str
    worker_group: str
    worker_id: str
    state: str
    image: str | None
    started: str
    resolved: str
    reason_resolved: str | None = None  # not in records of before 2026-11-21
    task_group_id: str | None = None
    revision: str | None = None
    baseline: str | None = None  # the pool that its kind compares others with; no worker wrote it
    engine: str | None = None  # DOCKER or NATIVE, by its definition; not in records of 1.0.0
    # Only of a task that left no result: why, and whether it was planned with its pool's others.
    problem: str | None = None
    is_lost: bool = False

    def write(self, path: Path) -> None:
        path.write_bytes(msgspec.json.format(msgspec.json.encode(self), indent=2) + b"\n")

    @property
    def task_ns(self) -> int | None:
        """Return how long the run of a task took; None where its times do not say."""
        try:
            start, end = map(datetime.fromisoformat, (self.started, self.resolved))
            seconds = (end - start).total_seconds()
        except (TypeError, ValueError):
            return None
        return round(seconds * NS_PER_S) if seconds > 0 else None


def engine_of(image: object, command: object) -> str | None:
    """Return what runs a payload with this image and command; None where neither says."""
    if image:
        return DOCKER
    # A native worker takes a list of commands: of Linux as lists of words, of Windows as lines.
    is_native = isinstance(command, list) and bool(command) and isinstance(command[0], list | str)
    return NATIVE if is_native else None


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
    system: str = ""  # of its worker, as in results; empty: not known

    @property
    def identity(self) -> Hashable:
        """Return what all records of the run have in common."""
        return (self.task_id, self.run_id) if self.task_id else self


class RunProfile(Struct, frozen=True):
    """A run of a task by its profile, and what the queue knows of it."""

    profile: TaskProfile | ResourceProfile
    source: str  # for people
    label: str
    pool: str | None  # or its worker type
    # From start to end by the queue, with set-up before the profile; None: not known.
    task_ns: int | None = None

    @property
    def wall_ns(self) -> int:
        """Return the time of the command, or of the whole task by a resource profile."""
        if isinstance(self.profile, TaskProfile):
            return self.profile.wall_ns
        return max(self.task_ns or 0, self.profile.wall_ns)


def parse_time(date: object) -> datetime | None:
    """Return a date with its time, which is in UTC if it has no zone; None for anything else."""
    try:
        moment = datetime.fromisoformat(str(date))
        if moment.tzinfo is UTC:  # as the queue writes them, of which a table has millions
            return moment
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def queue_time(moment: datetime) -> str:
    """Write a time as the queue does: UTC, milliseconds, Z."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class RunResult(Struct, frozen=True):
    """A result and, where it is known, the run that it came from."""

    result: Result
    task: TaskRecord | None
    source: str = ""  # where it was read from, for people
    size_bytes: int = 0  # of the result file
    weight_bytes: int = 0  # in memory

    @classmethod
    def parse(cls, data: bytes, name: str, source: str = "") -> Self:
        """Parse a result file, whose run is not known yet; `name` is for messages."""
        result = results.parse(data, name)
        return cls(result, None, source, len(data), _weight_bytes(result, data))

    @property
    def pool(self) -> str:
        return self.task.pool if self.task else self.result.task.pool


def _weight_bytes(result: Result, data: bytes) -> int:
    """Return an upper bound of the memory that a decoded result needs."""
    weight = 0
    for entry in result.workloads:
        samples: dict[str, Any] = entry.samples.known
        for name, values in samples.items():
            value_bytes = values.itemsize if name in SPENT_COLUMNS else _SAMPLE_VALUE_BYTES
            weight += len(values) * (value_bytes - _VALUE_BYTES)
    if result.timeline is not None:
        tables = [result.timeline.columns, *result.timeline.devices.values()]
        columns = [column for table in tables for column in table.values()]
        for column in columns:
            if not isinstance(column, list):
                weight += len(column) * (_TIMELINE_VALUE_BYTES - _VALUE_BYTES)
        weight += max(map(len, columns), default=0) * _SECOND_BYTES
    # Counting in all of it takes three times as long.
    structure = data.translate(None, _OF_NUMBERS)
    return weight + sum(structure.count(part) * size for part, size in _PART_BYTES.items())
