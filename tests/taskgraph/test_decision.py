# SPDX-License-Identifier: MPL-2.0
"""taskgraph's own decision, in a checkout, up to where it would create tasks."""

import json
import os
import shutil
import subprocess

import pytest
import yaml
from embedding import shell_text

from .conftest import REPOSITORY
from .whole_graph import EVERYTHING, IMAGE, REPORT_IMAGE, created, taskgraph

URL = "https://github.com/mozilla-releng/io-benchmark"


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A checkout of the tree with a commit of a given message; gives the decision's arguments."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    shutil.copy(REPOSITORY / ".taskcluster.yml", tmp_path)
    for part in ("taskcluster", "scripts/io-benchmark", "python"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(REPOSITORY / part, tmp_path / part, ignore=ignored)

    def git(*arguments):
        identity = ["-c", "user.name=x", "-c", "user.email=x@example.com"]
        done = subprocess.run(
            ["git", *identity, *arguments], cwd=tmp_path, check=True, stdout=subprocess.PIPE
        )
        return done.stdout.decode().strip()

    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "-m", "First")
    base = git("rev-parse", "HEAD")

    def commit(message):
        git("commit", "--quiet", "--allow-empty", "-m", message)
        return base, git("rev-parse", "HEAD")

    return commit


def decide(checkout_path, revisions, *more):
    base, head = revisions
    return taskgraph(
        "decision",
        "--pushlog-id=0",
        "--pushdate=0",
        "--project=io-benchmark",
        "--owner=engineer@example.com",
        "--level=1",
        "--repository-type=git",
        "--tasks-for=github-pull-request",
        f"--base-repository={URL}",
        "--base-ref=main",
        f"--base-rev={base}",
        f"--head-repository={URL}",
        "--head-ref=faster-disks",
        f"--head-rev={head}",
        *more,
        cwd=checkout_path,
        env={
            **os.environ,
            "TASK_ID": "Prp_WjpGRx26VH-wA8fjTA",
            "TASKCLUSTER_ROOT_URL": "https://tc.example.com",
        },
        timeout=60,
    )


@pytest.mark.parametrize(
    ("message", "more", "labels"),
    [
        pytest.param("Faster\n\ntry: -j amd-16", [], ["io-benchmark-amd-16"], id="message"),
        pytest.param("Faster", ["--target-tasks-method=io-benchmark"], EVERYTHING, id="comment"),
    ],
)
def test_selection(checkout, tmp_path, message, more, labels):
    """What a decision task would create is what was asked for, and the images."""
    # So that no network is asked for the images; a pull request may give parameters this way.
    config = {"version": 2, "parameters": {"do_not_optimize": [IMAGE, REPORT_IMAGE]}}
    (tmp_path / "try_task_config.json").write_text(json.dumps(config))
    done = decide(tmp_path, checkout(message), "--allow-parameter-override", *more)
    assert done.returncode == 0, done.stderr
    artifacts = tmp_path / "artifacts"
    assert sorted(json.loads((artifacts / "target-tasks.json").read_text())) == labels
    task_ids = json.loads((artifacts / "label-to-taskid.json").read_text())
    assert sorted(task_ids) == created(labels)
    parameters = yaml.safe_load((artifacts / "parameters.yml").read_text())
    assert parameters["target_tasks_method"] == "io-benchmark"


def configure(checkout_path, **parameters):
    """The file by which a collaborator's pull request sets parameters."""
    parameters["do_not_optimize"] = [IMAGE]
    config = json.dumps({"version": 2, "parameters": parameters})
    (checkout_path / "try_task_config.json").write_text(config)


BY_FILE = {
    "target_tasks_method": "io-benchmark",
    "io_benchmark_jobs": ["amd-16"],
    "io_benchmark_replicates": 2,
}


@pytest.mark.parametrize(
    ("message", "parameters"),
    [
        pytest.param("try: --rebuild 2 -j io-benchmark-amd-16", {}, id="message"),
        pytest.param("Faster", BY_FILE, id="file"),
        pytest.param("try: -j amd-16 --rebuild 9", BY_FILE, id="file above the message"),
    ],
)
def test_replicates(checkout, tmp_path, message, parameters):
    """Asked for in either way, the pool has as many tasks, numbered, and no other one."""
    configure(tmp_path, **parameters)
    done = decide(tmp_path, checkout(message), "--allow-parameter-override")
    assert done.returncode == 0, done.stderr
    created = json.loads((tmp_path / "artifacts" / "label-to-taskid.json").read_text())
    assert sorted(created) == [IMAGE, "io-benchmark-amd-16-1", "io-benchmark-amd-16-2"]


def test_neutral_series(checkout, tmp_path):
    """The message chooses the pool, the file the series: the command of the pool's task has it."""
    configure(tmp_path, io_benchmark_perfherder="neutral")
    done = decide(tmp_path, checkout("try: -j amd-16"), "--allow-parameter-override")
    assert done.returncode == 0, done.stderr
    created = json.loads((tmp_path / "artifacts" / "task-graph.json").read_text())
    commands = {
        node["label"]: shell_text(node["task"]["payload"]["command"])
        for node in created.values()
        if node["label"] != IMAGE
    }
    assert list(commands) == ["io-benchmark-amd-16"]
    assert '--perfherder "${IO_BENCHMARK_PERFHERDER:-neutral}"' in commands["io-benchmark-amd-16"]


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        pytest.param(
            {"io_benchmark_replicates": 101},
            "the parameter io_benchmark_replicates: 101 is not a whole number from 0 to 100; 0 means",
            id="too many",
        ),
        pytest.param(
            {"io_benchmark_perfherder": "neutral", "io_benchmark_jobs": ["amd-16", "intel"]},
            "the parameter io_benchmark_perfherder: neutral puts every pool into one series, and",
            id="two pools in one series",
        ),
    ],
)
def test_mistake_in_the_file(checkout, tmp_path, parameters, text):
    """One line, and no task is created."""
    configure(tmp_path, target_tasks_method="io-benchmark", **parameters)
    done = decide(tmp_path, checkout("Faster"), "--allow-parameter-override")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert text in done.stderr
    assert not (tmp_path / "artifacts" / "task-graph.json").exists()


@pytest.mark.parametrize(
    ("message", "text"),
    [
        pytest.param("try: -j amd-17", "no task is called 'amd-17'; there", id="name"),
        pytest.param(
            "try: -j amd-16, intel",
            "the commit message's line 'try: -j amd-16, intel' is not understood; write",
            id="line",
        ),
    ],
)
def test_mistake(checkout, tmp_path, message, text):
    """A wrong request ends the decision with one line that says so, and no traceback."""
    done = decide(tmp_path, checkout(message))
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert f" - ERROR - {text} " in done.stderr.splitlines()[-1]
