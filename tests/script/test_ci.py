# SPDX-License-Identifier: MPL-2.0
"""Which job this is, in environments as each system's documentation describes them."""

import os
from types import SimpleNamespace

import ci
import pytest

GITHUB = {
    "GITHUB_ACTIONS": "true",
    "GITHUB_JOB": "io",
    "GITHUB_REPOSITORY": "octocat/Hello-World",
    "GITHUB_RUN_ATTEMPT": "3",
    "GITHUB_RUN_ID": "16588",
    "GITHUB_SERVER_URL": "https://github.com",
    "GITHUB_WORKSPACE": "/home/runner/work",
    "ImageOS": "ubuntu24",
    "RUNNER_ARCH": "X64",
    "RUNNER_ENVIRONMENT": "github-hosted",
    "RUNNER_OS": "Linux",
}
GITLAB = {
    "GITLAB_CI": "true",
    "CI_JOB_NAME": "io: [ssd]",
    "CI_JOB_URL": "https://gitlab.com/a/b/-/jobs/7",
    "CI_PIPELINE_ID": "1000",
    "CI_PROJECT_DIR": "/builds/a/b",
    "CI_RUNNER_TAGS": '["gce", "saas-linux-small-amd64"]',
}
JENKINS = {
    "BUILD_NUMBER": "153",
    "BUILD_TAG": "jenkins-foo-bar-153",
    "BUILD_URL": "http://server:8080/jenkins/job/foo/153/",
    "JOB_NAME": "foo/bar",
    "NODE_LABELS": "agent-7 linux ssd",
    "NODE_NAME": "agent-7",
    "WORKSPACE": "/var/jenkins/workspace/foo_bar",
}
CIRCLE = {
    "CIRCLECI": "true",
    "CIRCLE_BUILD_URL": "https://circleci.com/gh/a/b/42",
    "CIRCLE_JOB": "io",
    "CIRCLE_WORKFLOW_ID": "9a956048",
    "CIRCLE_WORKING_DIRECTORY": "~/project",
}
# By variables: system, run, attempt and job; the URL; the pool's name and its origin; the work folder.
JOBS = [
    (
        *(GITHUB, ("github-actions", "16588", 3, "io")),
        "https://github.com/octocat/Hello-World/actions/runs/16588",
        ("github-hosted-ubuntu24-X64", "RUNNER_ENVIRONMENT and ImageOS and RUNNER_ARCH"),
        "/home/runner/work",
    ),
    (
        *(GITLAB, ("gitlab-ci", "1000", None, "io: [ssd]"), GITLAB["CI_JOB_URL"]),
        *(("gce-saas-linux-small-amd64", "CI_RUNNER_TAGS"), "/builds/a/b"),
    ),
    (
        *(JENKINS, ("jenkins", "153", None, "foo/bar"), JENKINS["BUILD_URL"]),
        *(("linux-ssd", "NODE_LABELS"), "/var/jenkins/workspace/foo_bar"),
    ),
    (
        *(CIRCLE, ("circleci", "9a956048", None, "io"), CIRCLE["CIRCLE_BUILD_URL"]),
        *(("circleci", "the CI system alone"), "/home/circleci/project"),
    ),
]


@pytest.fixture
def environment(monkeypatch):
    """Sets the variables, and nothing else that a system of the table might set."""
    return lambda variables: monkeypatch.setattr(ci.os, "environ", dict(variables))


@pytest.mark.parametrize(
    ("variables", "job", "url", "pool", "folder"), JOBS, ids=[job[1][0] for job in JOBS]
)
def test_each_system(environment, monkeypatch, variables, job, url, pool, folder):
    """Job, pool and work folder of a job with all variables that its system sets."""
    environment(variables)
    monkeypatch.setattr(ci.os.path, "expanduser", lambda path: path.replace("~", "/home/circleci"))
    keys = ("system", "run", "attempt", "job", "url")
    description = dict(zip(keys, (*job, url), strict=True))
    assert ci.current_job() == (*pool, folder, description)


@pytest.mark.parametrize("system", ci.SYSTEMS, ids=lambda system: system.name)
def test_the_mark_alone(environment, system):
    """What is not set is null; the pool is then the system's name, never the host's."""
    name, pattern = system.mark
    environment({name: pattern.replace(".*", "x")})
    nothing = dict.fromkeys(("run", "attempt", "job", "url"))
    description = {"system": system.name, **nothing}
    assert ci.current_job() == (system.name, "the CI system alone", None, description)


def test_no_system(environment, monkeypatch):
    """A machine without CI is a pool by its host's name."""
    environment({"GITHUB_ACTIONS": "false", "CIRCLECI": "", "BUILD_TAG": "v1"})
    for host, pool in (("build-7.example.org", "build-7.example.org"), ("", "host")):
        monkeypatch.setattr(os, "uname", lambda name=host: SimpleNamespace(nodename=name))
        assert ci.current_job() == (pool, "the host's name", None, None)


@pytest.mark.parametrize(
    ("variables", "change", "pool"),
    [
        # What is known of the runner's kind, without characters that a pool cannot have.
        (GITHUB, {"ImageOS": ""}, "github-hosted-Linux-X64"),
        (GITHUB, {"ImageOS": "", "RUNNER_ENVIRONMENT": ""}, "Linux-X64"),
        (GITHUB, {"ImageOS": "a b/ä\n"}, "github-hosted-a-b--X64"),
        (GITHUB, {"ImageOS": "x" * 82}, f"github-hosted-{'x' * 82}-X64"),
        (GITHUB, {"ImageOS": "x" * 83}, f"github-hosted-{'x' * 77}-6d9a9490"),
        # The labels without the node's own name, which only a node without labels is called by.
        (JENKINS, {"NODE_LABELS": "agent-7"}, "agent-7"),
        (JENKINS, {"NODE_LABELS": ""}, "agent-7"),
        (JENKINS, {"NODE_LABELS": "ssd agent-7"}, "ssd"),
        (JENKINS, {"NODE_LABELS": "ssd agent-7 linux"}, "linux-ssd"),
        # The same tags in whatever order and form.
        *(
            (GITLAB, {"CI_RUNNER_TAGS": tags}, "gce-ssd")
            for tags in ('["ssd", "gce"]', '["gce","ssd"]', "[gce ssd]")
        ),
    ],
)
def test_names_of_pools(environment, variables, change, pool):
    """Machines of one kind have one name, and others another."""
    environment({**variables, **change})
    assert ci.current_job().pool == pool


@pytest.mark.parametrize(
    ("url", "public"),
    [
        ("https://u:secret@host/1", None),
        ("javascript:alert(1)", None),
        ("https://[x/", None),
        ("https://host/ä <b>", "https://host/%C3%A4%20%3Cb%3E"),
        ("https://host/" + "x" * 5000, "https://host/" + "x" * 987),
    ],
)
def test_urls(environment, url, public):
    """Only addresses of the web, without passwords, since results are public."""
    environment({**GITLAB, "CI_JOB_URL": url})
    assert ci.current_job().description["url"] == public


@pytest.mark.parametrize("attempt", ["-1", "1.5", "x", "9" * 10, "٣"])
def test_no_attempt(environment, attempt):
    """An attempt is a number or null."""
    environment({**GITHUB, "GITHUB_RUN_ATTEMPT": attempt})
    assert ci.current_job().description["attempt"] is None


@pytest.mark.parametrize("folder", ["", "relative", "~nobody-here/x", "/a\0b"])
def test_no_work_folder(environment, folder):
    """A work folder is an absolute path or none."""
    environment({**GITLAB, "CI_PROJECT_DIR": folder})
    assert ci.current_job().folder is None
