# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The pools' names."""

import pytest

from io_benchmark_taskgraph.mistakes import UserMistake


def test_pool_is_the_tasks_name(run_kind, make_pool):
    """The attribute that results are grouped by, beside those that the task has."""
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


def test_two_pools_of_a_name(run_kind, make_pool):
    """Two files may not name the same pool."""
    tasks = [make_pool(), make_pool(**{"task-from": "more.yml"})]
    with pytest.raises(UserMistake, match=r"more\.yml") as caught:
        run_kind(tasks, "pools")
    message = str(caught.value)
    assert "task amd-16: name: two pools have this name (" in message
    assert message.endswith("); rename or remove one")
    assert "\n" not in message
