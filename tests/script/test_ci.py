# SPDX-License-Identifier: MPL-2.0
"""Which job this is, in environments as each system's documentation describes them."""

import os
from types import SimpleNamespace

import ci
import pytest

GITHUB = {
    "CI": "true",
    "GITHUB_ACTIONS": "true",
    "GITHUB_JOB": "io",
    "GITHUB_REPOSITORY": "octocat/Hello-World",
    "GITHUB_RUN_ATTEMPT": "3",
    "GITHUB_RUN_ID": "1658821493",
    "GITHUB_SERVER_URL": "https://github.com",
    "GITHUB_WORKSPACE": "/home/runner/work/Hello-World/Hello-World",
    "ImageOS": "ubuntu24",
    "RUNNER_ARCH": "X64",
    "RUNNER_ENVIRONMENT": "github-hosted",
    "RUNNER_NAME": "GitHub Actions 1000000042",
    "RUNNER_OS": "Linux",
}
GITLAB = {
    "CI": "true",
    "GITLAB_CI": "true",
    "CI_JOB_NAME": "io: [ssd]",
    "CI_JOB_URL": "https://gitlab.com/a/b/-/jobs/7",
    "CI_PIPELINE_ID": "1000",
    "CI_PROJECT_DIR": "/builds/a/b",
    "CI_RUNNER_DESCRIPTION": "5-green.saas-linux-small-amd64.runners-manager.gitlab.com/default",
    "CI_RUNNER_TAGS": '["gce", "saas-linux-small-amd64"]',
}
BUILDKITE = {
    "BUILDKITE": "true",
    "BUILDKITE_AGENT_META_DATA_QUEUE": "linux-large",
    "BUILDKITE_AGENT_NAME": "elastic-builders-088264dc4f9",
    "BUILDKITE_BUILD_CHECKOUT_PATH": "/var/lib/buildkite-agent/builds/agent-1/pipeline-2",
    "BUILDKITE_BUILD_ID": "4735ba57-80d0-46e2-8fa0-b28223a86586",
    "BUILDKITE_BUILD_URL": "https://buildkite.com/acme-inc/my-project/builds/1514",
    "BUILDKITE_JOB_ID": "e44f9784-e20e-4b93-a21d-f41fd5869db9",
    "BUILDKITE_LABEL": ":floppy_disk: io",
    "BUILDKITE_RETRY_COUNT": "0",
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
AZURE = {
    "TF_BUILD": "True",
    "AGENT_NAME": "Azure Pipelines 3",
    "AGENT_OS": "Linux",
    "AGENT_OSARCHITECTURE": "X64",
    "BUILD_BUILDID": "4321",
    "SYSTEM_COLLECTIONURI": "https://dev.azure.com/fabrikam/",
    "AGENT_BUILDDIRECTORY": "/home/vsts/work/1",
    "SYSTEM_JOBATTEMPT": "1",
    "SYSTEM_JOBDISPLAYNAME": "Job",
    "SYSTEM_TEAMPROJECT": "Fabrikam Fiber",
}
CIRCLE = {
    "CI": "true",
    "CIRCLECI": "true",
    "CIRCLE_BUILD_URL": "https://circleci.com/gh/a/b/42",
    "CIRCLE_JOB": "io",
    "CIRCLE_WORKFLOW_ID": "9a956048-86ba-436a-aac0-9cd461ae266a",
    "CIRCLE_WORKING_DIRECTORY": "~/project",
    "HOME": "/home/circleci",
}


@pytest.fixture
def environment(monkeypatch):
    """Sets the variables, and nothing else that a system of the table might set."""

    def change(variables):
        monkeypatch.setattr(ci.os, "environ", dict(variables))

    return change


@pytest.mark.parametrize(
    ("variables", "job", "pool", "folder"),
    [
        pytest.param(
            GITHUB,
            (
                *("github-actions", "1658821493", 3, "io"),
                "https://github.com/octocat/Hello-World/actions/runs/1658821493",
            ),
            ("github-hosted-ubuntu24-X64", "RUNNER_ENVIRONMENT and ImageOS and RUNNER_ARCH"),
            "/home/runner/work/Hello-World/Hello-World",
            id="GitHub",
        ),
        pytest.param(
            GITLAB,
            ("gitlab-ci", "1000", None, "io: [ssd]", "https://gitlab.com/a/b/-/jobs/7"),
            ("gce-saas-linux-small-amd64", "CI_RUNNER_TAGS"),
            "/builds/a/b",
            id="GitLab",
        ),
        pytest.param(
            BUILDKITE,
            (
                *("buildkite", "4735ba57-80d0-46e2-8fa0-b28223a86586", 0, ":floppy_disk: io"),
                f"{BUILDKITE['BUILDKITE_BUILD_URL']}#e44f9784-e20e-4b93-a21d-f41fd5869db9",
            ),
            ("linux-large", "BUILDKITE_AGENT_META_DATA_QUEUE"),
            "/var/lib/buildkite-agent/builds/agent-1/pipeline-2",
            id="Buildkite",
        ),
        pytest.param(
            JENKINS,
            ("jenkins", "153", None, "foo/bar", "http://server:8080/jenkins/job/foo/153/"),
            ("linux-ssd", "NODE_LABELS"),
            "/var/jenkins/workspace/foo_bar",
            id="Jenkins",
        ),
        pytest.param(
            AZURE,
            (
                *("azure-pipelines", "4321", 1, "Job"),
                "https://dev.azure.com/fabrikam/Fabrikam%20Fiber/_build/results?buildId=4321",
            ),
            ("Linux-X64", "AGENT_OS and AGENT_OSARCHITECTURE"),
            "/home/vsts/work/1",
            id="Azure",
        ),
        pytest.param(
            CIRCLE,
            (
                *("circleci", "9a956048-86ba-436a-aac0-9cd461ae266a", None, "io"),
                "https://circleci.com/gh/a/b/42",
            ),
            ("circleci", "the CI system alone"),
            "/home/circleci/project",
            id="CircleCI",
        ),
    ],
)
def test_each_system(environment, monkeypatch, variables, job, pool, folder):
    """Job, pool and work folder of a job with all variables that its system sets."""
    environment(variables)
    monkeypatch.setattr(ci.os.path, "expanduser", lambda path: path.replace("~", "/home/circleci"))
    keys = ("system", "run", "attempt", "job", "url")
    assert ci.describe() == dict(zip(keys, job, strict=True))
    assert ci.guess_pool() == pool
    assert ci.work_folder() == folder


@pytest.mark.parametrize("system", ci._SYSTEMS, ids=lambda system: system.name)
def test_the_mark_alone(environment, system):
    """What is not set is null; the pool is then the system's name, never the host's."""
    name, pattern = system.mark
    environment({name: pattern.replace(".*", "x")})
    assert ci.describe() == {
        "system": system.name,
        **dict.fromkeys(("run", "attempt", "job", "url")),
    }
    assert ci.guess_pool() == (system.name, "the CI system alone")
    assert ci.work_folder() is None


def test_no_system(environment, monkeypatch):
    """A machine without CI is a pool by its host's name."""
    environment({"GITHUB_ACTIONS": "false", "CIRCLECI": "", "BUILD_TAG": "v1"})
    monkeypatch.setattr(os, "uname", lambda: SimpleNamespace(nodename="build-7.example.org"))
    assert ci.describe() is None
    assert ci.work_folder() is None
    assert ci.guess_pool() == ("build-7.example.org", "the host's name")
    monkeypatch.setattr(os, "uname", lambda: SimpleNamespace(nodename=""))
    assert ci.guess_pool() == ("host", "the host's name")


@pytest.mark.parametrize(
    ("change", "pool"),
    [
        pytest.param({"ImageOS": ""}, "github-hosted-Linux-X64", id="no image"),
        pytest.param({"ImageOS": "", "RUNNER_ENVIRONMENT": ""}, "Linux-X64", id="an old runner"),
        pytest.param({"ImageOS": "a b/ä\n"}, "github-hosted-a-b--X64", id="no name"),
        pytest.param({"ImageOS": "x" * 5000}, f"github-hosted-{'x' * 77}-18a9c30f", id="long"),
        pytest.param(
            {"ImageOS": "x" * 200 + "y"}, f"github-hosted-{'x' * 77}-f83af5e3", id="another end"
        ),
    ],
)
def test_pools_of_github(environment, change, pool):
    """What is known of the runner's kind; characters that a pool cannot have are left out."""
    environment({**GITHUB, **change})
    assert ci.guess_pool()[0] == pool


@pytest.mark.parametrize(
    ("labels", "pool"),
    [
        pytest.param("agent-7", "agent-7", id="the name alone"),
        pytest.param("", "agent-7", id="no labels"),
        pytest.param("ssd agent-7", "ssd", id="the name last"),
        pytest.param("ssd agent-7 linux", "linux-ssd", id="another order"),
    ],
)
def test_pools_of_jenkins(environment, labels, pool):
    """The labels without the node's own name, which only a node without labels is called by."""
    environment({**JENKINS, "NODE_LABELS": labels})
    assert ci.guess_pool()[0] == pool


@pytest.mark.parametrize("tags", ['["ssd", "gce"]', '["gce","ssd"]', "[gce ssd]"])
def test_pools_of_gitlab(environment, tags):
    """Runners with the same tags are one pool, in whatever order their owner gave the tags."""
    environment({**GITLAB, "CI_RUNNER_TAGS": tags})
    assert ci.guess_pool()[0] == "gce-ssd"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        pytest.param("https://u:secret@host/1", None, id="password"),
        pytest.param("javascript:alert(1)", None, id="script"),
        pytest.param("//host/1", None, id="no scheme"),
        pytest.param("https://[x/", None, id="no host"),
        pytest.param("https://host/ä <b>", "https://host/%C3%A4%20%3Cb%3E", id="quoted"),
        pytest.param("https://host/\udcff", "https://host/?", id="not UTF-8"),
        pytest.param("https://host/" + "x" * 5000, "https://host/" + "x" * 987, id="long"),
    ],
)
def test_urls(environment, url, shown):
    """Only addresses of the web, without passwords, since results are public."""
    environment({**GITLAB, "CI_JOB_URL": url})
    assert ci.describe()["url"] == shown


@pytest.mark.parametrize("attempt", ["-1", "1.5", "x", "9" * 10, "٣"])
def test_no_attempt(environment, attempt):
    """An attempt is a number or null."""
    environment({**GITHUB, "GITHUB_RUN_ATTEMPT": attempt})
    assert ci.describe()["attempt"] is None


@pytest.mark.parametrize("folder", ["", "relative", "~nobody-here/x", "/a\0b"])
def test_no_work_folder(environment, folder):
    """A work folder is an absolute path or none."""
    environment({**GITLAB, "CI_PROJECT_DIR": folder})
    assert ci.work_folder() is None
