# SPDX-License-Identifier: MPL-2.0
"""What a submission will cost, and what the next look at a group needs."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest
from submitted_tasks import generated, of_all

from io_benchmark.analysis.model.comparison import Verdict
from io_benchmark.operations.measured_group import MeasuredGroup, OpenPair
from io_benchmark.submit.definitions import Repetition, SubmissionOptions, select_tasks

GROUP = "Fqm6GL_zRPurCmd1rRuTRQ"
TWO_POOLS = (generated("amd-16"), generated("intel"))
TWO_KINDS = (generated("amd-16"), of_all("amd-16"))
NO_BUDGET = generated("x", payload={"command": [["./run-task", "--", "b"]], "maxRunTime": 601})
AMD, INTEL = "io-benchmark-amd-16", "io-benchmark-intel"


def measured(ends: Mapping[str, str]) -> MeasuredGroup:
    """A group with a task of each of these jobs, which began at noon."""
    tasks: list[Any] = []
    for job, end in ends.items():
        run = SimpleNamespace(started="2026-11-21T12:00:00Z", resolved=f"2026-11-21T12:{end}Z")
        pool, status = job.removeprefix("io-benchmark-"), SimpleNamespace(runs=[run])
        tasks.append(SimpleNamespace(label=job, pool=pool, status=status))
    return MeasuredGroup(tasks)


@pytest.mark.parametrize(
    ("tasks", "settings", "ends", "total"),
    [
        (TWO_POOLS, {"replicates": 3}, {}, "6 tasks, at most 5.5 worker hours"),
        (TWO_POOLS, {}, {AMD: "06:12", INTEL: "04:00"}, "2 tasks, about 10 minutes of worker time"),
        (TWO_POOLS, {}, {AMD: "00:00", INTEL: "00:12"}, "2 tasks, about 12 seconds of worker time"),
        ([NO_BUDGET], {}, {}, "1 task, at most 11 minutes of worker time"),
    ],
    ids=["time budget", "earlier results", "no minute each", "task's limit"],
)
def test_cost(tasks, settings, ends, total):
    """By earlier tasks, else by when the script stops by itself: then the sum is a limit."""
    chosen = select_tasks(tasks, SubmissionOptions(image="x", **settings), GROUP)
    assert measured(ends).cost(chosen, {}).summary == f"{total} in all"


def test_two_kinds_of_a_pool():
    """They are no replicates of each other: each has as many as are asked for, and its own cost."""
    settings = SubmissionOptions(image="x", replicates=2, queues={"amd-16": "some/queue"})
    chosen = select_tasks(TWO_KINDS, settings, GROUP)
    assert [task.label for task in chosen] == [
        "io-benchmark-amd-16-1",
        "io-benchmark-all-amd-16-1",
        "io-benchmark-amd-16-2",
        "io-benchmark-all-amd-16-2",
    ]
    assert [share.summary for share in measured({}).cost(chosen, {}).shares] == [
        f"{name}: at most {limit} ({tasks} on some/queue)"
        for name, limit, tasks in (
            ("io-benchmark-amd-16", "110 minutes of worker time", "2 tasks of 55 minutes"),
            ("io-benchmark-all-amd-16", "2.9 worker hours", "2 tasks of 85 minutes"),
        )
    ]


INCONCLUSIVE = Verdict.INCONCLUSIVE
BOTH = [Repetition("a1", "a"), Repetition("b1", "b")] * 3
ONLY_A = [Repetition("a1", "a")] * 3


def next_look(verdict: Verdict, **counts: tuple[int, int]) -> Any:
    """Return the next look at two pools that have so many tasks, on so many workers."""
    tasks: list[Any] = []
    workers: list[Any] = []
    entries = [SimpleNamespace(subject="retrieves")]
    for pool, (task_count, _) in counts.items():
        for number in range(1, task_count + 1):
            task = {"task_id": f"{pool}{number}", "pool": pool}
            tasks.append(SimpleNamespace(**task, label=f"io-benchmark-{pool}-{number}"))
            workers.append(SimpleNamespace(**task, side=pool, runs=entries))
    comparison = SimpleNamespace(verdict=verdict, candidate="a", baseline="b")
    figures = {pool: SimpleNamespace(workers=count) for pool, (_, count) in counts.items()}
    part = SimpleNamespace(subject="retrieves", comparisons=[comparison], figures=figures)
    report: Any = SimpleNamespace(subjects=[part])
    return MeasuredGroup(tasks, workers).next_look(OpenPair.of_report(report))


@pytest.mark.parametrize(
    ("verdict", "a", "b", "expected"),
    [
        pytest.param(INCONCLUSIVE, (3, 3), (3, 3), (["a"], BOTH, []), id="both"),
        # Two tasks per worker may bring more workers; with more than two, more tasks do not help.
        pytest.param(INCONCLUSIVE, (6, 3), (3, 3), (["a"], BOTH, []), id="two"),
        pytest.param(INCONCLUSIVE, (7, 3), (3, 3), (["a"], [], ["a"]), id="more than two"),
        pytest.param(INCONCLUSIVE, (3, 3), (12, 12), (["a"], ONLY_A, []), id="one"),
        pytest.param(INCONCLUSIVE, (24, 24), (24, 24), (["a"], [], []), id="the last look"),
        pytest.param(Verdict.SLOWER, (3, 3), (3, 3), ([], [], []), id="decided"),
    ],
)
def test_next_look(verdict, a, b, expected):
    """As many workers of undecided pools as the next planned look has."""
    assert next_look(verdict, a=a, b=b) == expected
