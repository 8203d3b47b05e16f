# SPDX-License-Identifier: MPL-2.0
"""The end of a log: where the task's own work ended, by the worker's last lines.

A task can print the same lines. What it cannot do is print after its end: so the last such line
counts, if the worker's duration agrees with the stamps, or if only the worker writes after it.
"""

import re
from collections import deque

from msgspec import Struct, field

from io_benchmark.analysis.phases.log_head import agree
from io_benchmark.analysis.phases.log_lines import (
    ESCAPES,
    STAMP,
    parse_go_duration,
    parse_stamp,
)

# Workers before version 93.1 write a line per artifact at the end.
TAIL_BYTES = 1024 * 1024
_CANDIDATES = 20
# Lines that the task's last processes may still have written, next to the worker's.
_LATE_LINES = 20

_WORKER = rb"^" + ESCAPES + rb"\[taskcluster(?::[a-z]{1,10})? (" + STAMP + rb")\] "
_FINISHED = re.compile(_WORKER + rb"=== Task Finished ===", re.MULTILINE)
_DURATION = re.compile(_WORKER + rb"Task Duration: (\S{1,60})", re.MULTILINE)
_KEEPS = re.compile(
    _WORKER + rb"(?:\[mounts\] )?(?:Preserving cache: |Deleting cache |Purging caches )",
    re.MULTILINE,
)
_DOCKER_WORKER = re.compile(
    _WORKER + rb"(?:S|Uns)uccessful task run with exit code: -?[0-9]+ completed in ", re.MULTILINE
)
_STAMPED = re.compile(_WORKER, re.MULTILINE)
_ANY_STAMP = re.compile(
    rb"^" + ESCAPES + rb"\[[a-z-]{1,30}(?::[a-z]+)? (" + STAMP + rb")\]", re.MULTILINE
)
_NOT_WORKER = re.compile(rb"^(?!\x1b|\[taskcluster[ :])[^\n]*[^\s]", re.MULTILINE)

_UNPROVEN = "the end of its own work is not sure: no duration confirms it"
_CONTRADICTED = (
    "its log says that the task has finished, and contradicts itself about when: the end of its "
    "own work is not known"
)


class LogTail(Struct):
    """Keeps the last bytes of a log."""

    _parts: deque[bytes] = field(default_factory=deque)
    _size_bytes: int = 0
    skipped_bytes: int = 0  # before what is kept

    def add(self, part: bytes) -> None:
        self._parts.append(part)
        self._size_bytes += len(part)
        while self._size_bytes - len(self._parts[0]) >= TAIL_BYTES:
            size_bytes = len(self._parts.popleft())
            self._size_bytes -= size_bytes
            self.skipped_bytes += size_bytes

    def skip_to(self, offset: int) -> None:
        """Forget everything: the next part begins at this place of the log."""
        self._parts.clear()
        self._size_bytes, self.skipped_bytes = 0, offset

    def after(self, offset: int) -> bytes:
        """Return what is kept of the log after some of its bytes."""
        return b"".join(self._parts)[max(0, offset - self.skipped_bytes) :]


class LogEnd(Struct, frozen=True):
    """The times at the end of a log; None: not known."""

    finished_ns: int | None = None  # the end of own work
    kept_ns: int | None = None  # when caches began to be kept
    ended_ns: int | None = None  # docker-worker's last line
    last_ns: int | None = None  # the last stamp: of the worker, if it ended the task
    is_worker_last: bool = False
    message: str = ""


def read_end(tail: bytes, command_ns: int | None) -> LogEnd:
    """Find the worker's last lines in what follows the begin of a task's command."""
    last_line = tail.rstrip().rpartition(b"\n")[2]
    is_worker_last = bool(re.match(ESCAPES + rb"\[taskcluster[ :]", last_line))
    finished, message = _finished(tail, command_ns)
    if finished is None:
        last_ns = _last_time(_ANY_STAMP, tail)
        return LogEnd(last_ns=last_ns, is_worker_last=is_worker_last, message=message)
    after = tail[finished.start() :]
    return LogEnd(
        finished_ns=parse_stamp(finished[1]),
        kept_ns=_time_of(_KEEPS.search(after)),
        ended_ns=_time_of(_DOCKER_WORKER.search(after)),
        last_ns=_last_time(_STAMPED, after),
        is_worker_last=is_worker_last,
        message=message,
    )


def _finished(tail: bytes, command_ns: int | None) -> tuple[re.Match[bytes] | None, str]:
    """Return the line of the worker that ends the command, and what is not sure about it."""
    candidates = deque(_FINISHED.finditer(tail), _CANDIDATES)
    contradictions = 0
    for candidate in reversed(candidates):
        # Its duration is the worker's next line.
        duration = _DURATION.search(tail, candidate.start(), candidate.end() + 500)
        finished_ns = parse_stamp(candidate[1])
        if finished_ns is None:
            continue
        if duration is None:
            late = sum(1 for _ in _NOT_WORKER.finditer(tail, candidate.end()))
            if late <= _LATE_LINES and candidate is candidates[-1]:
                # docker-worker never writes a duration.
                return candidate, "" if candidate[1][10:11] == b" " else _UNPROVEN
        elif command_ns is not None and agree(
            parse_go_duration(duration[2]), finished_ns - command_ns
        ):
            return candidate, ""
        else:
            contradictions += 1
    return None, _CONTRADICTED if contradictions else ""


def _last_time(pattern: re.Pattern[bytes], tail: bytes) -> int | None:
    newest = deque(pattern.finditer(tail), 1)
    return _time_of(newest[0]) if newest else None


def _time_of(match: re.Match[bytes] | None) -> int | None:
    return None if match is None else parse_stamp(match[1])
