# SPDX-License-Identifier: MPL-2.0
"""Readings by pool: their order, machines and pushes, and clocks of the future."""

from datetime import timedelta

import pytest
from measured_pools import AS_OF, START, reading, row, table, texts, weekly

from io_benchmark.analysis.fleet.pool_readings import by_pool, machines_of
from io_benchmark.analysis.model.run import UNKNOWN
from io_benchmark.analysis.reading.machines import MachineMarks


def test_machines() -> None:
    """By their marks: an id of the pool's own, or a boot id; each unknown one is another."""
    boot = ("12345678-1234-1234-1234-123456789abc", "6.8.0")
    (pool,) = by_pool(
        [
            reading(week=0, machine="a"),
            reading(week=1, machine="a"),
            reading(week=2, marks=MachineMarks("b", boot, (), "q"), task_id="b"),
            reading(week=3, marks=MachineMarks("c", boot, (), "q"), task_id="c"),
            reading(week=4, marks=MachineMarks(UNKNOWN), task_id="d"),
            reading(week=5, marks=MachineMarks(UNKNOWN), task_id="e"),
        ]
    )
    assert machines_of(pool.located) == 4


def test_pushes() -> None:
    """The results of one group are one push, at the time of its first."""
    late = START + timedelta(hours=5)
    (pool,) = by_pool(
        [reading(week=0, time=late, task_id="late"), reading(week=0), reading(week=1)]
    )
    assert [(item.push, item.pushed) for item in pool.located] == [
        (0, START),
        (0, START),
        (1, START + timedelta(weeks=1)),
    ]


def test_a_run_counts_once() -> None:
    """However often it was read; the reading with more figures is kept."""
    once = reading(values={"write": 700.0})
    again = reading(values={"write": 700.0, "flush": 2.0}, source="elsewhere")
    (pool,) = by_pool([again, once])
    assert [item.reading for item in pool.located] == [again]
    rerun = reading(run_id=1)
    unknown = [reading(task_id=UNKNOWN, values={"write": value}) for value in (1.0, 2.0)]
    (pool,) = by_pool([once, again, rerun, *unknown, *unknown])
    assert len(pool.located) == 4


@pytest.mark.parametrize(("days", "is_left_out"), [(1, False), (2, True)])
def test_clocks_of_the_future(days, is_left_out):
    """A result of more than a day later is left out, and named; clocks may differ by a day."""
    later = START.replace(month=8, day=1) + timedelta(days=days)
    made = table([*weekly("intel", [700.0] * 2), reading("intel", 9, time=later)])
    notes = [f"intel: 1 result dated in the future left out, up to {later.date()}"]
    assert texts(made.notes) == (notes if is_left_out else [])
    assert (row(made, "intel").last > AS_OF) != is_left_out


def test_only_future_results() -> None:
    """Such a pool has no row; the note names it."""
    later = START.replace(year=2099)
    made = table([reading("intel", 0, time=later), reading("intel", 1, time=later)])
    assert made.pools == ()
    assert texts(made.notes) == ["intel: 2 results dated in the future left out, up to 2099-06-01"]
