# SPDX-License-Identifier: MPL-2.0
"""Small sizes."""

import pytest
from submitted_tasks import generated, of_all

from io_benchmark.operations.announcement import Announcement
from io_benchmark.submit import sizes
from io_benchmark.submit.definitions import SubmissionSettings, select_tasks
from io_benchmark_taskgraph.estimate import CACHE_MIB, RETRIEVE_MIB, SLOWEST_MIB_PER_S

SETTINGS = SubmissionSettings(image="x", profile="quick")


def test_a_task():
    """The profile, the time budget, the task's limit and the description; no more."""
    (quick,) = select_tasks([generated("amd-16")], SETTINGS)
    (full,) = select_tasks([generated("amd-16")], SubmissionSettings(image="x"))
    expected = {
        **full.definition,
        "payload": {
            **full.definition["payload"],
            "env": {"IO_BENCHMARK_PROFILE": "quick"},
            "command": ["bash", "-cx", "x --pool amd-16 --time-budget 600 \\\n --profile full"],
            "maxRunTime": 900,
        },
        "metadata": {
            **full.definition["metadata"],
            "description": "measures; small sizes (--quick)",
        },
    }
    assert quick.definition == expected


def test_the_cost_follows():
    """Of both kinds."""
    chosen = select_tasks([generated("amd-16"), of_all("amd-16")], SETTINGS)
    assert (
        Announcement(chosen, "-", {}).cost.summary
        == "2 tasks, at most 20 minutes of worker time in all"
    )


def test_lower_limits_stay():
    """A kind may have less; generic-worker's commands are lists of lists."""
    definition = {
        "payload": {
            "command": [["a", "x --time-budget=60 y"]],
            "maxRunTime": 360,
            "env": {"A": "1"},
        },
        "metadata": {"description": ""},
    }
    sizes.make_quick(definition)
    assert definition["payload"] == {
        "command": [["a", "x --time-budget=60 y"]],
        "maxRunTime": 360,
        "env": {"A": "1", "IO_BENCHMARK_PROFILE": "quick"},
    }


@pytest.mark.parametrize(("places", "destinations"), [(1, 1), (3, 3)])
def test_the_budget_is_enough(places, destinations):
    """An eightieth of the sizes and 100 retrieves, on the slowest pool to plan for, in half of it."""
    written_mib = places * (CACHE_MIB + 100 * destinations * RETRIEVE_MIB) / 80
    assert SLOWEST_MIB_PER_S == 50
    assert written_mib / SLOWEST_MIB_PER_S * 2 < sizes.QUICK_BUDGET_S
