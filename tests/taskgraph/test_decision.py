# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""taskgraph's own decision, in a checkout, up to where it would create tasks."""

import json
import os
import shutil
import subprocess

import pytest
import yaml

from .conftest import REPOSITORY
from .whole_graph import EVERY_POOL, IMAGE, taskgraph

URL = "https://github.com/mozilla-releng/io-benchmark"


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A checkout of the tree with a commit of a given message; gives the decision's arguments."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    shutil.copy(REPOSITORY / ".taskcluster.yml", tmp_path)
    for part in ("taskcluster", "scripts/io-benchmark", "python/io_benchmark_taskgraph"):
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
        pytest.param("Faster", ["--target-tasks-method=io-benchmark"], EVERY_POOL, id="comment"),
    ],
)
def test_selection(checkout, tmp_path, message, more, labels):
    """What a decision task would create is what was asked for, and the image."""
    # So that no network is asked for the image; a pull request may give parameters this way.
    config = {"version": 2, "parameters": {"do_not_optimize": [IMAGE]}}
    (tmp_path / "try_task_config.json").write_text(json.dumps(config))
    done = decide(tmp_path, checkout(message), "--allow-parameter-override", *more)
    assert done.returncode == 0, done.stderr
    artifacts = tmp_path / "artifacts"
    assert sorted(json.loads((artifacts / "target-tasks.json").read_text())) == labels
    created = json.loads((artifacts / "label-to-taskid.json").read_text())
    assert sorted(created) == [IMAGE, *labels]
    parameters = yaml.safe_load((artifacts / "parameters.yml").read_text())
    assert parameters["target_tasks_method"] == "io-benchmark"


@pytest.mark.parametrize(
    ("message", "text"),
    [
        pytest.param(
            "try: -j amd-17", "no task is called 'amd-17'; did you mean amd-16? There", id="name"
        ),
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
