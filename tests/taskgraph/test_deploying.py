# SPDX-License-Identifier: MPL-2.0
"""The roles of docs/deploying.md have the scopes that the generated tasks need, and no others."""

import re

import pytest
import yaml
from checkout import ROOT
from loopback_api import scopes_to_create
from loopback_auth import ANONYMOUS, PUBLIC_ARTIFACTS, satisfy

from .events import context, render
from .whole_graph import PARAMS, graph

PAGE = (ROOT / "taskcluster" / "docs" / "deploying.md").read_text()
ROLE = "repo:github.com/mozilla-releng/io-benchmark:"


def rows(title):
    section = PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    lines = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line] for line in lines[2:]]


# The level and the project of each role.
ROLES = {name.strip("`"): (level, project.strip("`")) for name, _, level, project in rows("Roles")}


def who(cell):
    """`all`, `all but` some, or some."""
    named = set(re.findall(r"`([^`]+)`", cell))
    assert named <= set(ROLES)
    if cell.startswith("all"):
        assert cell == "all" or cell.startswith("all but `")
        return set(ROLES) - named
    return named


def granted(name):
    """Return the scopes that the page gives to a role."""
    level, project = ROLES[name]
    scopes = [cell.strip("`") for cell, roles in rows("Scopes") if name in who(roles)]
    return [re.sub(r"\bL\b", level, re.sub(r"\bP\b", project, scope)) for scope in scopes]


def to_create(task, level):
    """Return what the queue asks of whoever creates the task: of each set one scope is enough."""
    # taskgraph adds the scheduler where it creates a task.
    needed = scopes_to_create({"schedulerId": f"releng-level-{level}", **task})["AllOf"]
    caches = [f"docker-worker:cache:{name}" for name in task["payload"].get("cache", {})]
    each = [need["AnyOf"] if isinstance(need, dict) else [need] for need in (*needed, *caches)]
    return set(map(frozenset, each))


def decision(tasks_for, role, **changes):
    """The decision task or action of an event, its role, and what creating it needs.

    Whoever creates it has the role itself.
    """
    task = render({**context(tasks_for), **changes})
    assume = f"assume:{ROLE}{role}"
    assert task["scopes"] == [assume]
    level = task["payload"]["env"]["DECISION_LEVEL"]
    return to_create(task, level) - {frozenset([assume])}


def created_in(*events):
    """What creating any task of any kind needs, for every parameter file of these events."""
    needs = set()
    for file in sorted(PARAMS.glob("*.yml")):
        parameters = yaml.safe_load(file.read_text())
        if parameters["tasks_for"] in events:
            for node in graph("full", file.stem).values():
                needs |= to_create(node["task"], parameters["level"])
    assert needs
    return needs


# By role: the events of its decision tasks. Actions have the scopes that test_actions.py runs them
# with.
EVENTS = {
    "branch:main": ["github-push"],
    "cron:io-benchmark": ["cron"],
    "pull-request": ["github-pull-request", "github-issue-comment"],
    "pull-request-untrusted": ["github-pull-request-untrusted"],
}


@pytest.mark.parametrize("role", EVENTS)
def test_scopes(role):
    """Every scope that a task's creation needs is on the page, and no other.

    Each role is needed.
    """
    needs, patterns = created_in(*EVENTS[role]), granted(role)
    for event in EVENTS[role]:
        needs |= decision(event, role)
    assert sorted(name for name in ROLES if "action:" not in name) == sorted(EVENTS)

    def is_met(need, *patterns):
        return any(satisfy(patterns, scope) for scope in need)

    assert sorted(min(need) for need in needs if not is_met(need, *patterns)) == []
    unused = [pattern for pattern in patterns if not any(is_met(need, pattern) for need in needs)]
    assert unused == []


def test_pools():
    """The page names every worker pool."""
    section = PAGE.partition("\n## Worker pools\n")[2].partition("\n## ")[0]
    config = yaml.safe_load((ROOT / "taskcluster" / "config.yml").read_text())
    types = {alias["worker-type"] for alias in config["workers"]["aliases"].values()}
    assert set(re.findall(r"`releng-L/([\w-]+)`", section)) == {*types, "decision"}


def test_the_role_anonymous():
    """It has what the loopback's Taskcluster gives readers without credentials, and why."""
    given = [(scope.strip("`"), reason) for scope, reason in rows("The role anonymous")]
    assert {scope for scope, _ in given} == {*ANONYMOUS, PUBLIC_ARTIFACTS}
    assert all(reason for _, reason in given)
