# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The target method `io-benchmark`."""

import logging

import pytest
from pytest_taskgraph import make_graph, make_task

from io_benchmark_taskgraph.mistakes import UserMistake
from io_benchmark_taskgraph.target_tasks import target_tasks

JOB = {"job_try_name": "io-benchmark", "io_benchmark_pool": "amd-16"}
GRAPH = make_graph(
    make_task("docker-image-update-verify"), make_task("io-benchmark-amd-16", attributes=JOB)
)


@pytest.mark.parametrize(
    ("parameters", "labels"),
    [
        pytest.param({}, ["io-benchmark-amd-16"], id="no parameter"),
        pytest.param({"io_benchmark_jobs": []}, ["io-benchmark-amd-16"], id="empty"),
        pytest.param(
            {"io_benchmark_jobs": ["docker-image-update-verify"]},
            ["docker-image-update-verify"],
            id="named",
        ),
    ],
)
def test_selects(parameters, labels):
    """The names of the parameter, and every pool where there are none."""
    assert target_tasks(GRAPH, parameters, None) == labels


def test_mistake_is_logged(caplog):
    """taskgraph's command line says nothing of such an error itself, so it is logged here."""
    with caplog.at_level(logging.ERROR), pytest.raises(UserMistake) as caught:
        target_tasks(GRAPH, {"io_benchmark_jobs": ["x"]}, None)
    assert [record.getMessage() for record in caplog.records] == [str(caught.value)]
