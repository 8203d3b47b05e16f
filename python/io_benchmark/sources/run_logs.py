# SPDX-License-Identifier: MPL-2.0
"""Logs of runs: a file of one, or the content of an artifact as it arrives.

A log is anybody's: it may be a gzip bomb, binary, or never end. What is read of one has bounds.
"""

import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from io_benchmark.analysis.phases.log_end import TAIL_BYTES
from io_benchmark.analysis.phases.phase_model import RunPhases
from io_benchmark.analysis.phases.read_log import LogReader, RunFacts
from io_benchmark.errors import ResultError
from io_benchmark.files import open_regular, read_file
from io_benchmark.number_text import size
from io_benchmark.sources.run_results import parse_time
from io_benchmark.sources.taskcluster.api_answers import (
    QueueRun,
    StatusAnswer,
    TaskDefinition,
    decode,
)
from io_benchmark.sources.taskcluster.tasks import QueueTask
from io_benchmark.text import clean, clean_name

T = TypeVar("T")

_MIB = 1024 * 1024
_PART_BYTES = 256 * 1024
_DECODED_BYTES = 256 * _MIB  # of one log that is compressed: an hour of a build has 50
_MOST_JSON_BYTES = 4 * _MIB
_GZIP = b"\x1f\x8b"
_BEGIN_BYTES = 64 * 1024


class LogSink:
    """Gets a log in parts, as they are stored or transferred, and gives its phases."""

    def __init__(self, facts: RunFacts, most_bytes: int) -> None:
        self.received_bytes = 0
        self.problem = ""  # why the rest of the log was not read
        self._most_bytes = most_bytes
        self._decoded_bytes = 0
        self._reader = LogReader(facts)
        self._decoder: zlib._Decompress | None = None

    def take(self, part: bytes) -> bool:
        """Read a part; return whether the next one is wanted."""
        if not self.received_bytes and part.startswith(_GZIP):
            self._decoder = zlib.decompressobj(wbits=31)
        self.received_bytes += len(part)
        try:
            for piece in self._decoded(part):
                self._reader.take(piece)
                self._decoded_bytes += len(piece)
                if self._decoded_bytes > _DECODED_BYTES:
                    self.problem = f"its log has more than {size(_DECODED_BYTES)}, gzip decoded"
                    return False
        except zlib.error as error:
            self.problem = f"the gzip data of its log are damaged ({clean(str(error), 80)})"
        if self.received_bytes > self._most_bytes:
            self.problem = f"its log has more than {size(self._most_bytes)}"
        return not self.problem

    def _decoded(self, part: bytes) -> Iterator[bytes]:
        decoder = self._decoder
        if decoder is None:
            yield part
            return
        while part and not decoder.eof:
            piece = decoder.decompress(part, _PART_BYTES)
            part = decoder.unconsumed_tail
            if piece:
                yield piece

    def take_file(self, descriptor: int) -> None:
        """Read a file: of a plain one, what is between the begin and the end is not needed."""
        size_bytes = os.fstat(descriptor).st_size
        while part := os.read(descriptor, _PART_BYTES):
            if not self.take(part):
                return
            end = size_bytes - TAIL_BYTES
            if self._decoder is None and self._reader.needs_only_end and self.received_bytes < end:
                os.lseek(descriptor, end, os.SEEK_SET)
                self._reader.skip_to(end)
                self.received_bytes = end

    def finish(self, *, is_growing: bool = False) -> RunPhases:
        """Return the phases; raise a ResultError where what was read is not a task's log."""
        if not self.received_bytes:
            raise ResultError("its log is empty")
        if self._decoder is not None and not self._decoder.eof and not self.problem:
            self.problem = "the gzip data of its log end early"
        problem = self.problem and f"{self.problem}; what is behind that is not known"
        if is_growing:
            problem = "it has not ended, and its log is still growing"
        run = self._reader.finish(is_cut=bool(problem), message=problem)
        if not run.started or not any(not span.phase.is_before_run for span in run.spans):
            raise ResultError("its log has no line with the time of a worker; is it a task's log?")
        return run


def facts_of(task: QueueTask, run: QueueRun) -> RunFacts:
    """Return what the queue knows of a run."""
    group, worker = clean_name(run.worker_group or ""), clean_name(run.worker_id or "")
    return RunFacts(
        label=task.label,
        pool=task.status.queue,
        task_id=task.task_id,
        run_id=run.run_id,
        worker=f"{group}/{worker}" if worker else "",
        scheduled_ns=nanoseconds(run.scheduled),
        started_ns=nanoseconds(run.started),
        resolved_ns=nanoseconds(run.resolved),
        started=clean_name(run.started or ""),
    )


def nanoseconds(time: str | None) -> int | None:
    moment = parse_time(time)
    return None if moment is None else round(moment.timestamp() * 1000) * 10**6


def read_log_file(path: Path) -> RunPhases:
    """Read FILE.log, with FILE.status.json and FILE.task.json beside it where these are.

    Raise a ResultError where that fails.
    """
    label = clean_name(str(path))
    try:
        facts = _facts_beside(path)
        with open_regular(path) as descriptor:
            sink = LogSink(facts, most_bytes=2**60)
            sink.take_file(descriptor)
        return sink.finish()
    except ResultError as error:
        raise ResultError(f"{label}: {error}") from None
    except OSError as error:
        raise ResultError(f"{label}: {error.strerror}; name a task's log") from None


def _facts_beside(path: Path) -> RunFacts:
    answer = _read_json(path.with_suffix(".status.json"), StatusAnswer)
    if answer is None:
        return RunFacts()
    definition = _read_json(path.with_suffix(".task.json"), TaskDefinition) or TaskDefinition()
    task = QueueTask.of(definition, answer.status)
    runs = [run for run in answer.status.runs if run.started is not None]
    if not runs:
        return RunFacts(label=task.label, pool=task.status.queue, task_id=task.task_id)
    return facts_of(task, runs[-1] if len(runs) == 1 else _run_of(path, runs))


def _run_of(path: Path, runs: list[QueueRun]) -> QueueRun:
    """Return the run that a log is of: the one that started next to its first stamp."""
    with open_regular(path) as descriptor:
        sink = LogSink(RunFacts(), most_bytes=_BEGIN_BYTES)
        sink.take(os.read(descriptor, _BEGIN_BYTES))
    begin_ns = nanoseconds(sink.finish().started)
    return min(runs, key=lambda run: abs((nanoseconds(run.started) or 0) - (begin_ns or 0)))


def _read_json(path: Path, kind: type[T]) -> T | None:
    """Return what a file beside a log says; None without such a file."""
    try:
        return decode(read_file(path, _MOST_JSON_BYTES), kind)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        problem = clean(str(error), 150)
        raise ResultError(f"{path.name} beside it cannot be used ({problem}); remove it") from None
