# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The stanza of each task is checked."""

import pytest

from io_benchmark_taskgraph import stanza
from io_benchmark_taskgraph.mistakes import UserMistake


def test_stanza_becomes_a_benchmark(run_kind, make_pool):
    """Later transforms find it checked and with its defaults."""
    task = make_pool()
    expected = stanza.parse(dict(task["benchmark"]))
    assert run_kind([task], "benchmark") == [{**task, "benchmark": expected}]


@pytest.mark.parametrize(
    ("benchmark", "text"),
    [
        pytest.param(
            {"retrieves": 0},
            "benchmark.retrieves: 0 is not a whole number from 1 to 10,000,000",
            id="key",
        ),
        pytest.param(
            None, "benchmark: is missing; add it to the task or to task-defaults", id="all"
        ),
    ],
)
def test_mistake_names_file_and_task(run_kind, make_pool, benchmark, text):
    """One line: the file, the task, the key, what is wrong."""
    with pytest.raises(UserMistake) as caught:
        run_kind([make_pool(benchmark=benchmark)], "benchmark")
    assert str(caught.value).endswith(f"kind.yml: task amd-16: {text}")
