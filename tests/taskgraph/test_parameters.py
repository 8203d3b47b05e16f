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


PULL = {"tasks_for": "github-pull-request"}


@pytest.mark.parametrize(
    ("message", "changes", "expected"),
    [
        (b"Faster\n\ntry: -j amd-16,intel\n", {}, ("io-benchmark", ["amd-16", "intel"], 0)),
        (b"Faster\n\ntry: -j amd-16,intel\n", PULL, ("io-benchmark", ["amd-16", "intel"], 0)),
        (b"try: -j amd-16 --rebuild 6\n", {}, ("io-benchmark", ["amd-16"], 6)),
        (b"Faster", {}, ("default", [], 0)),
        (b"\xff", {}, ("default", [], 0)),
        # Who chose otherwise, or may not choose, gets the default list.
        *(
            (b"try: -j amd-16", {"tasks_for": event}, ("default", [], 0))
            for event in ("github-pull-request-untrusted", "cron", "action")
        ),
        *(
            (b"try: -j amd-16", {"target_tasks_method": method}, (method, [], 0))
            for method in ("nothing", "io-benchmark")
        ),
    ],
)
def test_commit_messages(commit, message, changes, expected):
    """A push and a collaborator's pull request select tasks, and how many."""
    assert decide(commit(message), **changes) == expected


def test_mistake_is_logged(commit, caplog):
    """taskgraph's command line says nothing of such an error itself, so it is logged here."""
    revision = commit(b"try: -j amd-16, intel")
    with caplog.at_level(logging.ERROR), pytest.raises(UserMistake) as caught:
        decide(revision)
    assert [record.getMessage() for record in caplog.records] == [str(caught.value)]
    assert caplog.records[0].exc_info is None
