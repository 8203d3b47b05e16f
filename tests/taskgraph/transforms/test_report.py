# SPDX-License-Identifier: MPL-2.0
"""The report's task, made of its stanza and of the pools' tasks."""

import pytest
from pytest_taskgraph import make_task

from io_benchmark_taskgraph.mistakes import UserMistake
from io_benchmark_taskgraph.report_stanza import ReportSettings
from io_benchmark_taskgraph.transforms.report import transforms

POOLS = {
    label: make_task(
        label,
        kind="io-benchmark",
        attributes={"io_benchmark_pool": pool},
        task_def={
            "deadline": {"relative-datestamp": "1 day"},
            "expires": {"relative-datestamp": "28 days"},
        },
    )
    for label, pool in [("b-intel", "intel"), ("b-amd-2", "amd"), ("b-amd-1", "amd")]
}
IMAGE = make_task("docker-image-x", kind="docker-image")


@pytest.fixture
def make_report(run_transform, make_transform_config):
    """Runs the transforms on a task with this stanza."""

    def make(stanza, label="io-benchmark-report", max_run_time_s=3600):
        task = {
            "name": "report",
            "label": label,
            "task-from": "kind.yml",
            "report": stanza,
            "worker": {"max-run-time": max_run_time_s},
            "run": {"using": "run-task"},
        }
        config = make_transform_config(kind_dependencies_tasks={**POOLS, IMAGE.label: IMAGE})
        [made] = run_transform(transforms, [task], config=config)
        return made

    return make


def test_a_report(make_report):
    """After the pools' tasks alone, however they end; the stanza has become the command."""
    assert make_report({"wait-minutes": 5, "baseline": "amd"}) == {
        "name": "report",
        "label": "io-benchmark-report",
        "task-from": "kind.yml",
        "worker": {"max-run-time": 3600},
        "deadline-after": "2 days",
        "expires-after": "28 days",
        "soft-dependencies": ["b-amd-1", "b-amd-2", "b-intel"],
        "requires": "all-resolved",
        "run": {
            "using": "run-task",
            "command": ReportSettings(5, "amd", None, ()).command(),
        },
    }


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        pytest.param(
            {"stanza": {"baseline": "am"}},
            "report.baseline: 'am' is not a pool; there are: amd, intel",
            id="stanza",
        ),
        pytest.param(
            {"stanza": {"wait-minutes": 60}},
            "worker.max-run-time: 3600 does not hold 60 minutes of waiting and 600 s for the rest; "
            "raise it to 4200 or lower report.wait-minutes",
            id="time",
        ),
        pytest.param(
            {"stanza": {}, "label": "b-intel"},
            "label: b-intel is a pool's task already; give the pool another name",
            id="label",
        ),
    ],
)
def test_mistakes(make_report, changes, text):
    """The file, the task and the key are named."""
    with pytest.raises(UserMistake) as caught:
        make_report(**changes)
    assert str(caught.value).endswith(f"/kind.yml: task report: {text}")
