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
from .whole_graph import EVERYTHING, IMAGE, REPORT, REPORT_IMAGE, created, taskgraph

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


# A collaborator's pull request may set parameters by a file.
FILE = {"target_tasks_method": "io-benchmark", "io_benchmark_jobs": ["amd-16"]}
REPLICATES = {**FILE, "io_benchmark_replicates": 2}
TWO = ["io-benchmark-amd-16-1", "io-benchmark-amd-16-2"]


def decided(checkout, tmp_path, message, parameters, *more):
    # So that no network is asked for the images.
    parameters = {"do_not_optimize": [IMAGE, REPORT_IMAGE], **parameters}
    config = {"version": 2, "parameters": parameters}
    (tmp_path / "try_task_config.json").write_text(json.dumps(config))
    return decide(tmp_path, checkout(message), "--allow-parameter-override", *more)


@pytest.mark.parametrize(
    ("message", "parameters", "more", "labels"),
    [
        ("Faster\n\ntry: -j amd-16", {}, [], ["io-benchmark-amd-16"]),
        ("Faster", {}, ["--target-tasks-method=io-benchmark"], EVERYTHING),
        ("try: --rebuild 2 -j io-benchmark-amd-16", {}, [], TWO),
        ("Faster", REPLICATES, [], TWO),
        # The file counts more than the message.
        ("try: -j amd-16 --rebuild 9", REPLICATES, [], TWO),
        # The message chooses the pool, and the file the series.
        ("try: -j intel", {"io_benchmark_perfherder": "neutral"}, [], ["io-benchmark-intel"]),
    ],
    ids=["message", "method", "rebuild", "file", "both", "neutral"],
)
def test_selection(checkout, tmp_path, message, parameters, more, labels):
    """What a decision task would create is what was requested, and the images."""
    done = decided(checkout, tmp_path, message, parameters, *more)
    assert done.returncode == 0, done.stderr
    artifacts = tmp_path / "artifacts"
    assert sorted(json.loads((artifacts / "target-tasks.json").read_text())) == labels
    nodes = json.loads((artifacts / "task-graph.json").read_text()).values()
    tasks = {node["label"]: node["task"] for node in nodes}
    assert sorted(tasks) == created(labels)
    values = yaml.safe_load((artifacts / "parameters.yml").read_text())
    assert values["target_tasks_method"] == "io-benchmark"
    mode = parameters.get("io_benchmark_perfherder", "pool")
    for label in set(labels) - {REPORT}:
        command = shell_text(tasks[label]["payload"]["command"])
        assert f'--perfherder "${{IO_BENCHMARK_PERFHERDER:-{mode}}}"' in command


@pytest.mark.parametrize(
    ("message", "parameters", "text"),
    [
        ("try: -j amd-17", {}, "no task is called 'amd-17'; there "),
        (
            *("try: -j amd-16, intel", {}),
            "the commit message's line 'try: -j amd-16, intel' is not understood; write ",
        ),
        (
            *("Faster", {**FILE, "io_benchmark_replicates": 101}),
            "the parameter io_benchmark_replicates: 101 is not a whole number from 0 to 100; 0 means ",
        ),
        (
            "Faster",
            {
                **FILE,
                "io_benchmark_perfherder": "neutral",
                "io_benchmark_jobs": ["amd-16", "intel"],
            },
            "the parameter io_benchmark_perfherder: neutral puts every pool into one series, and ",
        ),
    ],
    ids=["name", "line", "replicates", "series"],
)
def test_mistakes(checkout, tmp_path, message, parameters, text):
    """A wrong request ends the decision with one line that says so, and no task is created."""
    done = decided(checkout, tmp_path, message, parameters)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert text in done.stderr
    assert not (tmp_path / "artifacts" / "task-graph.json").exists()
