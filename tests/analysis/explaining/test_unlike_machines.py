# SPDX-License-Identifier: MPL-2.0
"""A machine that does not belong to its pool, each limit from both sides."""

import math

import numpy as np
import pytest
import simulation
from scipy import stats

from io_benchmark.analysis.explaining.unlike_machines import _outside
from io_benchmark.analysis.model.side import Side


def side(*ratios: float) -> Side:
    return simulation.side_of_logs(map(math.log, ratios))


def named(data: dict[str, Side], *, assumed: float = 0.01, looked_at: int = 4) -> list[str]:
    level = 1 - 0.0125 / looked_at
    return [f"{found.side} {found.position}" for found in _outside(data, assumed, level)]


@pytest.mark.parametrize(
    ("machines", "assumed", "looked_at", "expected"),
    [
        # Nobody replaces a machine for less than 1.25×, in both directions, however alike the
        # others.
        ((1.24, 1.001, 1.0, 1.0, 0.999), 0.01, 4, []),
        ((1.26, 1.001, 1.0, 1.0, 0.999), 0.01, 4, ["a 0"]),
        ((1 / 1.24, 1.001, 1.0, 1.0, 0.999), 0.01, 4, []),
        ((1 / 1.26, 1.001, 1.0, 1.0, 0.999), 0.01, 4, ["a 0"]),
        # Two other machines do not show what is usual.
        ((2.0, 1.0, 1.0), 0.01, 4, []),
        ((2.0, 1.0, 1.0, 1.0), 0.01, 4, ["a 0"]),
        # Four machines hardly show how far machines differ, so they may vary as assumed.
        ((1.5, 1.0, 1.01, 0.99), 0.05, 4, ["a 0"]),
        ((1.5, 1.0, 1.01, 0.99), 0.10, 4, []),
        # The level is corrected for all machines that a report looks at.
        ((1.45, 1.0, 1.01, 0.99), 0.05, 4, ["a 0"]),
        ((1.45, 1.0, 1.01, 0.99), 0.05, 400, []),
        # Tails are heavy: many machines do not make it less strict than eight degrees of freedom
        # do.
        ((1.39, 1.0, *[0.935, 1.07] * 5), 0.05, 12, []),
        ((1.47, 1.0, *[0.935, 1.07] * 5), 0.05, 12, ["a 0"]),
        # Two of five: a mixed pool.
        ((1.0, 1.02, 0.97, 2.0, 2.02), 0.05, 8, []),
    ],
)
def test_one_machine_of_a_pool(machines, assumed, looked_at, expected):
    """Only a machine that is alone, and clearly so, is named."""
    assert named({"a": side(*machines)}, assumed=assumed, looked_at=looked_at) == expected


def test_how_far_one_more_machine_usually_is() -> None:
    """A prediction interval of Student's t, by other machines and the assumed variation."""
    logs, other = [0.7, 0.0, 0.02, -0.01], [0.05, -0.05]
    data = {
        name: side(*map(math.exp, side_logs)) for name, side_logs in (("a", logs), ("b", other))
    }
    (found,) = _outside(data, 0.1, 0.99)
    # The assumed variance counts twice, as that of seven machines.
    squares = 6 * 2 * 0.1**2 + 2 * np.var(logs[1:], ddof=1) + np.var(other, ddof=1)
    expected = stats.t.ppf(0.995, 8) * math.sqrt(squares / 9 * (1 + 1 / 3))
    assert (found.side, found.position) == ("a", 0)
    assert (found.log_ratio, found.width) == pytest.approx((0.7 - np.mean(logs[1:]), expected))
