# SPDX-License-Identifier: MPL-2.0
"""How a benchmark's ratio compares with that of the tasks, each limit from both sides."""

import math

import pytest
import sample_tasks
from msgspec.structs import replace

from io_benchmark.analysis.model import Interval
from io_benchmark.analysis.tasks.compare_tasks import _standing


@pytest.mark.parametrize(
    ("benchmark", "tasks", "expected"),
    [
        # Two intervals that reach 0.1 to each side: they fit up to a distance of √2 × 0.1 = 0.1414.
        pytest.param((0.140, 0.1), (0.0, 0.1), "fits", id="fits"),
        pytest.param((0.143, 0.1), (0.0, 0.1), "overstates", id="overstates"),
        pytest.param((-0.143, 0.1), (0.0, 0.1), "overstates", id="overstates-faster"),
        pytest.param((0.2, 0.1), (0.343, 0.1), "understates", id="understates"),
        pytest.param((-0.11, 0.1), (0.11, 0.1), "contradicts", id="contradicts"),
        pytest.param((-0.09, 0.1), (0.11, 0.1), "understates", id="one-may-be-equal"),
        pytest.param((-0.11, 0.1), (0.09, 0.1), "overstates", id="the-tasks-may-be-equal"),
        pytest.param((3.0, 0.1), (0.0, math.inf), "fits", id="nothing-is-known"),
    ],
)
def test_standing(
    benchmark: tuple[float, float], tasks: tuple[float, float], expected: str
) -> None:
    """Each is ln of a ratio, and how far its interval reaches."""
    (ratio, interval), (tasks_ratio, tasks_interval) = (
        (math.exp(log), Interval(math.exp(log - width), math.exp(log + width), 0.95))
        for log, width in (benchmark, tasks)
    )
    comparison = sample_tasks.seed().comparisons[0]
    comparison = replace(comparison, ratio=tasks_ratio, interval=tasks_interval)
    assert _standing(ratio, interval, comparison) == expected
