# SPDX-License-Identifier: MPL-2.0
"""Counts of several become windows of all together."""

import itertools

import pytest
from measuring import windows


def together(members: int, **counts: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    found: list[tuple[int, int, int]] = windows.windows_together(counts, members, window_ns=10)
    return found


def test_one_counts_alone() -> None:
    """What is done by each boundary, from the first one that the count saw."""
    assert together(1, a=[(3, 10, 8), (10, 20, 7), (20, 30, 9), (30, 37, 5)]) == [
        (10, 10, 7),
        (20, 10, 9),
    ]


def test_counts_of_the_same_time_are_added() -> None:
    """Only windows in which all were at work."""
    first = [(3, 10, 7), (10, 20, 10), (20, 30, 9), (30, 40, 3)]
    second = [(8, 10, 2), (10, 20, 20), (20, 30, 16)]
    assert together(2, a=first, b=second) == [(10, 10, 30), (20, 10, 25)]


def test_a_count_over_several_windows_is_shared_out() -> None:
    """A process that was held up is taken to have worked evenly; none of it is lost."""
    steady = [(0, 10, 1), (10, 20, 1), (20, 30, 1), (30, 40, 1)]
    held_up = [(0, 40, 40)]
    assert together(2, a=steady, b=held_up) == [(at, 10, 11) for at in (0, 10, 20, 30)]


def test_a_little_too_long_a_count_is_split() -> None:
    """What was done past the boundary belongs to the next window."""
    assert together(1, a=[(0, 15, 30), (15, 21, 6), (21, 30, 9)]) == [
        (0, 10, 20),
        (10, 10, 15),
        (20, 10, 10),
    ]


def test_a_window_without_an_operation_lengthens_the_next() -> None:
    """Time in which nothing was done counts, or a stall would make the rate better."""
    assert together(1, a=[(0, 10, 4), (10, 40, 1), (40, 50, 4)]) == [
        (0, 10, 4),
        (10, 20, 1),
        (30, 20, 4),
    ]


def test_nothing_until_all_have_counted() -> None:
    """What one alone did is no measure of all."""
    assert together(2, a=[(0, 10, 1), (10, 20, 1)]) == []


def test_a_count_ends_at_the_first_step_past_a_boundary(monkeypatch: pytest.MonkeyPatch) -> None:
    """Telling takes its own time, which is in no count and in nothing that was spent."""
    clock = itertools.count(0, 4)
    monkeypatch.setattr(windows.time, "monotonic_ns", lambda: next(clock))
    messages: list[tuple[list[list[int]], int]] = []

    def tell(counts: list[list[int]], spent: list[int]) -> None:
        wall_ns, *others = spent
        assert len(others) == 3
        messages.append((counts, wall_ns))

    windows.count(lambda: None, 3, window_ns=10, end_ns=30, tell=tell, windows_per_message=2)
    assert messages == [([[0, 12, 9], [16, 20, 3]], 20), ([[24, 32, 6]], 8)]
