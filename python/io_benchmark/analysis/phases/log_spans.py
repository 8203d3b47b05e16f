# SPDX-License-Identifier: MPL-2.0
"""Make spans of a log's phases: without gaps, without negative times, as long as the run.

The queue's times are of another clock than the log's stamps, and any stamp may be wrong.
"""

from collections.abc import Iterator, Sequence
from typing import Self

from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.phases.log_end import LogEnd
from io_benchmark.analysis.phases.log_head import LogHead, Segment
from io_benchmark.analysis.phases.phase_model import PhaseName, Span
from io_benchmark.number_text import digits, number_of

_S = 10**9
_MOST_SKEW_NS = 60 * _S  # between two machines that set their clocks
_SKEW_SAID_NS = _S // 2
_LONGEST_RUN_NS = 30 * 86_400 * _S  # no task may run so long


class LogTimes(Struct, frozen=True):
    """When the run and its log began and ended, by the clock of the queue where it is known."""

    start_ns: int
    end_ns: int
    log_start_ns: int
    log_end_ns: int  # of its lines
    shift_ns: int  # to add to stamps

    @classmethod
    def of(
        cls,
        head: LogHead,
        end: LogEnd,
        started_ns: int | None,
        resolved_ns: int | None,
        messages: list[str],
    ) -> Self | None:
        """Return the times; None without any. What is wrong with stamps becomes a message."""
        first_ns = head.first_ns if started_ns is None else started_ns
        if first_ns is None or head.first_ns is None:
            return None
        last_ns = head.last_ns or first_ns if end.last_ns is None else end.last_ns
        shift_ns = _shift_ns(head.first_ns, last_ns, started_ns, resolved_ns)
        if abs(shift_ns) >= _SKEW_SAID_NS:
            seconds = digits(abs(shift_ns) / _S)
            messages.append(
                f"the clocks of worker and queue differ by {seconds} s; stamps are moved by that"
            )
        ends_ns = last_ns + shift_ns if resolved_ns is None else resolved_ns
        if not 0 <= ends_ns - first_ns <= _LONGEST_RUN_NS:
            messages.append("the stamps at both ends of the log contradict each other")
            ends_ns = first_ns
            if 0 <= (head.last_ns or 0) - first_ns <= _LONGEST_RUN_NS:
                ends_ns = head.last_ns or first_ns
        return cls(first_ns, ends_ns, head.first_ns + shift_ns, last_ns + shift_ns, shift_ns)


def _shift_ns(first_ns: int, last_ns: int, started_ns: int | None, resolved_ns: int | None) -> int:
    """Return what to add to stamps, so that no line is before the start or after the end.

    Clocks that differ by less cannot be told from what was done before the first line.
    """
    if started_ns is not None and -_MOST_SKEW_NS <= first_ns - started_ns < 0:
        return started_ns - first_ns
    if resolved_ns is not None and 0 < last_ns - resolved_ns <= _MOST_SKEW_NS:
        room_ns = max(0, first_ns - started_ns) if started_ns is not None else 0
        return -min(last_ns - resolved_ns, room_ns)
    return 0


def make_spans(
    head: LogHead, end: LogEnd, times: LogTimes, *, is_complete: bool, messages: list[str]
) -> tuple[Span, ...]:
    """Return the spans of a run from its start to its end."""
    segments = [*head.segments, *_end_segments(head, end, times, is_complete=is_complete)]
    starts_ns: list[int] = []
    newest_ns, misplaced = times.start_ns, head.steps_back
    # What is after the last line is no place for a phase to begin.
    limit_ns = min(times.end_ns, max(times.log_end_ns, times.start_ns))
    for segment in segments:
        start_ns = segment.start_ns + times.shift_ns
        if not times.start_ns <= start_ns <= limit_ns:
            misplaced += start_ns < times.start_ns - _S or start_ns > limit_ns + _S
            start_ns = newest_ns
        newest_ns = max(newest_ns, start_ns)
        starts_ns.append(newest_ns)
    if misplaced:
        messages.append(
            f"stamps that go back or are outside of the run: {number_of(misplaced, 'line')}; "
            "phases next to them may be wrong"
        )
    spans: list[Span] = []
    if not starts_ns or starts_ns[0] > times.start_ns:
        first_ns = starts_ns[0] if starts_ns else times.end_ns
        spans.append(Span(PhaseName.OTHER, times.start_ns, first_ns - times.start_ns))
    for segment, start_ns, next_ns in zip(
        segments, starts_ns, [*starts_ns[1:], times.end_ns], strict=True
    ):
        spans += _spans(segment, start_ns, next_ns - start_ns)
    return tuple(replace(span, start_ns=span.start_ns - times.start_ns) for span in _joined(spans))


def _end_segments(
    head: LogHead, end: LogEnd, times: LogTimes, *, is_complete: bool
) -> Iterator[Segment]:
    if end.finished_ns is not None:
        yield Segment(PhaseName.ARTIFACTS, end.finished_ns)
        if end.kept_ns is not None:
            yield Segment(PhaseName.CACHES_KEPT, end.kept_ns)
        if end.ended_ns is not None:
            yield Segment(PhaseName.OTHER, end.ended_ns)
    elif not is_complete and head.segments:
        # The run went on, and nothing says with what.
        yield Segment(PhaseName.OTHER, times.log_end_ns - times.shift_ns)


def _spans(segment: Segment, start_ns: int, duration_ns: int) -> list[Span]:
    if segment.fetches is not None:
        return segment.fetches.spans(start_ns, duration_ns)
    size_bytes, busy_ns = segment.size_bytes or None, segment.busy_ns or None
    return [Span(segment.phase, start_ns, duration_ns, size_bytes, busy_ns)]


def _joined(spans: Sequence[Span]) -> list[Span]:
    """Join spans of one phase that follow each other; leave out those without time and bytes."""
    joined: list[Span] = []
    for span in spans:
        if not span.duration_ns and span.size_bytes is None:
            continue
        if joined and joined[-1].phase is span.phase:
            joined[-1] = _sum(joined[-1], span)
        else:
            joined.append(span)
    return joined


def _sum(first: Span, second: Span) -> Span:
    return replace(
        first,
        duration_ns=first.duration_ns + second.duration_ns,
        size_bytes=(first.size_bytes or 0) + (second.size_bytes or 0) or None,
        busy_ns=(first.busy_ns or 0) + (second.busy_ns or 0) or None,
    )
