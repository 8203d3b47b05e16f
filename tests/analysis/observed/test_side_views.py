# SPDX-License-Identifier: MPL-2.0
"""A side without one of its workers answers as if it had never had it, and reads nothing again."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from io_benchmark.analysis.model import UNKNOWN
from io_benchmark.analysis.observed.side_views import Runs, SideViews
from io_benchmark.analysis.observed.worker_view import View

NUMBERS = st.none() | st.floats(-1e12, 1e12) | st.sampled_from((0.1, 0.2, 1e-300, 1e12))
# By worker, the number of each of its runs.
SIDES = st.lists(st.lists(NUMBERS, min_size=1, max_size=3), min_size=2, max_size=9)


def view(machine: str, number: float | None, *, is_measured: bool = True) -> View:
    entry = object() if is_measured else None
    run = SimpleNamespace(worker=SimpleNamespace(machine=machine), entry=entry, number=number)
    return cast("View", run)


def side(workers: Sequence[Sequence[float | None]], *, first: int = 0) -> SideViews:
    return SideViews.of(
        view(str(at), number) for at, numbers in enumerate(workers, first) for number in numbers
    )


def number(each: View) -> float | None:
    return cast("SimpleNamespace", each).number  # type: ignore[no-any-return]


def by_sign(runs: Runs) -> dict[str, float]:
    known = [value for value in map(number, runs) if value is not None]
    return {"above" if value > 0 else "below": value for value in known}


@given(SIDES)
def test_what_one_worker_showed_is_taken_out(workers: list[list[float | None]]) -> None:
    """To the last bit: means, medians, values and readings are those of the others alone."""
    whole = side(workers)
    for at in range(len(workers)):
        others = side([*workers[:at], *workers[at + 1 :]])
        without = whole.without(at)
        assert without.mean(number) == others.mean(number)
        assert without.median(number) == others.median(number)
        assert without.values(number) == others.values(number)
        assert without.readings(number) == others.readings(number)
        assert without.values_of_workers(len) == others.values_of_workers(len)
        assert without.means(by_sign) == others.means(by_sign)


def test_answers_of_a_whole_side() -> None:
    """A worker counts once, however many runs it has; one without the number counts for nothing."""
    whole = side([[1.0, 3.0], [6.0], [None]])
    assert (whole.mean(number), whole.median(number)) == (4.0, 4.0)
    assert whole.values(number) == {1.0, 3.0, 6.0, None}
    assert side([[None]]).mean(number) is None


def test_each_run_is_read_once() -> None:
    """Whatever is asked, and whoever is left out."""
    read: list[View] = []

    def reading(each: View) -> float | None:
        read.append(each)
        return number(each)

    whole = side([[1.0], [2.0, 3.0], [4.0]])
    for each in (whole, *map(whole.without, range(3))):
        each.mean(reading), each.median(reading), each.values(reading), each.readings(reading)
    assert len(read) == 4


def test_runs_that_did_not_measure() -> None:
    """They are left out, and a side that has none is the same one."""
    whole = side([[1.0], [2.0]])
    assert whole.measured is whole
    mixed = SideViews.of([view("a", 1.0), view("b", 2.0, is_measured=False), view(UNKNOWN, 3.0)])
    assert [[number(each) for each in runs] for runs in mixed.measured.workers] == [[1.0], [3.0]]


@pytest.mark.parametrize("at", range(3))
def test_the_others_of_a_worker(at: int) -> None:
    """Runs and workers are those of the others."""
    whole = side([[1.0], [2.0, 3.0], [4.0]])
    runs = [runs for other, runs in enumerate(whole.workers) if other != at]
    assert whole.without(at).workers == runs
    assert list(whole.without(at)) == [each for of_worker in runs for each in of_worker]
