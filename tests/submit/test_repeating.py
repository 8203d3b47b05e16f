# SPDX-License-Identifier: MPL-2.0
"""Confirming tasks, made from a task as the queue shows it."""

import copy
from typing import Any

import pytest
from loopback_deployment import AMD_16, recorded

from io_benchmark.errors import ResultError
from io_benchmark.submit.definitions import Repetition
from io_benchmark.submit.task_creation import _repeated_task
from io_benchmark_taskgraph.repeating import pace, with_trials

LABEL = "io-benchmark-amd-16"
ONCE_MORE = Repetition("", "amd-16", 1)
DATES = ("created", "deadline", "expires")


@pytest.fixture
def definition() -> dict[str, Any]:
    made = recorded().definitions[AMD_16]
    made["extra"] = {**made.get("extra", {}), "treeherder": {"symbol": "amd16"}}
    return made


def test_only_what_it_needs_is_changed(definition):
    """Variables, names and dates; no routes; the rest is the task's."""
    before = copy.deepcopy(definition)
    task = _repeated_task(definition, Repetition("", "amd-16", 5_000), [])
    assert definition == before
    assert (task.label, task.job, task.pool) == (f"{LABEL}-confirm", LABEL, "amd-16")
    made = {key: value for key, value in task.definition.items() if key not in DATES}
    variables = {"IO_BENCHMARK_TRIALS": "always", "IO_BENCHMARK_PACE": "5000"}
    description = f"{before['metadata']['description']}; once more, with copies at 5000 bytes/s"
    names = {"name": f"{LABEL}-confirm", "description": description}
    artifacts = {"artifacts": made["payload"]["artifacts"]}  # which have dates as well
    expected = {key: value for key, value in before.items() if key not in (*DATES, "taskQueueId")}
    assert made == {
        **expected,
        "routes": [],
        "metadata": before["metadata"] | names,
        "tags": before["tags"] | {"label": f"{LABEL}-confirm"},
        "extra": before["extra"] | {"treeherder": {"symbol": "amd16-confirm"}},
        "payload": before["payload"] | artifacts | {"env": before["payload"]["env"] | variables},
    }
    assert (pace(made), pace(before)) == (5_000, None)


@pytest.mark.parametrize(
    ("number", "labels", "end"),
    [("-12", [], "-confirm"), ("", [f"{LABEL}-confirm", f"{LABEL}-confirm-5"], "-confirm-6")],
    ids=["replicate", "next"],
)
def test_names(definition, number, labels, end):
    """A replicate's number is left out, and further tasks are counted.

    A symbol has at most 25 characters.
    """
    definition["metadata"]["name"] = LABEL + number
    definition["extra"]["treeherder"]["symbol"] = "x" * 22 + number
    task = _repeated_task(definition, ONCE_MORE, labels)
    assert task.label == LABEL + end
    assert task.definition["extra"]["treeherder"]["symbol"] == ("x" * 22)[: 25 - len(end)] + end


def test_a_malformed_task(definition):
    """A definition that no queue shows is refused in one line."""
    definition["deadline"] = "soon"
    with pytest.raises(ResultError, match="is malformed"):
        _repeated_task(definition, ONCE_MORE, [])


@pytest.mark.parametrize("value", ["", "fast", "-5", "1e9", "9" * 20])
def test_no_pace(value):
    """Only a whole number is a pace."""
    assert pace(with_trials({"payload": {"env": {"IO_BENCHMARK_PACE": value}}})) is None
