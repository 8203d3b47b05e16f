# SPDX-License-Identifier: MPL-2.0
"""Which tasks a name means, and the target method that selects them."""

import pytest
from pytest_taskgraph import make_graph, make_task
from user_mistakes import mistake

from io_benchmark_taskgraph.parameters import _select_targets
from io_benchmark_taskgraph.selection import select


def task(kind, pool, number=""):
    attributes = {"job_try_name": kind, "io_benchmark_pool": pool}
    return make_task(f"{kind}-{pool}{number}", attributes=attributes)


FIRST, SECOND, INTEL = "io-benchmark-amd-16-1", "io-benchmark-amd-16-2", "io-benchmark-intel"
IMAGE, REPORT = "docker-image-update-verify", "io-benchmark-report"
REPLICATES = [
    make_task(IMAGE),
    task("io-benchmark", "amd-16", "-1"),
    task("io-benchmark", "amd-16", "-2"),
    task("io-benchmark", "intel"),
]
BOTH = ["io-benchmark", "io-benchmark-all"]
BOTH_KINDS = [
    *(task(kind, pool) for kind in BOTH for pool in ("amd-16", "intel")),
    make_task(REPORT, attributes={"job_try_name": BOTH}),
]


@pytest.mark.parametrize(
    ("tasks", "names", "labels"),
    [
        (REPLICATES, ["io-benchmark"], [FIRST, SECOND, INTEL]),
        (REPLICATES, ["amd-16"], [FIRST, SECOND]),
        (REPLICATES, [SECOND], [SECOND]),
        (REPLICATES, [IMAGE], [IMAGE]),
        (REPLICATES, ["intel", FIRST, "intel"], [FIRST, INTEL]),
        # The label that the task has without replicates.
        (REPLICATES, ["io-benchmark-amd-16"], [FIRST, SECOND]),
        (REPLICATES, [], []),
        # A pool's name is that of its first task; the report comes with either job.
        (BOTH_KINDS, ["io-benchmark"], ["io-benchmark-amd-16", INTEL, REPORT]),
        (
            *(BOTH_KINDS, ["io-benchmark-all"]),
            ["io-benchmark-all-amd-16", "io-benchmark-all-intel", REPORT],
        ),
        (BOTH_KINDS, ["amd-16"], ["io-benchmark-amd-16"]),
        (BOTH_KINDS, ["io-benchmark-all-amd-16"], ["io-benchmark-all-amd-16"]),
        (BOTH_KINDS, [REPORT], [REPORT]),
        (BOTH_KINDS, BOTH, [each.label for each in BOTH_KINDS]),
    ],
)
def test_names(tasks, names, labels):
    """A name is a job's, a pool's or a label; the tasks keep their order."""
    assert select(tasks, names) == labels


@pytest.mark.parametrize(
    ("tasks", "names", "known"),
    [
        *(
            (
                *(REPLICATES, ["intel", name]),
                f"io-benchmark, amd-16, intel, io-benchmark-amd-16, {IMAGE}, {FIRST}, {SECOND}, {INTEL}",
            )
            for name in ("zzz", "io-b", "")
        ),
        (
            *(BOTH_KINDS, ["zzz"]),
            (
                "io-benchmark, io-benchmark-all, amd-16, intel, io-benchmark-amd-16, io-benchmark-intel, "
                "io-benchmark-all-amd-16, io-benchmark-all-intel, io-benchmark-report"
            ),
        ),
        ([], ["io-benchmark"], "none"),
    ],
)
def test_unknown_names(tasks, names, known):
    """A name that means nothing is a mistake, even next to good ones; all names are listed once."""
    text = f"no task is called {names[-1]!r}; there are: {known}"
    assert mistake(select, tasks, names) == text


def targets(**parameters):
    return _select_targets(make_graph(*REPLICATES), parameters, None)


@pytest.mark.parametrize(
    ("parameters", "labels"),
    [
        ({}, [FIRST, SECOND, INTEL]),
        ({"io_benchmark_jobs": []}, [FIRST, SECOND, INTEL]),
        ({"io_benchmark_jobs": [IMAGE]}, [IMAGE]),
        ({"io_benchmark_perfherder": "pool"}, [FIRST, SECOND, INTEL]),
        # The replicates of one pool may be in one series.
        (
            {"io_benchmark_perfherder": "neutral", "io_benchmark_jobs": ["amd-16", IMAGE]},
            [IMAGE, FIRST, SECOND],
        ),
    ],
)
def test_targets(parameters, labels):
    """The names of the parameter, and every pool where there are none."""
    assert targets(**parameters) == labels


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"io_benchmark_jobs": ["x"]}, "no task is called 'x'; there are: io-benchmark, amd-16"),
        (
            {"io_benchmark_perfherder": "neutral"},
            (
                "the parameter io_benchmark_perfherder: neutral puts every pool into one series, and "
                "amd-16, intel are selected; name one pool, and the other in another push"
            ),
        ),
    ],
)
def test_mistakes_are_logged(caplog, parameters, text):
    """taskgraph's command line prints nothing for such an error, so it is logged here."""
    assert mistake(targets, **parameters).startswith(text)
    (message,) = caplog.messages
    assert message.startswith(text)
