# SPDX-License-Identifier: MPL-2.0
"""Which machine does not belong to its pool, each limit from both sides; tests/simulation has the rates."""

import math

import numpy as np
import pytest
import simulation

from io_benchmark.analysis.inference.estimates import SideData
from io_benchmark.analysis.inference.single_machines import _outside
from io_benchmark.analysis.model import Entry

STEADY = simulation.entry(np.full(100, 1_000_000))


def side(*ratios: float, entry: Entry = STEADY) -> SideData:
    return SideData(tuple(map(math.log, ratios)), ((entry,),) * len(ratios))


def named(data: dict[str, SideData], *, assumed: float = 0.01, looked_at: int = 4) -> list[str]:
    level = 1 - 0.0125 / looked_at
    return [f"{name} {at}" for name, at, _, _ in _outside(data, assumed, level)]


@pytest.mark.parametrize(
    ("ratio", "expected"),
    [(1.24, []), (1.26, ["a 2"]), (1 / 1.24, []), (1 / 1.26, ["a 2"])],
)
def test_nobody_replaces_a_machine_for_less(ratio: float, expected: list[str]) -> None:
    """A machine is named from 1.25× on, in both directions, however alike its others are."""
    assert named({"a": side(1.0, 1.001, ratio, 1.0, 0.999)}) == expected


@pytest.mark.parametrize(("machines", "expected"), [(3, []), (4, ["a 0"])])
def test_three_others_are_needed(machines: int, expected: list[str]) -> None:
    """Two other machines do not show what is usual."""
    assert named({"a": side(2.0, *[1.0] * (machines - 1))}) == expected


@pytest.mark.parametrize(("assumed", "expected"), [(0.05, ["a 0"]), (0.10, [])])
def test_machines_may_vary_as_assumed(assumed: float, expected: list[str]) -> None:
    """Four machines hardly show how far machines differ."""
    assert named({"a": side(1.5, 1.0, 1.01, 0.99)}, assumed=assumed) == expected


@pytest.mark.parametrize(("looked_at", "expected"), [(4, ["a 0"]), (400, [])])
def test_many_machines_make_it_stricter(looked_at: int, expected: list[str]) -> None:
    """The level is corrected for all machines that a report looks at."""
    data = {"a": side(1.45, 1.0, 1.01, 0.99)}
    assert named(data, assumed=0.05, looked_at=looked_at) == expected


def test_one_bad_machine_per_side_does_not_hide_the_other() -> None:
    """The farthest machine of each side is left out of what is usual."""
    data = {"a": side(1.6, 1.0, 1.01, 0.99), "b": side(1.0, 1.01, 0.99, 0.6)}
    assert named(data, assumed=0.05, looked_at=8) == ["a 0", "b 3"]


def test_another_side_shows_how_far_machines_vary() -> None:
    """Its three machines vary widely, so that a difference of 1.4× is usual."""
    data = {"a": side(1.4, 1.0, 1.01, 0.99)}
    assert named(data) == ["a 0"]
    assert named({**data, "b": side(0.7, 1.0, 1.4)}) == []


@pytest.mark.parametrize(("stall_ms", "expected"), [(1, ["a 0"]), (60, [])])
def test_a_run_with_a_long_stall(stall_ms: int, expected: list[str]) -> None:
    """What the noise within runs explains is not the machine's."""
    times = np.full(100, 1_000_000)
    times[40:44] = stall_ms * 1_000_000
    steady = side(1.4, 1.0, 1.01, 0.99)
    noisy = SideData(steady.log_means, ((simulation.entry(times),), *steady.runs[1:]))
    assert named({"a": noisy}) == expected
