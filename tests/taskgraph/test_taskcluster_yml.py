# SPDX-License-Identifier: MPL-2.0
"""The decision task, rendered for each event."""

import json
import re

import pytest

from .conftest import REPOSITORY
from .events import (
    EVENTS,
    FORK,
    GROUP_ID,
    HEAD,
    OWN_TASK_ID,
    TEMPLATE,
    context,
    render,
    render_all,
)

LEVEL_3 = ("github-push", "cron", "action")
ACTIONS = ("action", "pr-action")
PROJECT = "v2.io-benchmark"
TREEHERDER = f"tc-treeherder.{PROJECT}.{HEAD}"
LATEST, REVISION = f"index.releng.{PROJECT}.latest", f"index.releng.{PROJECT}.revision.{HEAD}"
# The role, and the routes: found by revision and as the latest; a pull request has no right to these.
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
    "action": (
        "action:generic",
        [TREEHERDER, f"{REVISION}.taskgraph.actions.{OWN_TASK_ID}"],
    ),
    "pr-action": ("pr-action:generic", []),
}


def test_who_may_ask():
    """Collaborators alone may ask by a comment; a stranger's pull request is an untrusted one."""
    assert TEMPLATE["policy"] == {
        "allowComments": "collaborators",
        "pullRequests": "public_restricted",
    }
    assert (TEMPLATE["version"], TEMPLATE["reporting"]) == (1, "checks-v1")
    assert isinstance(TEMPLATE["tasks"], list)


@pytest.mark.parametrize("tasks_for", EVENTS)
def test_task(tasks_for):
    """Level 3 for what was merged, level 1 for all else; the project's role; only the lock is installed."""
    task = render(context(tasks_for))
    level = "3" if tasks_for in LEVEL_3 else "1"
    assert task["provisionerId"] == f"releng-{level}"
    assert task["schedulerId"] == f"releng-level-{level}"
    role, routes = EVENTS_TABLE[tasks_for]
    assert task["scopes"] == [f"assume:repo:github.com/mozilla-releng/io-benchmark:{role}"]
    assert task["routes"] == ["checks", *routes]
    # A decision task is known by its group's id; an action joins the group that it acts on.
    if tasks_for in ACTIONS:
        assert "taskId" not in task
        assert task["taskGroupId"] == task["extra"]["parent"] == GROUP_ID
    else:
        assert task["taskId"] == task["taskGroupId"] == OWN_TASK_ID
    payload = task["payload"]
    environment = payload["env"]
    assert environment["DECISION_LEVEL"] == level
    assert all(name.startswith(f"releng-level-{level}-") for name in payload["cache"])
    assert environment["CI_PIP_REQUIREMENTS"] == "taskcluster/requirements.txt"
    assert (REPOSITORY / environment["CI_PIP_REQUIREMENTS"]).is_file()
    assert "PIP_DISABLE_REQUIRE_HASHES" not in environment
    assert json.loads(environment["REPOSITORIES"]) == {"ci": "io-benchmark"}
    assert payload["command"][:2] == ["run-task", "--ci-checkout=/builds/worker/checkouts/src"]
    assert re.fullmatch(r"[a-z/]+:[a-z0-9.-]+@sha256:[0-9a-f]{64}", payload["image"])
    assert not re.search(r"\b(pip3?|uv|curl|wget)\b", payload["command"][-1])


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
    ("tasks_for", "kind", "symbol"),
    [
        ("github-push", "decision-task", {"symbol": "D"}),
        ("cron", "cron-task", {"groupSymbol": "cron", "symbol": "io-benchmark"}),
        (
            *("action", "action-callback"),
            {"groupName": "action-callback", "groupSymbol": "AC", "symbol": "rt"},
        ),
    ],
)
def test_what_it_is_shown_as(tasks_for, kind, symbol):
    """Retriggering looks at the kind, Treeherder at the symbol."""
    task = render(context(tasks_for))
    assert task["tags"]["kind"] == kind
    assert task["extra"]["treeherder"] == {"machine": {"platform": "gecko-decision"}, **symbol}
    assert task["extra"]["tasks_for"] == tasks_for


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
    """Everything else renders to nothing."""
    given = context(tasks_for)
    given["event"].update(change)
    assert render_all(given) == []
