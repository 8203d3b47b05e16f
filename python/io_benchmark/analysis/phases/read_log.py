# SPDX-License-Identifier: MPL-2.0
"""Make the phases of a run from its log, and from what the queue knows of the run.

Constant memory: the begin of a log is read line by line until the task's own work begins, and of
what follows only the end.
"""

from collections.abc import Iterator

from msgspec import Struct, field

from io_benchmark.analysis.phases.log_end import LogEnd, LogTail, read_end
from io_benchmark.analysis.phases.log_head import MOST_HEAD_BYTES, LogHead
from io_benchmark.analysis.phases.log_lines import LineSplitter, queue_text
from io_benchmark.analysis.phases.log_spans import LogTimes, make_spans
from io_benchmark.analysis.phases.phase_model import PhaseName, RunPhases, Span

_NO_RUN_TASK = (
    "its command does not begin with run-task, so all of it is own work, also what starts its "
    "container, checks out or fetches"
)
_NO_END = "its log does not have the end of its command: the last phase includes artifacts"
_NO_STAMP = "its log has no line of a worker with a time"


class RunFacts(Struct, frozen=True, kw_only=True):
    """What is known of a run without its log; times since 1970, None: not known."""

    label: str = ""
    pool: str = ""
    task_id: str = ""
    run_id: int | None = None
    worker: str = ""
    scheduled_ns: int | None = None
    started_ns: int | None = None
    resolved_ns: int | None = None
    # Of a worker whose first task this is.
    worker_made_ns: int | None = None
    worker_ready_ns: int | None = None
    started: str = ""  # as the queue writes it


class LogReader(Struct):
    """Takes a log in parts, each once and in order."""

    facts: RunFacts
    _head: LogHead = field(default_factory=LogHead)
    _tail: LogTail = field(default_factory=LogTail)
    _splitter: LineSplitter = field(default_factory=LineSplitter)
    _command_offset: int = 0  # what follows may be the task's

    def take(self, part: bytes) -> None:
        """Read the next part of the log."""
        self._tail.add(part)
        if self._head.has_ended:
            return
        for line in self._splitter.lines(part):
            had_command = self._head.command_ns is not None
            is_wanted = self._head.read(line)
            if not had_command:
                self._command_offset = self._splitter.position
            if not is_wanted:
                return
        if self._splitter.size_bytes >= MOST_HEAD_BYTES:
            self._head.stop()

    @property
    def needs_only_end(self) -> bool:
        """Return whether a reader may go on at the last bytes, `TAIL_BYTES`."""
        return self._head.has_ended

    def skip_to(self, offset: int) -> None:
        """Go on at a later place of the log."""
        self._tail.skip_to(offset)

    def finish(self, *, is_cut: bool = False, message: str = "") -> RunPhases:
        """Return the phases; `is_cut`: the log has an end that was not read."""
        head, facts = self._head, self.facts
        if not head.has_ended:
            head.read(self._splitter.last())
        offset = 0 if head.command_ns is None else self._command_offset
        end = read_end(self._tail.after(offset), head.command_ns)
        if is_cut:
            end = LogEnd(last_ns=end.last_ns)
        messages = [*filter(None, (message, *head.messages, end.message))]
        if head.has_own_command:
            messages.append(_NO_RUN_TASK)
        is_complete = not is_cut and self._has_ended(end)
        if is_complete and end.finished_ns is None and head.command_ns is not None:
            messages.append(_NO_END)
        times = LogTimes.of(head, end, facts.started_ns, facts.resolved_ns, messages)
        spans: tuple[Span, ...] = ()
        if times is None:
            messages.append(_NO_STAMP)
        else:
            spans = make_spans(head, end, times, is_complete=is_complete, messages=messages)
        spans = (*_before_start(facts), *spans)
        longest_ns = {PhaseName.CHECKOUT: 0, PhaseName.DOWNLOAD: 0}
        for span in spans:
            is_fetching = span.phase in (PhaseName.STREAMED, PhaseName.UNPACK)
            phase = PhaseName.DOWNLOAD if is_fetching else span.phase
            longest_ns[phase] = longest_ns.get(phase, 0) + span.duration_ns
        return RunPhases(
            label=facts.label,
            pool=facts.pool or head.pool,
            task_id=facts.task_id or head.task_id,
            run_id=facts.run_id,
            worker=facts.worker,
            started=facts.started or (queue_text(head.first_ns) if head.first_ns else ""),
            run_ns=0 if times is None else times.end_ns - times.start_ns,
            spans=spans,
            is_complete=is_complete and times is not None,
            messages=tuple(messages),
            parts=tuple(part for part in head.parts if part.duration_ns <= longest_ns[part.phase]),
        )

    def _has_ended(self, end: LogEnd) -> bool:
        """Return whether the log ends as those of runs that have ended do.

        A task that fails before its command starts has no line of its end.
        """
        if self.facts.resolved_ns is None:
            return self.facts.started_ns is None and end.finished_ns is not None
        return end.finished_ns is not None or end.is_worker_last


def _before_start(facts: RunFacts) -> Iterator[Span]:
    """Yield the spans before the run: pending, and within that the start of a new worker."""
    if facts.scheduled_ns is None or facts.started_ns is None:
        return
    end_ns, begin_ns = facts.started_ns, min(facts.scheduled_ns, facts.started_ns)
    made_ns, ready_ns = facts.worker_made_ns, facts.worker_ready_ns
    if made_ns is None or ready_ns is None:
        made_ns = ready_ns = end_ns
    # A worker may have been made before the run was scheduled.
    made_ns = min(max(made_ns, begin_ns), end_ns)
    ready_ns = min(max(ready_ns, made_ns), end_ns)
    for phase, start_ns, stop_ns in (
        (PhaseName.PENDING, begin_ns, made_ns),
        (PhaseName.WORKER_START, made_ns, ready_ns),
        (PhaseName.PENDING, ready_ns, end_ns),
    ):
        if stop_ns > start_ns:
            yield Span(phase, start_ns - end_ns, stop_ns - start_ns)
