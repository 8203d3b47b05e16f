# SPDX-License-Identifier: MPL-2.0
"""What the next look at a group needs."""

from types import SimpleNamespace
from typing import Any

import pytest

from io_benchmark.analysis.inference.looks import Schedule
from io_benchmark.analysis.model import Verdict
from io_benchmark.submit.measured_group import LOOKS, MeasuredGroup, NextLook

JOBS = {pool: f"io-benchmark-{pool}" for pool in "ab"}


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
            workers.append(SimpleNamespace(task_id=task_id, side=pool, entries=entries))
    comparison = SimpleNamespace(verdict=verdict, candidate="a", baseline="b")
    figures = {pool: SimpleNamespace(workers=count) for pool, (_, count) in counts.items()}
    part = SimpleNamespace(subject="retrieves", comparisons=[comparison], figures=figures)
    report: Any = SimpleNamespace(subjects=[part])
    return MeasuredGroup(tasks, workers).next_look(report, Schedule(LOOKS, is_declared=True))


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        pytest.param((3, 3), (3, 3), NextLook(("a",), {JOBS["a"]: 3, JOBS["b"]: 3}, ()), id="both"),
        # Two tasks per worker may bring more workers; with more than two, more tasks do not help.
        pytest.param((6, 3), (3, 3), NextLook(("a",), {JOBS["a"]: 3, JOBS["b"]: 3}, ()), id="two"),
        pytest.param((7, 3), (3, 3), NextLook(("a",), {}, ("a",)), id="more than two"),
        pytest.param(
            (3, 3), (12, 12), NextLook(("a",), {JOBS["a"]: 3, JOBS["b"]: 0}, ()), id="one"
        ),
        pytest.param((24, 24), (24, 24), NextLook(("a",), {}, ()), id="the last look"),
    ],
)
def test_undecided(a: tuple[int, int], b: tuple[int, int], expected: NextLook) -> None:
    """As many workers as the next planned look has."""
    assert next_look(Verdict.INCONCLUSIVE, a=a, b=b) == expected


def test_decided() -> None:
    """A verdict needs nothing."""
    assert next_look(Verdict.SLOWER, a=(3, 3), b=(3, 3)) == NextLook((), {}, ())


def test_a_task_to_measure_once_more() -> None:
    """The first of each job whose result could be read; a confirming one holds its copies back."""
    labels = {"x": "confirm", "y": "2", "z": "3"}
    tasks: list[Any] = [
        SimpleNamespace(task_id=task_id, label=f"{JOBS['a']}-{end}", pool="a")
        for task_id, end in labels.items()
    ]
    workers: list[Any] = [SimpleNamespace(task_id=task_id, pool="a") for task_id in ("z", "y", "x")]
    assert MeasuredGroup(tasks, workers).models() == {JOBS["a"]: ("a", "y")}
    assert MeasuredGroup(tasks, workers[2:]).models() == {}
