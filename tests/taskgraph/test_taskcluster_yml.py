# SPDX-License-Identifier: MPL-2.0
"""The decision task: rendered for each event, and its command run by bash as a worker would."""

import json
import os
import re
import subprocess
import sys

import pytest
from checkout import ROOT

from .events import (
    BASE,
    EVENTS,
    FORK,
    FROM_FORK,
    GROUP_ID,
    HEAD,
    MAIN,
    OWN_TASK_ID,
    TEMPLATE,
    context,
    render,
    render_all,
)

LEVEL_3 = ("github-push", "cron", "action")
PROJECT = "v2.io-benchmark"
TREEHERDER = f"tc-treeherder.{PROJECT}.{HEAD}"
LATEST, REVISION = f"index.releng.{PROJECT}.latest", f"index.releng.{PROJECT}.revision.{HEAD}"
# The role, and the routes: found by revision and as the latest; a pull request has no right to
# these.
EVENTS_TABLE: dict[str, tuple[str, list[str]]] = {
    "github-push": (
        "branch:main",
        [TREEHERDER, f"{LATEST}.taskgraph.decision", f"{REVISION}.taskgraph.decision"],
    ),
    "github-pull-request": ("pull-request", []),
    "github-pull-request-untrusted": ("pull-request-untrusted", []),
    "github-issue-comment": ("pull-request", []),
    "cron": (
        "cron:io-benchmark",
        [
            TREEHERDER,
            f"{LATEST}.taskgraph.decision-io-benchmark",
            f"{REVISION}.taskgraph.decision-io-benchmark",
            f"{REVISION}.cron.{OWN_TASK_ID}",
        ],
    ),
    "action": ("action:generic", [TREEHERDER, f"{REVISION}.taskgraph.actions.{OWN_TASK_ID}"]),
    "pr-action": ("pr-action:generic", []),
}


@pytest.mark.parametrize("tasks_for", EVENTS)
def test_task(tasks_for):
    """Level 3 for what was merged, level 1 for all else; the project's role.

    Only the lock is installed.
    """
    task = render(context(tasks_for))
    level = "3" if tasks_for in LEVEL_3 else "1"
    assert task["provisionerId"] == f"releng-{level}"
    assert task["schedulerId"] == f"releng-level-{level}"
    role, routes = EVENTS_TABLE[tasks_for]
    assert task["scopes"] == [f"assume:repo:github.com/mozilla-releng/io-benchmark:{role}"]
    assert task["routes"] == ["checks", *routes]
    # A decision task is known by its group's id; an action joins the group that it acts on.
    if "action" in tasks_for:
        assert "taskId" not in task
        assert task["taskGroupId"] == task["extra"]["parent"] == GROUP_ID
    else:
        assert task["taskId"] == task["taskGroupId"] == OWN_TASK_ID
    payload = task["payload"]
    environment = payload["env"]
    assert environment["DECISION_LEVEL"] == level
    assert all(name.startswith(f"releng-level-{level}-") for name in payload["cache"])
    assert environment["CI_PIP_REQUIREMENTS"] == "taskcluster/requirements.txt"
    assert (ROOT / environment["CI_PIP_REQUIREMENTS"]).is_file()
    assert "PIP_DISABLE_REQUIRE_HASHES" not in environment
    assert json.loads(environment["REPOSITORIES"]) == {"ci": "io-benchmark"}
    *words, text = payload["command"]
    assert words[:2] == ["run-task", "--ci-checkout=/builds/worker/checkouts/src"]
    assert not re.search(r"\b(pip3?|uv|curl|wget)\b", text)
    # Nothing of an event is in the shell's text.
    values = (MAIN, FORK, BASE, HEAD, GROUP_ID, "main", "engineer", "contributor", "faster-disks")
    assert [value for value in values if value in text] == []


@pytest.mark.parametrize("tasks_for", LEVEL_3)
def test_level_of_another_repository(tasks_for):
    """A fork's own pushes are never level 3."""
    given = context(tasks_for)
    if tasks_for == "github-push":
        given["event"]["repository"]["html_url"] = FORK
    else:
        given["repository"]["url"] = FORK
    assert render(given)["provisionerId"] == "releng-1"


@pytest.mark.parametrize(
    ("tasks_for", "change"),
    [
        ("github-push", {"ref": "refs/heads/other"}),
        ("github-push", {"ref": "refs/tags/v1"}),
        ("github-pull-request", {"action": "labeled"}),
        ("github-pull-request", {"action": "closed"}),
        ("github-issue-comment", {"action": "deleted"}),
        ("github-issue-comment", {"taskcluster_comment": "io-benchmark; id"}),
        ("github-issue-comment", {"taskcluster_comment": "default"}),
    ],
)
def test_no_task(tasks_for, change):
    """Everything else renders to nothing; collaborators alone may ask by a comment."""
    given = context(tasks_for)
    given["event"].update(change)
    assert render_all(given) == []
    policy = {"allowComments": "collaborators", "pullRequests": "public_restricted"}
    assert (TEMPLATE["policy"], TEMPLATE["reporting"]) == (policy, "checks-v1")


def run(task, folder):
    """Run a rendered task's shell command with a taskgraph that notes its arguments."""
    stub, note, work = folder / "user base/bin/taskgraph", folder / "note.json", folder / "src"
    stub.parent.mkdir(parents=True)
    stub.write_text(
        f"#!{sys.executable}\nimport json, os, sys\n"
        "variables = {k: v for k, v in os.environ.items() if k.startswith('ACTION_')}\n"
        "json.dump([sys.argv[1:], variables], open(os.environ['NOTE'], 'w'))\n"
    )
    stub.chmod(0o755)
    work.mkdir()
    environment = {
        "PATH": f"{os.path.dirname(sys.executable)}:/usr/bin:/bin",  # noqa: PTH120
        "PYTHONUSERBASE": str(stub.parent.parent),
        "NOTE": str(note),
        **task["payload"]["env"],
    }
    command = task["payload"]["command"][-3:]
    assert command[:2] == ["bash", "-cx"]
    subprocess.run(command, cwd=work, env=environment, check=True, capture_output=True)
    assert [path.name for path in work.iterdir()] == ["artifacts"]
    return json.loads(note.read_text())


MERGED = {**FROM_FORK, "--level": "3", "--head-repository": MAIN}
METHOD = {"--target-tasks-method": "io-benchmark"}
PUSH = {"--base-ref": "refs/heads/main", "--head-ref": "refs/heads/main"}
CRON = {"--owner": "cron@noreply.mozilla.org", "--base-rev": HEAD, "--head-ref": "main"}
# The options of a decision, and its flags.
CALLS: dict[str, tuple[dict[str, str], list[str]]] = {
    "github-push": ({**MERGED, "--owner": "engineer@example.com", **PUSH}, []),
    "github-pull-request": (FROM_FORK, ["--allow-parameter-override"]),
    "github-pull-request-untrusted": (FROM_FORK, []),
    "github-issue-comment": ({**FROM_FORK, "--project": "io-benchmark-pr", **METHOD}, []),
    "cron": ({**MERGED, **CRON, **METHOD}, []),
}
# What an action calls back with.
VARIABLES = {
    "ACTION_TASK_GROUP_ID": GROUP_ID,
    "ACTION_TASK_ID": '"Yx4AjHXCRfyptBUIPTPtEg"',
    "ACTION_INPUT": '{"times":3}',
    "ACTION_CALLBACK": "retrigger",
}


@pytest.mark.parametrize("tasks_for", EVENTS)
def test_command(tmp_path, tasks_for):
    """taskgraph is called with the event's own values, and takes them."""
    (name, *arguments), variables = run(render(context(tasks_for)), tmp_path)
    if tasks_for not in CALLS:
        assert (name, arguments, variables) == ("action-callback", [], VARIABLES)
        return
    options = dict(argument.split("=", 1) for argument in arguments if "=" in argument)
    flags = [argument for argument in arguments if "=" not in argument]
    expected, expected_flags = CALLS[tasks_for]
    assert (name, options) == ("decision", {**expected, "--tasks-for": tasks_for})
    assert (flags, variables) == (expected_flags, {})
