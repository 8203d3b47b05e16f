# SPDX-License-Identifier: MPL-2.0
"""Samples in batches: when there are enough, and how counts of several become windows of all."""

import itertools
from types import SimpleNamespace
from typing import Any

import pytest
from measuring import batches
from workloads import spawn

STEADY = [(0, 10, 1), (10, 20, 1), (20, 30, 1), (30, 40, 1)]


@pytest.mark.parametrize(
    ("counts", "windows"),
    [
        # What is done by each boundary, from the first one that the count saw.
        ([[(3, 10, 8), (10, 20, 7), (20, 30, 9), (30, 37, 5)]], [(10, 10, 7), (20, 10, 9)]),
        # Only windows in which all were at work are added.
        (
            [
                [(3, 10, 7), (10, 20, 10), (20, 30, 9), (30, 40, 3)],
                [(8, 10, 2), (10, 20, 20), (20, 30, 16)],
            ],
            [(10, 10, 30), (20, 10, 25)],
        ),
        # A process that was held up is taken to have worked evenly; none of it is lost.
        ([STEADY, [(0, 40, 40)]], [(start, 10, 11) for start in (0, 10, 20, 30)]),
        # What was done past the boundary belongs to the next window.
        ([[(0, 15, 30), (15, 21, 6), (21, 30, 9)]], [(0, 10, 20), (10, 10, 15), (20, 10, 10)]),
        # Time in which nothing was done counts, or a stall would make the rate better.
        ([[(0, 10, 4), (10, 40, 1), (40, 50, 4)]], [(0, 10, 4), (10, 20, 1), (30, 20, 4)]),
        # A short run on a busy machine: all of it.
        ([[(3, 8, 5)]], [(3, 5, 5)]),
        # What one alone did is no measure of all.
        ([[(0, 10, 1), (10, 20, 1)], None], []),
    ],
)
def test_counts_of_several_become_windows(counts, windows):
    """The windows of ten nanoseconds: start, duration, operations of all together."""
    by_member = {number: done for number, done in enumerate(counts) if done is not None}
    assert batches._windows_together(by_member, len(counts), window_ns=10) == windows


def test_a_count_ends_at_the_first_step_past_a_boundary(monkeypatch):
    """Telling takes its own time, which is in no count and in nothing that was spent."""
    clock = itertools.count(0, 4)
    monkeypatch.setattr(batches.clock, "now_ns", lambda: next(clock))
    messages: list[list[Any]] = []
    batches.count(lambda: None, 3, 10, 30, messages.append, windows_per_message=2, thread=5)
    assert [message[:2] for message in messages] == [
        [5, [[0, 12, 9], [16, 20, 3]]],
        [5, [[24, 32, 6]]],
    ]
    assert [(wall_ns, len(others)) for *_, (wall_ns, *others) in messages] == [(20, 3), (8, 3)]


def test_when_there_is_enough():
    """As many samples as planned, or the first that ends when the time is over.

    A sample takes some time.
    """
    bench = SimpleNamespace(origin_ns=100, settings=SimpleNamespace(profile="full"))
    bench.between_samples = lambda _now_ns: None
    workload = spawn.WORKLOAD(bench, None, "/a")
    workload.planned, workload.time_limit_s = 3, 1.0
    for times, enough in (
        ([(1000, 2000), (2000, 2000)], [False]),
        ([(1000, 2000), (3000, 4000), (5000, 6000)], [False, False, True]),
        ([(1000, 10**9 + 999)], [False]),
        ([(1000, 10**9 + 1000)], [True]),
    ):
        workload._rows = []
        workload.begin(1000)
        groups = [times] if len(enough) == 1 else [[time] for time in times]
        assert [workload.add(group, 2) for group in groups] == enough
        assert workload._rows == [(start - 100, max(1, end - start), 2) for start, end in times]
