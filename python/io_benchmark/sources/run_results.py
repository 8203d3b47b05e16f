# SPDX-License-Identifier: MPL-2.0
"""What a source hands over for a run: its result, and what the queue knows about the run."""

from datetime import UTC, datetime
from typing import Self

from msgspec import Struct

from io_benchmark import results
from io_benchmark.results import Result
from io_benchmark.results.workloads.cache_retrieve import SPENT_COLUMNS

# Measured memory of decoded parts. A sample's times are used in several ways, what was spent is only
# averaged, which takes no more than the array.
_SAMPLE_VALUE_BYTES = 14
_TIMELINE_VALUE_BYTES = 10
_SECOND_BYTES = 40  # of a drawn timeline
_VALUE_BYTES = 40
_QUOTATION_MARK_BYTES = 32
_OBJECT_BYTES = 160
_LIST_BYTES = 100
_OF_NUMBERS = b"0123456789 "


class TaskRecord(Struct, frozen=True, kw_only=True):
    """One run of one task, as the queue (or a rehearsal) describes it."""

    version: int = 1
    task_id: str
    run_id: int
    label: str
    pool: str
    task_queue: str
    worker_group: str
    worker_id: str
    state: str
    image: str | None
    started: str
    resolved: str
    # Not in records of before 2026-11-21.
    reason_resolved: str | None = None
    task_group_id: str | None = None
    revision: str | None = None
    # Only of a task that left no result: why, and whether it was planned with its pool's others.
    problem: str | None = None
    is_lost: bool = False


def queue_time(moment: datetime) -> str:
    """Write a time as the queue does: UTC, milliseconds, Z."""
    text = moment.astimezone(UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


class RunResult(Struct, frozen=True):
    """A result and, where it is known, the run that it came from."""

    result: Result
    task: TaskRecord | None
    # Where it was read from, for people; the same whether its folder is an archive or not.
    source: str = ""
    size_bytes: int = 0  # of the result file
    weight_bytes: int = 0  # in memory
    archive: str = ""  # the zip file that it was read from

    @classmethod
    def parse(cls, data: bytes, name: str, source: str, archive: str = "") -> Self:
        """Parse a result file, whose run is not known yet; `name` is for messages."""
        result = results.parse(data, name)
        return cls(result, None, source, len(data), weight_bytes(result, data), archive)

    @property
    def pool(self) -> str:
        return self.task.pool if self.task else self.result.task.pool


def weight_bytes(result: Result, data: bytes) -> int:
    """Return an upper bound of the memory that a decoded result needs."""
    # Counting in all of it takes three times as long.
    structure = data.translate(None, _OF_NUMBERS)
    commas, marks, objects, lists = map(structure.count, (b",", b'"', b"{", b"["))
    samples = samples_bytes = timeline = seconds = 0
    for entry in result.workloads:
        for name in entry.samples.__struct_fields__:
            column = getattr(entry.samples, name)
            if column is not None:
                is_spent = name in SPENT_COLUMNS
                samples += len(column)
                samples_bytes += len(column) * (
                    column.itemsize if is_spent else _SAMPLE_VALUE_BYTES
                )
    if result.timeline is not None:
        tables = [result.timeline.columns, *result.timeline.devices.values()]
        lengths = [len(column) for table in tables for column in table.values()]
        timeline, seconds = sum(lengths), max(lengths, default=0)
    return (
        samples_bytes
        + timeline * _TIMELINE_VALUE_BYTES
        + seconds * _SECOND_BYTES
        + max(0, commas - samples - timeline) * _VALUE_BYTES
        + marks * _QUOTATION_MARK_BYTES
        + objects * _OBJECT_BYTES
        + lists * _LIST_BYTES
    )
