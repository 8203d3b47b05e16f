# SPDX-License-Identifier: MPL-2.0
"""The pools' names."""

from dataclasses import replace

import pytest

from io_benchmark_taskgraph.mistakes import UserMistake
from io_benchmark_taskgraph.transforms.pools import transforms


def test_pool_is_the_tasks_name(run_kind, make_pool):
    """The attribute that results are grouped by, in addition to those that the task has."""
    [task] = run_kind([make_pool(name="intel")], "pools")
    assert task["attributes"] == {"job_try_name": "io-benchmark", "io_benchmark_pool": "intel"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param(
            "amd 16",
            "is not a pool's name; write at most 45 letters, digits and ._-, no mark first",
            id="space",
        ),
        pytest.param(
            "a" * 46,
            "is not a pool's name; write at most 45 letters, digits and ._-, no mark first",
            id="too long",
        ),
        pytest.param(
            "-amd",
            "is not a pool's name; write at most 45 letters, digits and ._-, no mark first",
            id="like an option",
        ),
        pytest.param(
            "io-benchmark",
            "is what -j calls the job or a task's label; give the pool another name",
            id="the job's",
        ),
        pytest.param(
            "test-amd",
            "is what -j calls the job or a task's label; give the pool another name",
            id="like a label",
        ),
    ],
)
def test_bad_names(run_kind, make_pool, name, text):
    """A name that a path, a label or -j could not carry is refused."""
    with pytest.raises(UserMistake) as caught:
        run_kind([make_pool(name=name)], "pools")
    assert str(caught.value).endswith(f"kind.yml: task {name}: name: {text}")


@pytest.mark.parametrize("name", ["all", "all-amd", "io-benchmark-all"])
def test_names_of_the_other_kind(run_transform, make_transform_config, make_pool, name):
    """Its task would be called as the job that measures everything, or as one of its tasks."""
    text = "name: is what -j calls the job or a task's label; give the pool another name"
    config = replace(make_transform_config(), kind="io-benchmark")
    with pytest.raises(UserMistake) as caught:
        run_transform(transforms, [make_pool(name=name)], config=config)
    assert str(caught.value).endswith(f"kind.yml: task {name}: {text}")


@pytest.mark.parametrize("kind", ["io-benchmark", "io-benchmark-all"])
def test_names_that_only_begin_alike(run_transform, make_transform_config, make_pool, kind):
    """Either kind takes them."""
    config = replace(make_transform_config(), kind=kind)
    [task] = run_transform(transforms, [make_pool(name="allegro")], config=config)
    assert task["attributes"]["io_benchmark_pool"] == "allegro"


def test_two_pools_of_a_name(run_kind, make_pool):
    """Two files may not name the same pool."""
    tasks = [make_pool(), make_pool(**{"task-from": "more.yml"})]
    with pytest.raises(UserMistake, match=r"more\.yml") as caught:
        run_kind(tasks, "pools")
    message = str(caught.value)
    assert "task amd-16: name: two pools have this name (" in message
    assert message.endswith("); rename or remove one")
    assert "\n" not in message
