# SPDX-License-Identifier: MPL-2.0
"""Which tasks a name means."""

import pytest
from pytest_taskgraph import make_task

from io_benchmark_taskgraph.mistakes import UserMistake
from io_benchmark_taskgraph.selection import select


def pool(name, number=""):
    attributes = {"job_try_name": "io-benchmark", "io_benchmark_pool": name}
    return make_task(f"io-benchmark-{name}{number}", attributes=attributes)


TASKS = [
    make_task("docker-image-update-verify"),
    pool("amd-16", "-1"),
    pool("amd-16", "-2"),
    pool("intel"),
]


@pytest.mark.parametrize(
    ("names", "labels"),
    [
        pytest.param(
            ["io-benchmark"],
            ["io-benchmark-amd-16-1", "io-benchmark-amd-16-2", "io-benchmark-intel"],
            id="job",
        ),
        pytest.param(["amd-16"], ["io-benchmark-amd-16-1", "io-benchmark-amd-16-2"], id="pool"),
        pytest.param(["io-benchmark-amd-16-2"], ["io-benchmark-amd-16-2"], id="label"),
        pytest.param(["docker-image-update-verify"], ["docker-image-update-verify"], id="image"),
        pytest.param(
            ["intel", "io-benchmark-amd-16-1", "intel"],
            ["io-benchmark-amd-16-1", "io-benchmark-intel"],
            id="several, in the tasks' order",
        ),
        pytest.param(
            ["io-benchmark-amd-16"],
            ["io-benchmark-amd-16-1", "io-benchmark-amd-16-2"],
            id="label without the replicates' numbers",
        ),
        pytest.param([], [], id="none"),
    ],
)
def test_names(names, labels):
    """A name is a job's, a pool's or a label."""
    assert select(TASKS, names) == labels


def measures_all(name):
    attributes = {"job_try_name": "io-benchmark-all", "io_benchmark_pool": name}
    return make_task(f"io-benchmark-all-{name}", attributes=attributes)


BOTH_KINDS = [
    pool("amd-16"),
    pool("intel"),
    measures_all("amd-16"),
    measures_all("intel"),
    make_task(
        "io-benchmark-report",
        attributes={"job_try_name": ["io-benchmark", "io-benchmark-all"]},
    ),
]


@pytest.mark.parametrize(
    ("names", "labels"),
    [
        pytest.param(
            ["io-benchmark"],
            ["io-benchmark-amd-16", "io-benchmark-intel", "io-benchmark-report"],
            id="job",
        ),
        pytest.param(
            ["io-benchmark-all"],
            ["io-benchmark-all-amd-16", "io-benchmark-all-intel", "io-benchmark-report"],
            id="the other job",
        ),
        pytest.param(["amd-16"], ["io-benchmark-amd-16"], id="pool"),
        pytest.param(["io-benchmark-all-amd-16"], ["io-benchmark-all-amd-16"], id="label"),
        pytest.param(["io-benchmark-report"], ["io-benchmark-report"], id="report"),
        pytest.param(
            ["io-benchmark", "io-benchmark-all"],
            [task.label for task in BOTH_KINDS],
            id="both jobs",
        ),
    ],
)
def test_names_of_two_kinds(names, labels):
    """A pool's name is that of its first task; the report comes with either job."""
    assert select(BOTH_KINDS, names) == labels


def test_names_of_two_kinds_are_listed_once():
    """Every job, then pools, then labels."""
    with pytest.raises(UserMistake) as caught:
        select(BOTH_KINDS, ["zzz"])
    assert str(caught.value) == (
        "no task is called 'zzz'; there are: io-benchmark, io-benchmark-all, amd-16, intel, "
        "io-benchmark-amd-16, io-benchmark-intel, io-benchmark-all-amd-16, io-benchmark-all-intel, "
        "io-benchmark-report"
    )


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        pytest.param("amd-17", "there", id="near"),
        pytest.param("zzz", "there", id="far"),
        pytest.param("io-b", "there", id="part of a name"),
        pytest.param("", "there", id="empty"),
    ],
)
def test_unknown_name(name, hint):
    """A name that means nothing is a mistake, even next to good ones; all names are listed."""
    with pytest.raises(UserMistake) as caught:
        select(TASKS, ["intel", name])
    assert str(caught.value) == (
        f"no task is called {name!r}; {hint} are: io-benchmark, amd-16, intel, "
        "io-benchmark-amd-16, docker-image-update-verify, io-benchmark-amd-16-1, "
        "io-benchmark-amd-16-2, io-benchmark-intel"
    )


def test_no_tasks():
    """With no task at all there is nothing to list."""
    with pytest.raises(UserMistake, match=r"^no task is called 'io-benchmark'; there are: none$"):
        select([], ["io-benchmark"])
