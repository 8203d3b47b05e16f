# SPDX-License-Identifier: MPL-2.0
"""Rates of disks in windows of a timeline, and counters that grow in it."""

from array import array

import pytest
from msgspec.structs import replace

from io_benchmark.analysis.model.run import Run
from io_benchmark.analysis.model.subject import Subject
from io_benchmark.analysis.model.time_parts import Kind, Part, Phase
from io_benchmark.analysis.reading.windows import TimelineRows, Window, _blocked_s
from io_benchmark.results.format import RecordedTimeline

SECOND_NS = 10**9
SUBJECT = Subject("cache-retrieve", "workspace")


def windows(count: int, blocked_share: float) -> list[Window]:
    """Windows that read 1, 2, … bytes and write ten times as many."""
    return [Window(1.0, 1.0 * at, 10.0 * at, blocked_share) for at in range(1, count + 1)]


@pytest.mark.parametrize(
    ("blocked", "calm", "peak"),
    [
        # The ninth decile, which 90 % of the windows do not exceed; reads count while blocked.
        pytest.param(windows(11, 1.0), [], (10.0, 100.0), id="all-blocked"),
        pytest.param(windows(11, 0.5), [], (20.0, 100.0), id="half-of-the-time"),
        pytest.param(windows(4, 0.5), windows(90, 0.0), (7.4, 37.0), id="four-blocked"),
        pytest.param(windows(3, 0.5), windows(8, 0.49), (14.2857, 70.0), id="three-blocked"),
        pytest.param([], windows(11, 0.01), (200.0, 100.0), id="hardly-blocked"),
        pytest.param([], [], None, id="no-windows"),
    ],
)
def test_what_disks_keep_up(blocked, calm, peak):
    """While the process is blocked, where that is so in four windows at least; else at any time."""
    assert Window.peak([*blocked, *calm]) == (peak and pytest.approx(peak, rel=1e-4))


@pytest.mark.parametrize(("blocked_share", "rate"), [(0.49, 10.0), (0.5, 20.0)])
def test_writes_while_blocked(blocked_share: float, rate: float) -> None:
    """A process that works for longer does not show when the disks wrote."""
    assert Window(1.0, 0.0, 10.0, blocked_share).writing_bytes_per_s == rate


@pytest.mark.parametrize(("count", "peak"), [(19, 30.0), (20, 20.0)])
def test_requests_that_end_in_another_window(count: int, peak: float) -> None:
    """From twenty windows on, two together count as one."""
    rates = [30.0 if at % 2 else 10.0 for at in range(count)]
    assert Window.peak([Window(1.0, 0.0, rate, 1.0) for rate in rates]) == (0.0, peak)


@pytest.mark.parametrize(
    ("times_s", "counter", "expected"),
    [
        ((1, 2, 5), (7, 8, 19), 12),
        ((1, 2, 5), (None, 8, 19), None),
        ((1, 2, 5), (7, None, 19), 12),
        ((1, 1), (7, 9), None),
        ((1,), (7,), None),
        ((1, 2), None, None),
    ],
)
def test_growth_of_a_counter(times_s, counter, expected):
    """From the first row to the last, where both have it and time passed."""
    timeline = RecordedTimeline({"time_ns": [time * SECOND_NS for time in times_s]}, {})
    assert TimelineRows(timeline, [range(len(times_s))]).growth(counter) == expected


def test_turns() -> None:
    """What others did between the turns of a measurement does not count."""
    starts, times = (
        array("q", [second * SECOND_NS for second in seconds])
        for seconds in ((0, 2, 10, 12), (2, 2, 2, 2))
    )
    entry = Run(SUBJECT, start_ns=starts, total_ns=times, turn_ends=(2, 4))
    times_ns = [second * SECOND_NS for second in range(1, 15)]
    times_ns[9] += SECOND_NS * 6 // 10  # close to the next row
    counter = [second * 100 if 4 < second < 10 else second for second in range(1, 15)]
    rows = TimelineRows.of_samples(RecordedTimeline({"time_ns": times_ns}, {}), entry)
    assert [list(stretch) for stretch in rows.stretches] == [[0, 1, 2, 3], [9, 11, 12, 13]]
    assert (rows.growth(counter), rows.lasted_s) == (7, 6.4)
    assert rows.steps(counter) == [1, 1, 1, 2, 1, 1]
    whole = TimelineRows.of_samples(rows.timeline, replace(entry, turn_ends=()))
    assert (whole.growth(counter), whole.lasted_s) == (13, 13.0)


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (1, 0, 3, 2), (3, 1, 0, 2)])
def test_samples_that_overlap(order: tuple[int, ...]) -> None:
    """Processes that run at once, in the order of their starts, or of their ends as in 1.0.0."""
    starts_s, lasted_s = (1, 2, 11, 11), (8, 3, 4, 8)
    entry = Run(
        subject=Subject("exec", "workspace", variant="copies", threads=2),
        start_ns=array("q", [starts_s[at] * SECOND_NS for at in order]),
        total_ns=array("q", [lasted_s[at] * SECOND_NS for at in order]),
        operations=array("q", [1] * 4),
    )
    times_ns = [number * 5 * SECOND_NS for number in range(5)]
    rows = TimelineRows.of_samples(RecordedTimeline({"time_ns": times_ns}, {}), entry)
    assert rows.stretches == [[1, 2, 3]]
    # A sample took all of the time from 1 s to 9 s and from 11 s to 19 s.
    everything = TimelineRows(rows.timeline, [[0, 1, 2, 3, 4]])
    assert everything.sampled_ns(entry) == [
        4 * SECOND_NS,
        4 * SECOND_NS,
        4 * SECOND_NS,
        4 * SECOND_NS,
    ]
    facts = replace(entry, parts_ns={Part(Phase.OPERATION, Kind.BLOCKED): entry.mean_ns / 2})
    # Each sample was blocked for half of its time, and counts until its end.
    assert _blocked_s(facts, everything) == pytest.approx([1.5, 4 + 1 / 3, 2 - 1 / 3, 4])
