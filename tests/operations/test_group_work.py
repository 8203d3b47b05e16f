# SPDX-License-Identifier: MPL-2.0
"""What a submission will cost, and what the next look at a group needs."""

from types import SimpleNamespace
from typing import Any

import pytest
from submitted_tasks import generated, of_all

from io_benchmark.analysis.model import Verdict
from io_benchmark.operations.group_work import MeasuredGroup, NextLook, estimated_cost
from io_benchmark.submit.definitions import SubmissionOptions, select_tasks

GROUP = "Fqm6GL_zRPurCmd1rRuTRQ"
TWO_POOLS = (generated("amd-16"), generated("intel"))
TWO_KINDS = (generated("amd-16"), of_all("amd-16"))
NO_BUDGET = generated("x", payload={"command": [["a", "b"]], "maxRunTime": 601})
AMD, INTEL = "io-benchmark-amd-16", "io-benchmark-intel"


@pytest.mark.parametrize(
    ("tasks", "settings", "minutes", "total"),
    [
        pytest.param(
            TWO_POOLS, {"replicates": 3}, {}, "6 tasks, at most 5.5 worker hours", id="time budget"
        ),
        pytest.param(
            TWO_POOLS,
            {},
            {AMD: 6.2, INTEL: 4},
            "2 tasks, about 11 minutes of worker time",
            id="earlier results",
        ),
        pytest.param(
            TWO_POOLS,
            {},
            {AMD: 0, INTEL: 0.2},
            "2 tasks, about 2 minutes of worker time",
            id="a minute each at least",
        ),
        pytest.param(
            [NO_BUDGET], {}, {}, "1 task, at most 11 minutes of worker time", id="task's limit"
        ),
    ],
)
def test_cost(tasks, settings, minutes, total):
    """By earlier tasks, else by when the script stops by itself: then the sum is a limit."""
    chosen = select_tasks(tasks, SubmissionOptions(image="x", **settings), GROUP)
    assert estimated_cost(chosen, minutes, {}).summary == f"{total} in all"


def test_two_kinds_of_a_pool():
    """They are no replicates of each other: each has as many as are asked for, and its own cost."""
    settings = SubmissionOptions(image="x", replicates=2, pool={"amd-16": "some/queue"})
    chosen = select_tasks(TWO_KINDS, settings, GROUP)
    assert [task.label for task in chosen] == [
        "io-benchmark-amd-16-1",
        "io-benchmark-all-amd-16-1",
        "io-benchmark-amd-16-2",
        "io-benchmark-all-amd-16-2",
    ]
    assert [share.summary for share in estimated_cost(chosen, {}, {}).shares] == [
        "io-benchmark-amd-16: at most 110 minutes of worker time (2 tasks of 55 minutes on some/queue)",
        "io-benchmark-all-amd-16: at most 2.9 worker hours (2 tasks of 85 minutes on some/queue)",
    ]


JOBS = {pool: f"io-benchmark-{pool}" for pool in "ab"}
BOTH = (("a1", "a"), ("b1", "b")) * 3


def next_look(verdict: Verdict, **counts: tuple[int, int]) -> NextLook:
    """Return the next look at two pools that have so many tasks, on so many workers."""
    tasks: list[Any] = []
    workers: list[Any] = []
    for pool, (task_count, _) in counts.items():
        for number in range(1, task_count + 1):
            task_id = f"{pool}{number}"
            tasks.append(
                SimpleNamespace(task_id=task_id, label=f"{JOBS[pool]}-{number}", pool=pool)
            )
            entries = [SimpleNamespace(subject="retrieves")]
            workers.append(SimpleNamespace(task_id=task_id, pool=pool, side=pool, entries=entries))
    comparison = SimpleNamespace(verdict=verdict, candidate="a", baseline="b")
    figures = {pool: SimpleNamespace(workers=count) for pool, (_, count) in counts.items()}
    part = SimpleNamespace(subject="retrieves", comparisons=[comparison], figures=figures)
    report: Any = SimpleNamespace(subjects=[part])
    return MeasuredGroup(tasks, workers).next_look(report)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        pytest.param((3, 3), (3, 3), NextLook(("a",), BOTH, ()), id="both"),
        # Two tasks per worker may bring more workers; with more than two, more tasks do not help.
        pytest.param((6, 3), (3, 3), NextLook(("a",), BOTH, ()), id="two"),
        pytest.param((7, 3), (3, 3), NextLook(("a",), (), ("a",)), id="more than two"),
        pytest.param((3, 3), (12, 12), NextLook(("a",), BOTH[::2], ()), id="one"),
        pytest.param((24, 24), (24, 24), NextLook(("a",), (), ()), id="the last look"),
    ],
)
def test_undecided(a: tuple[int, int], b: tuple[int, int], expected: NextLook) -> None:
    """As many workers as the next planned look has."""
    assert next_look(Verdict.INCONCLUSIVE, a=a, b=b) == expected


def test_decided() -> None:
    """A verdict needs nothing."""
    assert next_look(Verdict.SLOWER, a=(3, 3), b=(3, 3)) == NextLook((), (), ())
