# SPDX-License-Identifier: MPL-2.0
"""Which job of which CI system this is, by the variables that the system sets.

A variable may be missing, and anyone who writes the job may set it: it is for people.
Taskcluster is not here: the result has keys for its tasks, and their program lacks this module.
"""

import os
import re
from typing import Any, Dict, NamedTuple, Optional, Tuple
from urllib.parse import quote, urlsplit

from result.files import has_password, without_passwords

VALUE_LENGTH = 1000  # characters
IN_URL = "%/:?#[]@!$&'()*+,;=~"  # not _quoted: they have a meaning in a URL


class _Job(NamedTuple):
    folder: Optional[str]  # where the CI system lets the job work, absolute
    description: Dict[str, Any]  # for the result file


class _System(NamedTuple):
    """The variables of one system; "{NAME}" is replaced by the value of a variable.

    A template counts for nothing if one of its variables has no value.
    """

    name: str
    mark: Tuple[str, str]  # a variable, and what its value matches in every job
    run: str
    job: str
    url: str
    folder: str  # where the job works
    attempt: str = ""


SYSTEMS = (
    # docs.github.com/en/actions/reference/workflows-and-actions/variables
    _System(
        name="github-actions",
        mark=("GITHUB_ACTIONS", "true"),
        run="{GITHUB_RUN_ID}",
        attempt="{GITHUB_RUN_ATTEMPT}",
        job="{GITHUB_JOB}",
        url="{GITHUB_SERVER_URL}/{GITHUB_REPOSITORY}/actions/runs/{GITHUB_RUN_ID}",
        folder="{GITHUB_WORKSPACE}",
    ),
    # docs.gitlab.com/ci/variables/predefined_variables. A retried job has a new id, and no number.
    _System(
        name="gitlab-ci",
        mark=("GITLAB_CI", "true"),
        run="{CI_PIPELINE_ID}",
        job="{CI_JOB_NAME}",
        url="{CI_JOB_URL}",
        folder="{CI_PROJECT_DIR}",
    ),
    # buildkite.com/docs/pipelines/configure/environment-variables
    _System(
        name="buildkite",
        mark=("BUILDKITE", "true"),
        run="{BUILDKITE_BUILD_ID}",
        attempt="{BUILDKITE_RETRY_COUNT}",
        job="{BUILDKITE_LABEL}",
        url="{BUILDKITE_BUILD_URL}#{BUILDKITE_JOB_ID}",
        folder="{BUILDKITE_BUILD_CHECKOUT_PATH}",
    ),
    # JENKINS_URL/env-vars.html. JENKINS_URL and BUILD_URL are set only where the controller's
    # configuration has its address.
    _System(
        name="jenkins",
        mark=("BUILD_TAG", "jenkins-.*"),
        run="{BUILD_NUMBER}",
        job="{JOB_NAME}",
        url="{BUILD_URL}",
        folder="{WORKSPACE}",
    ),
    # learn.microsoft.com/azure/devops/pipelines/build/variables
    _System(
        name="azure-pipelines",
        mark=("TF_BUILD", "true"),
        run="{BUILD_BUILDID}",
        attempt="{SYSTEM_JOBATTEMPT}",
        job="{SYSTEM_JOBDISPLAYNAME}",
        url="{SYSTEM_COLLECTIONURI}{SYSTEM_TEAMPROJECT}/_build/results?buildId={BUILD_BUILDID}",
        folder="{AGENT_BUILDDIRECTORY}",
    ),
    # circleci.com/docs/reference/variables. The folder may begin with "~".
    _System(
        name="circleci",
        mark=("CIRCLECI", "true"),
        run="{CIRCLE_WORKFLOW_ID}",
        job="{CIRCLE_JOB}",
        url="{CIRCLE_BUILD_URL}",
        folder="{CIRCLE_WORKING_DIRECTORY}",
    ),
)


def current_job():
    """Return this job; None outside the CI systems of the table."""
    for system in SYSTEMS:
        name, pattern = system.mark
        if re.fullmatch(pattern, os.environ.get(name, ""), re.IGNORECASE | re.DOTALL):
            return _Job(_work_folder(system), _describe(system))
    return None


def _filled(template: str) -> Optional[str]:
    """Return the template with the values of its variables; None where one has no value."""
    names = re.findall(r"\{(\w+)\}", template)
    values = {name: os.environ.get(name, "").strip() for name in names}
    # Before they are cut: what is left of a URL need not look like one with a password.
    values = {name: without_passwords(value)[:VALUE_LENGTH] for name, value in values.items()}
    return template.format_map(values) if names and all(values.values()) else None


def _describe(system):
    attempt = _filled(system.attempt) or ""
    return {
        "system": system.name,
        "run": _filled(system.run),
        "attempt": int(attempt) if re.fullmatch("[0-9]{1,9}", attempt) else None,
        "job": _filled(system.job),
        "url": _public_url(_filled(system.url) or ""),
    }


def _public_url(address):
    """Return the URL unless it is none, or held a password: then it leads nowhere."""
    url = quote(address, safe=IN_URL, errors="replace")
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    is_public = parts.scheme in ("http", "https") and parts.netloc and not has_password(url)
    return url if is_public else None


def _work_folder(system):
    path = os.path.expanduser(_filled(system.folder) or "")
    return os.path.normpath(path) if os.path.isabs(path) and "\0" not in path else None
