# SPDX-License-Identifier: MPL-2.0
"""What .taskcluster.yml is rendered with, for each kind of event, and the rendering."""

from copy import deepcopy
from typing import Any

import jsone
import yaml
from checkout import ROOT as CHECKOUT

TEMPLATE = yaml.safe_load((CHECKOUT / ".taskcluster.yml").read_text())
MAIN = "https://github.com/mozilla-releng/io-benchmark"
FORK = "https://github.com/contributor/io-benchmark"
BASE = "1c9e2b7d0a5f4e3c8b6d7a9f0e1d2c3b4a5f6e7d"
HEAD = "7f3a9c1e5b2d4f6081a3c5e7092b4d6f8a0c2e41"
OWN_TASK_ID = "Prp_WjpGRx26VH-wA8fjTA"
GROUP_ID = "O0wOvbnEQF6h8ptHBA6jbg"
ROOT = {"html_url": MAIN, "name": "io-benchmark"}
PULL_REQUEST = {
    "user": {"login": "contributor"},
    "base": {
        "repo": {**ROOT, "full_name": "mozilla-releng/io-benchmark"},
        "ref": "main",
        "sha": BASE,
    },
    "head": {"repo": {"html_url": FORK, "name": "its-name"}, "ref": "faster-disks", "sha": HEAD},
}
OPENED = {"repository": ROOT, "action": "opened", "pull_request": PULL_REQUEST}
GITHUB: dict[str, dict[str, Any]] = {
    "github-push": {
        "repository": ROOT,
        "pusher": {"email": "engineer@example.com"},
        "ref": "refs/heads/main",
        "base_ref": None,
        "before": BASE,
        "after": HEAD,
    },
    "github-pull-request": OPENED,
    "github-pull-request-untrusted": OPENED,
    # taskcluster-github adds the pull request to what GitHub sends.
    "github-issue-comment": {
        **OPENED,
        "action": "created",
        "taskcluster_comment": "io-benchmark",
        "issue": {"number": 7},
    },
}
HOOK = {
    "repository": {"url": MAIN, "project": "io-benchmark", "level": "3"},
    "push": {"revision": HEAD, "branch": "main", "owner": "cron", "pushlog_id": "0"},
    "ownTaskId": OWN_TASK_ID,
}
ACTION = {
    **HOOK,
    "action": {
        "name": "retrigger",
        "title": "Retrigger",
        "description": "Create a clone of the task.",
        "taskGroupId": GROUP_ID,
        "cb_name": "retrigger",
        "symbol": "rt",
        "action_perm": "generic",
    },
    "input": {"times": 3},
    "taskId": "Yx4AjHXCRfyptBUIPTPtEg",
    "taskGroupId": GROUP_ID,
    "clientId": "mozilla-auth0/ad|x/engineer",
}
HOOKS: dict[str, dict[str, Any]] = {
    "cron": {
        **HOOK,
        "cron": {
            "task_id": GROUP_ID,
            "job_name": "io-benchmark",
            "job_symbol": "io-benchmark",
            "quoted_args": "--target-tasks-method=io-benchmark",
            "input": {},
        },
    },
    "action": ACTION,
    "pr-action": {
        **ACTION,
        "repository": {"url": FORK, "base_url": MAIN, "project": "io-benchmark", "level": "1"},
        "push": {"revision": HEAD, "branch": "faster-disks", "base_branch": "main"},
    },
}
EVENTS = [*GITHUB, *HOOKS]
# The options that taskgraph gets for a pull request.
FROM_FORK = {
    "--pushlog-id": "0",
    "--pushdate": "0",
    "--repository-type": "git",
    "--project": "io-benchmark",
    "--owner": "contributor@users.noreply.github.com",
    "--level": "1",
    "--base-repository": MAIN,
    "--base-ref": "main",
    "--base-rev": BASE,
    "--head-repository": FORK,
    "--head-ref": "faster-disks",
    "--head-rev": HEAD,
}


def context(tasks_for):
    """Return a new context to change and to render with."""
    given: dict[str, Any] = HOOKS.get(tasks_for) or {
        "event": GITHUB[tasks_for],
        "as_slugid": lambda _label: OWN_TASK_ID,
    }
    root_url = "https://tc.example.com"
    return {**deepcopy(given), "tasks_for": tasks_for, "taskcluster_root_url": root_url}


def render_all(given):
    return jsone.render(TEMPLATE, given)["tasks"]


def render(given):
    [task] = render_all(given)
    return task
