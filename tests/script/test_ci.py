# SPDX-License-Identifier: MPL-2.0
"""Which job this is, in environments as each system's documentation describes them."""

import re

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
}
GITLAB = {
    "GITLAB_CI": "true",
    "CI_JOB_NAME": "io: [ssd]",
    "CI_JOB_URL": "https://gitlab.com/a/b/-/jobs/7",
    "CI_PIPELINE_ID": "1000",
    "CI_PROJECT_DIR": "/builds/a/b",
}
JENKINS = {
    "BUILD_NUMBER": "153",
    "BUILD_TAG": "jenkins-foo-bar-153",
    "BUILD_URL": "http://server:8080/jenkins/job/foo/153/",
    "JOB_NAME": "foo/bar",
    "WORKSPACE": "/var/jenkins/workspace/foo_bar",
}
CIRCLE = {
    "CIRCLECI": "true",
    "CIRCLE_BUILD_URL": "https://circleci.com/gh/a/b/42",
    "CIRCLE_JOB": "io",
    "CIRCLE_WORKFLOW_ID": "9a956048",
    "CIRCLE_WORKING_DIRECTORY": "~/project",
}
# By variables: system, run, attempt and job; the URL; the work folder.
JOBS = [
    (
        GITHUB,
        ("github-actions", "16588", 3, "io"),
        "https://github.com/octocat/Hello-World/actions/runs/16588",
        "/home/runner/work",
    ),
    (GITLAB, ("gitlab-ci", "1000", None, "io: [ssd]"), GITLAB["CI_JOB_URL"], "/builds/a/b"),
    (
        JENKINS,
        ("jenkins", "153", None, "foo/bar"),
        JENKINS["BUILD_URL"],
        "/var/jenkins/workspace/foo_bar",
    ),
    (
        CIRCLE,
        ("circleci", "9a956048", None, "io"),
        CIRCLE["CIRCLE_BUILD_URL"],
        "/home/circleci/project",
    ),
]


@pytest.fixture
def environment(monkeypatch):
    """Sets the variables, and nothing else that a system of the table might set."""
    return lambda variables: monkeypatch.setattr(ci.os, "environ", dict(variables))


@pytest.mark.parametrize(
    ("variables", "job", "url", "folder"), JOBS, ids=[job[1][0] for job in JOBS]
)
def test_each_system(environment, monkeypatch, variables, job, url, folder):
    """Job and work folder of a job with all variables that its system sets."""
    environment(variables)
    monkeypatch.setattr(ci.os.path, "expanduser", lambda path: path.replace("~", "/home/circleci"))
    keys = ("system", "run", "attempt", "job", "url")
    description = dict(zip(keys, (*job, url), strict=True))
    assert ci.current_job() == (folder, description)


@pytest.mark.parametrize("system", ci.SYSTEMS, ids=lambda system: system.name)
def test_the_mark_alone(environment, system):
    """What is not set is null."""
    name, pattern = system.mark
    environment({name: pattern.replace(".*", "x")})
    nothing = dict.fromkeys(("run", "attempt", "job", "url"))
    assert ci.current_job() == (None, {"system": system.name, **nothing})


def test_no_system(environment):
    """A machine without CI has no job."""
    environment({"GITHUB_ACTIONS": "false", "CIRCLECI": "", "BUILD_TAG": "v1"})
    assert ci.current_job() is None


@pytest.mark.parametrize(
    ("url", "public"),
    [
        ("https://u:secret@host/1", None),
        ("https://host/#ssh://u:secret@host/1", None),
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


WITH_USER = "https://me:secret@host/"


@pytest.mark.parametrize("system", ci.SYSTEMS, ids=lambda system: system.name)
@pytest.mark.parametrize(
    "value", [WITH_USER, f"x {WITH_USER}", "https://me:secret" + "t" * 999 + "@h"]
)
def test_no_password_of_any_variable(environment, system, value):
    """A URL with a password may be in every variable; what is cut may be left without its host."""
    name, pattern = system.mark
    templates = f"{system.run} {system.attempt} {system.job} {system.url} {system.folder}"
    variables = dict.fromkeys(re.findall(r"{(\w+)}", templates), value)
    environment({**variables, name: pattern.replace(".*", "x")})
    job = ci.current_job()
    assert job.description["url"] is None
    assert "secret" not in str(job)


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
