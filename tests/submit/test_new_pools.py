# SPDX-License-Identifier: MPL-2.0
"""Tasks of pools that no kind names, made of a task of a pool that a kind has."""

import copy

import pytest
from msgspec.structs import replace
from submitted_tasks import generated

from io_benchmark.errors import IoBenchmarkError, UsageError
from io_benchmark.submit.new_pools import measured_tasks

NEW = {"alpha": "gecko-t/t-linux-alpha", "production": "gecko-t/t-linux"}
TEXT = "x --pool amd-16 --time-budget 3300\nprintf 'TEST-%s' UNEXPECTED-FAIL amd-16 amd-16"


def task(pool, number=None):
    made = generated(pool, number)
    payload = {**made.definition["payload"], "command": ["bash", "-cx", TEXT]}
    extra = {**made.definition["extra"], "io-benchmark": {"baseline": "amd-16"}}
    return replace(made, definition={**made.definition, "payload": payload, "extra": extra})


def test_a_whole_task():
    """The name is in label, command, description and symbol; all else is the model's."""
    model = task("amd-16", 2)
    before = copy.deepcopy(model)
    made, _ = measured_tasks([model, task("intel")], NEW)
    expected = copy.deepcopy(model.definition)
    expected |= {"provisionerId": "gecko-t", "workerType": "t-linux-alpha"}
    label = "io-benchmark-alpha-2"
    expected["metadata"] |= {
        "name": label,
        "description": "I/O benchmark on gecko-t/t-linux-alpha",
    }
    expected["tags"]["label"] = label
    expected["extra"] = {"treeherder": {"symbol": "alpha-2"}, "parent": ""}
    named = "x --pool alpha --time-budget 3300\nprintf 'TEST-%s' UNEXPECTED-FAIL alpha amd-16"
    expected["payload"]["command"] = ["bash", "-cx", named]
    assert made == replace(model, label=label, pool="alpha", definition=expected)
    assert model == before


@pytest.mark.parametrize(
    ("queues", "labels"),
    [
        ({}, ["amd-16-1", "amd-16-2", "intel"]),
        ({"intel": "a/b"}, ["amd-16-1", "amd-16-2", "intel"]),
        ({"alpha": "a/b", "intel": "a/c"}, ["alpha-1", "alpha-2", "intel"]),
        (NEW, ["alpha-1", "alpha-2", "production-1", "production-2"]),
    ],
)
def test_which_pools(queues, labels):
    """All selected pools, or where a new one is among those with a queue, these alone."""
    made = measured_tasks([task("amd-16", 1), task("amd-16", 2), task("intel")], queues)
    assert [each.label for each in made] == [f"io-benchmark-{label}" for label in labels]


@pytest.mark.parametrize(
    ("name", "is_refused"),
    [
        ("intle", True),
        ("inte", True),
        ("intell", True),
        ("Imtel", True),
        ("amd-61", True),
        ("intel-new", False),
        ("amd-16-alpha", False),
        ("lintl", False),
    ],
)
def test_a_misspelt_pool(name, is_refused):
    """A name that is one mistake from a selected pool's is taken for that; others are new pools."""
    tasks = [task("amd-16"), task("intel")]
    if is_refused:
        with pytest.raises(UsageError, match=f"^--pool {name}=a/b: did you mean "):
            measured_tasks(tasks, {name: "a/b"})
    else:
        assert [made.pool for made in measured_tasks(tasks, {name: "a/b"})] == [name]


def test_no_model():
    """A label that does not name the pool cannot name another one."""
    with pytest.raises(IoBenchmarkError, match="its label does not name its pool amd-16"):
        measured_tasks([replace(task("intel"), pool="amd-16")], NEW)
