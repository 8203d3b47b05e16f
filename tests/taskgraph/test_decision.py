# SPDX-License-Identifier: MPL-2.0
"""taskgraph's own decision, in a checkout, up to where it would create tasks."""

import json
import os
import subprocess

import pytest
import yaml
from embedding import shell_text

from .conftest import REPOSITORY
from .whole_graph import IMAGE, REPORT_IMAGE, created, taskgraph

URL = "https://github.com/mozilla-releng/io-benchmark"


@pytest.fixture
def decide(tmp_path, monkeypatch):
    """Run the decision of a collaborator's pull request, which may set parameters by a file."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("TASK_ID", "Prp_WjpGRx26VH-wA8fjTA")
    monkeypatch.setenv("TASKCLUSTER_ROOT_URL", "https://tc.example.com")
    for part in (".taskcluster.yml", "taskcluster", "scripts/io-benchmark", "python"):
        (tmp_path / part).parent.mkdir(exist_ok=True)
        (tmp_path / part).symlink_to(REPOSITORY / part)

    def commit(message):
        git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.com"]
        for arguments in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "-m", message]):
            subprocess.run([*git, *arguments], cwd=tmp_path, check=True)
        head = [*git, "rev-parse", "HEAD"]
        return subprocess.check_output(head, cwd=tmp_path, text=True).strip()

    def run(message, parameters):
        # So that no network is asked for the images.
        parameters = {"do_not_optimize": [IMAGE, REPORT_IMAGE], **parameters}
        config = {"version": 2, "parameters": parameters}
        (tmp_path / "try_task_config.json").write_text(json.dumps(config))
        revision = commit(message)
        options = {
            "pushlog-id": 0,
            "pushdate": 0,
            "project": "io-benchmark",
            "owner": "engineer@example.com",
            "level": 1,
            "repository-type": "git",
            "tasks-for": "github-pull-request",
            "base-repository": URL,
            "base-ref": "main",
            "base-rev": revision,
            "head-repository": URL,
            "head-ref": "faster-disks",
            "head-rev": revision,
        }
        arguments = [f"--{name}={value}" for name, value in options.items()]
        arguments.append("--allow-parameter-override")
        return taskgraph("decision", *arguments, cwd=tmp_path, timeout=60)

    return run


def test_selection(decide, tmp_path):
    """The message chooses the pool, and the file how often and the series; the images come with it."""
    parameters = {"io_benchmark_perfherder": "neutral", "io_benchmark_replicates": 2}
    done = decide("Faster\n\ntry: -j amd-16 --rebuild 9", parameters)
    labels = ["io-benchmark-amd-16-1", "io-benchmark-amd-16-2"]
    assert done.returncode == 0, done.stderr
    artifacts = tmp_path / "artifacts"
    assert sorted(json.loads((artifacts / "target-tasks.json").read_text())) == labels
    nodes = json.loads((artifacts / "task-graph.json").read_text()).values()
    tasks = {node["label"]: node["task"] for node in nodes}
    assert sorted(tasks) == created(labels)
    values = yaml.safe_load((artifacts / "parameters.yml").read_text())
    assert values["target_tasks_method"] == "io-benchmark"
    for label in labels:
        command = shell_text(tasks[label]["payload"]["command"])
        assert '--perfherder "${IO_BENCHMARK_PERFHERDER:-neutral}"' in command
