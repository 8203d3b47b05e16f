# SPDX-License-Identifier: MPL-2.0
"""A side without one of its workers answers as if it had never had it, and reads nothing again."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import cast

from hypothesis import given
from hypothesis import strategies as st

from io_benchmark.analysis.observed.runs import Run
from io_benchmark.analysis.observed.sides import Side

NUMBERS = st.none() | st.floats(-1e12, 1e12) | st.sampled_from((0.1, 0.2, 1e-300, 1e12))
# By worker, the number of each of its runs.
SIDES = st.lists(st.lists(NUMBERS, min_size=1, max_size=3), min_size=2, max_size=9)


def run(machine: str, number: float | None) -> Run:
    worker = SimpleNamespace(machine=machine)
    return cast("Run", SimpleNamespace(worker=worker, is_measured=True, number=number))


def side(workers: Sequence[Sequence[float | None]]) -> Side:
    return Side.of(
        run(str(machine), number) for machine, numbers in enumerate(workers) for number in numbers
    )


def number(one_run: Run) -> float | None:
    return cast("SimpleNamespace", one_run).number  # type: ignore[no-any-return]


@given(SIDES)
def test_without_a_worker(workers: list[list[float | None]]) -> None:
    """To the last bit: runs, means, medians, values and readings are those of the others alone."""
    whole = side(workers)
    for left_out in range(len(workers)):
        rest = side([*workers[:left_out], *workers[left_out + 1 :]])
        without = whole.without(left_out)
        assert list(map(number, without)) == list(map(number, rest))
        assert list(map(len, without.workers)) == list(map(len, rest.workers))
        assert without.mean(number) == rest.mean(number)
        assert without.median(number) == rest.median(number)
        assert without.values(number) == rest.values(number)
        assert without.readings(number) == rest.readings(number)
        assert without.by_worker(len) == rest.by_worker(len)
