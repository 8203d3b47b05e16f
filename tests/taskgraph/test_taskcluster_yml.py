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
every_event = pytest.mark.parametrize("tasks_for", EVENTS)


def test_who_may_ask():
    """Collaborators alone may ask by a comment; a stranger's pull request is an untrusted one."""
    assert TEMPLATE["policy"] == {
        "allowComments": "collaborators",
        "pullRequests": "public_restricted",
    }
    assert (TEMPLATE["version"], TEMPLATE["reporting"]) == (1, "checks-v1")
    assert isinstance(TEMPLATE["tasks"], list)


@every_event
def test_level(tasks_for):
    """Level 3 for what was merged, level 1 for all else, in every place where it counts."""
    task = render(context(tasks_for))
    level = "3" if tasks_for in LEVEL_3 else "1"
    assert task["provisionerId"] == f"releng-{level}"
    assert task["schedulerId"] == f"releng-level-{level}"
    assert task["payload"]["env"]["DECISION_LEVEL"] == level
    assert all(name.startswith(f"releng-level-{level}-") for name in task["payload"]["cache"])


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
    ("tasks_for", "scope"),
    [
        pytest.param("github-push", "branch:main", id="push"),
        pytest.param("github-pull-request", "pull-request", id="pull-request"),
        pytest.param("github-pull-request-untrusted", "pull-request-untrusted", id="untrusted"),
        pytest.param("github-issue-comment", "pull-request", id="comment"),
        pytest.param("cron", "cron:io-benchmark", id="cron"),
        pytest.param("action", "action:generic", id="action"),
        pytest.param("pr-action", "pr-action:generic", id="pr-action"),
    ],
)
def test_scopes(tasks_for, scope):
    """Each event has its own role of the project's repository, never of a fork's."""
    expected = [f"assume:repo:github.com/mozilla-releng/io-benchmark:{scope}"]
    assert render(context(tasks_for))["scopes"] == expected


@pytest.mark.parametrize(
    ("tasks_for", "routes"),
    [
        pytest.param(
            "github-push",
            [
                f"tc-treeherder.v2.io-benchmark.{HEAD}",
                "index.releng.v2.io-benchmark.latest.taskgraph.decision",
                f"index.releng.v2.io-benchmark.revision.{HEAD}.taskgraph.decision",
            ],
            id="push",
        ),
        pytest.param("github-pull-request", [], id="pull-request"),
        pytest.param("github-pull-request-untrusted", [], id="untrusted"),
        pytest.param("github-issue-comment", [], id="comment"),
        pytest.param(
            "cron",
            [
                f"tc-treeherder.v2.io-benchmark.{HEAD}",
                "index.releng.v2.io-benchmark.latest.taskgraph.decision-io-benchmark",
                f"index.releng.v2.io-benchmark.revision.{HEAD}.taskgraph.decision-io-benchmark",
                f"index.releng.v2.io-benchmark.revision.{HEAD}.cron.{OWN_TASK_ID}",
            ],
            id="cron",
        ),
        pytest.param(
            "action",
            [
                f"tc-treeherder.v2.io-benchmark.{HEAD}",
                f"index.releng.v2.io-benchmark.revision.{HEAD}.taskgraph.actions.{OWN_TASK_ID}",
            ],
            id="action",
        ),
        pytest.param("pr-action", [], id="pr-action"),
    ],
)
def test_routes(tasks_for, routes):
    """Found by revision and as the latest; a pull request has no right to such routes."""
    assert render(context(tasks_for))["routes"] == ["checks", *routes]


@every_event
def test_ids(tasks_for):
    """A decision task is known by its group's id; an action joins the group that it acts on."""
    task = render(context(tasks_for))
    if tasks_for in ("action", "pr-action"):
        assert "taskId" not in task
        assert task["taskGroupId"] == task["extra"]["parent"] == GROUP_ID
    else:
        assert task["taskId"] == task["taskGroupId"] == OWN_TASK_ID


@pytest.mark.parametrize(
    ("tasks_for", "kind", "symbol"),
    [
        pytest.param("github-push", "decision-task", {"symbol": "D"}, id="push"),
        pytest.param(
            "cron", "cron-task", {"groupSymbol": "cron", "symbol": "io-benchmark"}, id="cron"
        ),
        pytest.param(
            "action",
            "action-callback",
            {"groupName": "action-callback", "groupSymbol": "AC", "symbol": "rt"},
            id="action",
        ),
    ],
)
def test_what_it_is_shown_as(tasks_for, kind, symbol):
    """Retriggering looks at the kind, Treeherder at the symbol."""
    task = render(context(tasks_for))
    assert task["tags"]["kind"] == kind
    assert task["extra"]["treeherder"] == {"machine": {"platform": "gecko-decision"}, **symbol}
    assert task["extra"]["tasks_for"] == tasks_for


@every_event
def test_only_the_lock_is_installed(tasks_for):
    """run-task installs the requirements by hash, and the image is fixed by its digest."""
    payload = render(context(tasks_for))["payload"]
    assert payload["env"]["CI_PIP_REQUIREMENTS"] == "taskcluster/requirements.txt"
    assert (REPOSITORY / payload["env"]["CI_PIP_REQUIREMENTS"]).is_file()
    assert "PIP_DISABLE_REQUIRE_HASHES" not in payload["env"]
    assert json.loads(payload["env"]["REPOSITORIES"]) == {"ci": "io-benchmark"}
    assert payload["command"][:2] == ["run-task", "--ci-checkout=/builds/worker/checkouts/src"]
    assert re.fullmatch(r"[a-z/]+:[a-z0-9.-]+@sha256:[0-9a-f]{64}", payload["image"])
    assert not re.search(r"\b(pip3?|uv|curl|wget)\b", payload["command"][-1])


@pytest.mark.parametrize(
    ("tasks_for", "change"),
    [
        pytest.param("github-push", {"ref": "refs/heads/other"}, id="another branch"),
        pytest.param("github-push", {"ref": "refs/tags/v1"}, id="tag"),
        pytest.param("github-pull-request", {"action": "labeled"}, id="label"),
        pytest.param("github-pull-request", {"action": "closed"}, id="closed"),
        pytest.param("github-issue-comment", {"action": "deleted"}, id="comment deleted"),
        pytest.param(
            "github-issue-comment", {"taskcluster_comment": "io-benchmark; id"}, id="odd comment"
        ),
        pytest.param("github-issue-comment", {"taskcluster_comment": "default"}, id="other method"),
    ],
)
def test_no_task(tasks_for, change):
    """Everything else renders to nothing."""
    given = context(tasks_for)
    given["event"].update(change)
    assert render_all(given) == []
