# SPDX-License-Identifier: MPL-2.0
"""Which machine does not belong to its pool, each limit from both sides; tests/simulation has the rates."""

import math

import numpy as np
import pytest
import simulation

from io_benchmark.analysis.inference.estimates import SideData
from io_benchmark.analysis.model import Entry
from io_benchmark.analysis.summary.unlike_machines import _outside

STEADY = simulation.entry(np.full(100, 1_000_000))


def side(*ratios: float, entry: Entry = STEADY) -> SideData:
    return SideData(tuple(map(math.log, ratios)), ((entry,),) * len(ratios))


def named(data: dict[str, SideData], *, assumed: float = 0.01, looked_at: int = 4) -> list[str]:
    level = 1 - 0.0125 / looked_at
    return [f"{name} {at}" for name, at, _, _ in _outside(data, assumed, level)]


@pytest.mark.parametrize(
    ("machines", "assumed", "looked_at", "expected"),
    [
        # Nobody replaces a machine for less than 1.25×, in both directions, however alike the others.
        *(
            ((ratio, 1.001, 1.0, 1.0, 0.999), 0.01, 4, expected)
            for ratio, expected in (
                (1.24, []),
                (1.26, ["a 0"]),
                (1 / 1.24, []),
                (1 / 1.26, ["a 0"]),
            )
        ),
        # Two other machines do not show what is usual.
        ((2.0, 1.0, 1.0), 0.01, 4, []),
        ((2.0, 1.0, 1.0, 1.0), 0.01, 4, ["a 0"]),
        # Four machines hardly show how far machines differ, so they may vary as assumed.
        ((1.5, 1.0, 1.01, 0.99), 0.05, 4, ["a 0"]),
        ((1.5, 1.0, 1.01, 0.99), 0.10, 4, []),
        # The level is corrected for all machines that a report looks at.
        ((1.45, 1.0, 1.01, 0.99), 0.05, 4, ["a 0"]),
        ((1.45, 1.0, 1.01, 0.99), 0.05, 400, []),
        # Tails are heavy: many machines do not make it less strict than eight degrees of freedom do.
        ((1.39, 1.0, *[0.935, 1.07] * 5), 0.05, 12, []),
        ((1.47, 1.0, *[0.935, 1.07] * 5), 0.05, 12, ["a 0"]),
        # Two of five: a mixed pool.
        ((1.0, 1.02, 0.97, 2.0, 2.02), 0.05, 8, []),
    ],
)
def test_one_machine_of_a_pool(machines, assumed, looked_at, expected):
    """Only a machine that is alone, and clearly so, is named."""
    assert named({"a": side(*machines)}, assumed=assumed, looked_at=looked_at) == expected


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
