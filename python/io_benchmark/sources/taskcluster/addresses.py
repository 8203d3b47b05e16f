# SPDX-License-Identifier: MPL-2.0
"""Addresses of results in Taskcluster, parsed without a request.

An address is `task:ID[.RUN]`, `group:ID`, `index:ROUTE`, or copied from a browser: Taskcluster's
page of a task, a group or an indexed task, or Treeherder's page of a push.
"""

import os
import re
from collections.abc import Mapping
from typing import Self
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.errors import UsageError
from io_benchmark.results.format import SLUG_PATTERN
from io_benchmark.text import clean, clean_name

DEFAULT_ROOT_URL = "https://firefox-ci-tc.services.mozilla.com"
ROOT_VARIABLE = "TASKCLUSTER_ROOT_URL"
TRUST_DOMAIN_VARIABLE = "IO_BENCHMARK_TRUST_DOMAIN"
DECISION = ".taskgraph.decision"
POOLS_BY_DATE = ".date.io-benchmark"
# What a failure at the default deployment says, which nobody named.
DEFAULT_HINT = f" ({ROOT_VARIABLE} is not set; set it if another deployment is meant)"

_TASK_RUN = re.compile(rf"({SLUG_PATTERN})(?:\.([0-9]{{1,9}}))?")
_ROUTE = re.compile(r"[A-Za-z0-9_!~*'()%-]+(?:\.[A-Za-z0-9_!~*'()%-]+)*")
# As the kind's transforms accept them.
_PROJECT = re.compile(r"[A-Za-z0-9_-]{1,100}(\.[A-Za-z0-9_-]{1,100})*")
REVISION = re.compile(r"[0-9a-f]{40}")
# Lando's hosts by the name that Treeherder's addresses have for them; the first is meant without a
# name.
LANDO_HOSTS = {
    "lando-prod": "https://api.lando.services.mozilla.com",
    "lando-prod-2025": "https://lando.moz.tools",
}


class TaskAddress(Struct, frozen=True):
    """One task: all runs that count, or the named run."""

    root_url: str
    task_id: str
    run_id: int | None = None
    selected_of_push: bool = False  # a pasted address names the push as well

    def __str__(self) -> str:
        return f"task:{self.task_id}" + ("" if self.run_id is None else f".{self.run_id}")

    @property
    def url(self) -> str:
        run = "" if self.run_id is None else f"/runs/{self.run_id}"
        return f"{self.root_url}/tasks/{self.task_id}{run}"


class GroupAddress(Struct, frozen=True):
    """The benchmark's tasks of a task group."""

    root_url: str
    group_id: str

    def __str__(self) -> str:
        return f"group:{self.group_id}"

    @property
    def url(self) -> str:
        return f"{self.root_url}/tasks/groups/{self.group_id}"


class IndexAddress(Struct, frozen=True):
    """An indexed task, or a namespace of tasks; a decision task means its group."""

    root_url: str
    route: str

    @classmethod
    def by_date(cls, project: str, pool: str, environment: Mapping[str, str]) -> Self:
        """Return the namespace of a pool's results by date; a dot in a name would end the name."""
        if not is_project(project):
            raise UsageError(
                f"--project: {clean(project, 100)!r} is not the name of a project; try io-benchmark"
            )
        pools = cls.of_pools(project, environment)
        return cls(pools.root_url, f"{pools.route}.{pool.replace('.', '~')}")

    @classmethod
    def of_pools(cls, project: str, environment: Mapping[str, str]) -> Self:
        """Return the namespace that has a namespace by date for each pool of a project."""
        domain = _trust_domain(project, environment)
        return cls(default_root_url(environment), f"{domain}.v2.{project}{POOLS_BY_DATE}")

    def __str__(self) -> str:
        return f"index:{self.route}"


class LandingAddress(Struct, frozen=True):
    """A push that Lando makes for `mach try`; its revision is known once Lando has landed it."""

    root_url: str
    job_url: str
    push_route: str  # the revision is missing

    def __str__(self) -> str:
        return self.job_url


TaskclusterAddress = TaskAddress | GroupAddress | IndexAddress | LandingAddress


def is_project(name: str) -> bool:
    """Return whether a project may have this name."""
    return bool(_PROJECT.fullmatch(name))


def parse(address: str, environment: Mapping[str, str]) -> TaskclusterAddress | None:
    """Return what an address means; None where it is not of a task, group, index or web page.

    Raise a UsageError with the right form where such an address has a mistake.
    """
    stripped = address.strip()
    prefixed = re.fullmatch("(task|group|index):(.*)", stripped)
    bare = _TASK_RUN.fullmatch(stripped)
    if bare and not os.path.lexists(stripped):
        group = "" if bare[2] else f" or group:{stripped}"
        raise UsageError(f"{stripped}: no such file or folder; is task:{stripped}{group} meant?")
    try:
        if prefixed:
            kind, name, root_url = prefixed[1], prefixed[2], default_root_url(environment)
            if kind == "task":
                problem = "it is not task:ID or task:ID.RUN with an id of 22 characters"
                return _task_run(root_url, name, problem)
            if kind == "group":
                return GroupAddress(root_url, _slug(name, "group:ID with an id of 22 characters"))
            return IndexAddress(root_url, _route(name))
        if stripped[:8].lower().startswith(("http://", "https://")):
            return _page(stripped, environment)
    except _MistakeError as mistake:
        raise UsageError(f"{clean_name(stripped)}: {mistake}") from None
    return None


def default_root_url(environment: Mapping[str, str]) -> str:
    """Return the deployment of an address that names none."""
    root_url = environment.get(ROOT_VARIABLE) or DEFAULT_ROOT_URL
    try:
        return _root_url(urlsplit(root_url))
    except ValueError:
        raise UsageError(
            f"{ROOT_VARIABLE}: {clean(root_url, 100)!r} is not an http(s) address; "
            f"try {DEFAULT_ROOT_URL}"
        ) from None


def default_remark(root_url: str) -> str:
    return f"read {root_url}, because {ROOT_VARIABLE} is not set"


def default_hint(environment: Mapping[str, str]) -> str:
    """Return what to add to a failure at the deployment that addresses without one mean."""
    return "" if environment.get(ROOT_VARIABLE) else DEFAULT_HINT


def _trust_domain(repository: str, environment: Mapping[str, str]) -> str:
    """Return the first part of the index routes of a repository's tasks."""
    # The first two are this project's own.
    usual = "releng" if repository in ("io-benchmark", "io-benchmark-pr") else "gecko"
    domain = environment.get(TRUST_DOMAIN_VARIABLE) or usual
    if not re.fullmatch("[A-Za-z0-9_-]{1,50}", domain):
        raise UsageError(
            f"{TRUST_DOMAIN_VARIABLE}: {clean(domain, 100)!r} is not a trust domain; try gecko"
        )
    return domain


class _MistakeError(Exception):
    """What is wrong with an address; `parse` adds the address itself."""


def _page(address: str, environment: Mapping[str, str]) -> TaskclusterAddress:
    try:
        url = urlsplit(address)
        root_url = _root_url(url)
    except ValueError:
        raise _MistakeError(
            "it is not an http(s) address with a host and without a password"
        ) from None
    segments = [unquote(part) for part in url.path.split("/") if part]
    if (url.hostname or "").startswith("treeherder."):
        return _treeherder(url, environment)
    match segments:
        case ["tasks", "groups", _, "tasks", *task] | ["api", "queue", "v1", "task", *task] if task:
            return _task(root_url, task)
        case ["tasks", "groups", group, *_]:
            return GroupAddress(root_url, _slug(group, "/tasks/groups/ID"))
        case ["tasks", "index", *names] if names:
            return IndexAddress(root_url, _route(".".join(names)))
        case ["tasks", *task] if task:
            return _task(root_url, task)
    raise _MistakeError(
        "it is not the address of a task, group, index or push; known are /tasks/ID, "
        "/tasks/ID/runs/N, /tasks/groups/ID, /tasks/index/NAMESPACE/NAME, "
        "/api/queue/v1/task/ID and Treeherder's /jobs?repo=…&revision=…"
    )


def _treeherder(url: SplitResult, environment: Mapping[str, str]) -> TaskclusterAddress:
    root_url = default_root_url(environment)
    query = dict(parse_qsl(url.query))
    selected = query.get("selectedTaskRun") or query.get("task")
    if selected:
        task = _task_run(
            root_url, selected, "its selectedTaskRun is not ID.RUN; select the job again"
        )
        return replace(task, selected_of_push="revision" in query)
    repository, revision, landing = map(query.get, ("repo", "revision", "landoCommitID"))
    if not repository or not (revision or landing):
        raise _MistakeError(
            "it does not name a push; click the push's date, so that revision=… is in the address"
        )
    if not re.fullmatch("[A-Za-z0-9_.-]{1,100}", repository):
        raise _MistakeError("its repo is not the name of a repository")
    route = _route(f"{_trust_domain(repository, environment)}.v2.{repository}.revision")
    if not revision:
        host = LANDO_HOSTS.get(query.get("landoInstance", next(iter(LANDO_HOSTS))))
        if host is None or not re.fullmatch("[0-9]{1,12}", landing or ""):
            raise _MistakeError(
                "its landoInstance or landoCommitID is not known; open it, and copy the address "
                "once revision=… is in it"
            )
        return LandingAddress(root_url, f"{host}/landing_jobs/{landing}", route)
    if not REVISION.fullmatch(revision):
        raise _MistakeError("its revision is not a full one of 40 digits and letters a to f")
    return IndexAddress(root_url, f"{route}.{revision}{DECISION}")


def _task(root_url: str, segments: list[str]) -> TaskAddress:
    """Return the task of `ID/…` or `ID/runs/N/…`."""
    task_id = _slug(segments[0], "/tasks/ID")
    if segments[1:2] != ["runs"] or len(segments) < 3:
        return TaskAddress(root_url, task_id)
    if not re.fullmatch("[0-9]{1,9}", segments[2]):
        raise _MistakeError(
            f"{clean(segments[2], 30)!r} is not the number of a run; the first is 0"
        )
    return TaskAddress(root_url, task_id, int(segments[2]))


def _task_run(root_url: str, name: str, problem: str) -> TaskAddress:
    match = _TASK_RUN.fullmatch(name)
    if match is None:
        raise _MistakeError(problem)
    return TaskAddress(root_url, match[1], None if match[2] is None else int(match[2]))


def _slug(slug: str, right: str) -> str:
    if not re.fullmatch(SLUG_PATTERN, slug):
        raise _MistakeError(f"{clean(slug, 50)!r} is not a Taskcluster id; use {right}")
    return slug


def _route(route: str) -> str:
    route = route.removeprefix("index.")  # a task's list of routes has this prefix
    if not _ROUTE.fullmatch(route) or len(route) > 255:
        raise _MistakeError(
            "it is not a route of the index; use for example index:project.v2.name.latest.task"
        )
    return route


def _root_url(url: SplitResult) -> str:
    """Return scheme, host and port; raise a ValueError for what is not a plain web address."""
    host, port = url.hostname, url.port
    if url.scheme not in ("http", "https") or not host or "@" in url.netloc:
        raise ValueError
    if not re.fullmatch(r"[a-z0-9.-]+|[0-9a-f:.]+", host):
        raise ValueError
    bracketed = f"[{host}]" if ":" in host else host
    default_port = {"http": 80, "https": 443}[url.scheme]
    return f"{url.scheme}://{bracketed}" + ("" if port in (None, default_port) else f":{port}")
