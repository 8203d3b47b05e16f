# SPDX-License-Identifier: MPL-2.0
"""The target method `io-benchmark`."""

import logging

import pytest
from pytest_taskgraph import make_graph, make_task

from io_benchmark_taskgraph.mistakes import UserMistake
from io_benchmark_taskgraph.parameters import _select_targets

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
    assert _select_targets(GRAPH, parameters, None) == labels


def test_mistake_is_logged(caplog):
    """taskgraph's command line says nothing of such an error itself, so it is logged here."""
    with caplog.at_level(logging.ERROR), pytest.raises(UserMistake) as caught:
        _select_targets(GRAPH, {"io_benchmark_jobs": ["x"]}, None)
    assert [record.getMessage() for record in caplog.records] == [str(caught.value)]


POOLS = make_graph(
    *(
        make_task(
            f"io-benchmark-{pool}{number}",
            attributes={"job_try_name": "io-benchmark", "io_benchmark_pool": pool},
        )
        for pool, number in (("amd-16", "-1"), ("amd-16", "-2"), ("intel", ""))
    ),
    make_task("io-benchmark-report", attributes={"job_try_name": "io-benchmark"}),
)


@pytest.mark.parametrize(
    ("mode", "jobs"),
    [
        pytest.param("neutral", ["amd-16", "io-benchmark-report"], id="one pool"),
        pytest.param("pool", ["io-benchmark"], id="a series each"),
        pytest.param("", ["io-benchmark"], id="as kind.yml says"),
    ],
)
def test_pools_that_may_share_a_series(mode, jobs):
    """One pool's replicates may be neutral, and any number of pools that are not."""
    labels = _select_targets(
        POOLS, {"io_benchmark_perfherder": mode, "io_benchmark_jobs": jobs}, None
    )
    assert len(labels) == (3 if mode == "neutral" else 4)


def test_two_pools_in_one_series(caplog):
    """They could not be told apart again, so no task is made of such a push."""
    with caplog.at_level(logging.ERROR), pytest.raises(UserMistake) as caught:
        _select_targets(POOLS, {"io_benchmark_perfherder": "neutral"}, None)
    assert str(caught.value) == (
        "the parameter io_benchmark_perfherder: neutral puts every pool into one series, and "
        "amd-16, intel are selected; name one pool, and the other in another push"
    )
    assert [record.getMessage() for record in caplog.records] == [str(caught.value)]
