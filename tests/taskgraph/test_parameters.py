# SPDX-License-Identifier: MPL-2.0
"""How a decision task comes to its selection."""

import logging
import os
import subprocess

import pytest

from io_benchmark_taskgraph import parameters
from io_benchmark_taskgraph.mistakes import UserMistake


@pytest.fixture
def commit(tmp_path, monkeypatch):
    """A checkout with one commit of a message; gives its revision."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.chdir(tmp_path)

    def git(*arguments, **options):
        identity = ["-c", "user.name=x", "-c", "user.email=x@example.com"]
        done = subprocess.run(
            ["git", *identity, *arguments], check=True, stdout=subprocess.PIPE, **options
        )
        return done.stdout.decode().strip()

    def make(message):
        git("init", "--quiet")
        git("commit", "--quiet", "--allow-empty", "--cleanup=verbatim", "-F", "-", input=message)
        return git("rev-parse", "HEAD")

    return make


def decide(revision, **changes):
    values = {
        "tasks_for": "github-push",
        "target_tasks_method": "default",
        "head_rev": revision,
        **changes,
    }
    parameters.decision_parameters(None, values)
    assert values["io_benchmark_perfherder"] == ""  # what a message cannot ask for
    asked_for = values["target_tasks_method"], values["io_benchmark_jobs"]
    return (*asked_for, values["io_benchmark_replicates"])


@pytest.mark.parametrize("tasks_for", ["github-push", "github-pull-request"])
def test_commit_message_selects(commit, tasks_for):
    """A push and a collaborator's pull request are asked what they want."""
    revision = commit(b"Faster\n\ntry: -j amd-16,intel\n")
    assert decide(revision, tasks_for=tasks_for) == ("io-benchmark", ["amd-16", "intel"], 0)


def test_commit_message_asks_for_replicates(commit):
    """With Firefox's own word for them."""
    revision = commit(b"Faster\n\ntry: -j amd-16 --rebuild 6\n")
    assert decide(revision) == ("io-benchmark", ["amd-16"], 6)


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param(
            {"tasks_for": "github-pull-request-untrusted"}, id="a stranger's pull request"
        ),
        pytest.param({"tasks_for": "cron"}, id="cron"),
        pytest.param({"tasks_for": "action"}, id="action"),
        pytest.param({"target_tasks_method": "nothing"}, id="DONTBUILD"),
        pytest.param({"target_tasks_method": "io-benchmark"}, id="comment"),
    ],
)
def test_commit_message_is_not_asked(commit, changes):
    """Who chose otherwise, or may not choose, gets the default list."""
    revision = commit(b"try: -j amd-16")
    method = changes.get("target_tasks_method", "default")
    assert decide(revision, **changes) == (method, [], 0)


@pytest.mark.parametrize(
    "message", [pytest.param(b"Faster", id="nothing asked"), pytest.param(b"\xff", id="not UTF-8")]
)
def test_commit_message_that_asks_for_nothing(commit, message):
    """Everything stays as it is."""
    assert decide(commit(message)) == ("default", [], 0)


def test_mistake_is_logged(commit, caplog):
    """taskgraph's command line says nothing of such an error itself, so it is logged here."""
    revision = commit(b"try: -j amd-16, intel")
    with caplog.at_level(logging.ERROR), pytest.raises(UserMistake) as caught:
        decide(revision)
    assert [record.getMessage() for record in caplog.records] == [str(caught.value)]
    assert caplog.records[0].exc_info is None
