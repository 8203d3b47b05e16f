# SPDX-License-Identifier: MPL-2.0
"""Addresses of results in Taskcluster, parsed without a request.

An address is `task:ID[.RUN]`, `group:ID`, `index:ROUTE`, or copied from a browser: Taskcluster's page of a
task, a group or an indexed task, or Treeherder's page of a push.
"""

import re
from collections.abc import Mapping
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from msgspec import Struct

from io_benchmark.errors import UsageError
from io_benchmark.text import clean

DEFAULT_ROOT_URL = "https://firefox-ci-tc.services.mozilla.com"
ROOT_VARIABLE = "TASKCLUSTER_ROOT_URL"
TRUST_DOMAIN_VARIABLE = "IO_BENCHMARK_TRUST_DOMAIN"
DECISION = ".taskgraph.decision"

# The queue's own pattern for a task id (a slug: 22 characters of URL-safe base64 of a v4 UUID).
SLUG_PATTERN = r"[A-Za-z0-9_-]{8}[Q-T][A-Za-z0-9_-][CGKOSWaeimquy26-][A-Za-z0-9_-]{10}[AQgw]"
# Treeherder once wrote ID-RUN. An id has a fixed length, so both forms are unambiguous.
_TASK_RUN = re.compile(rf"({SLUG_PATTERN})(?:[.-]([0-9]{{1,9}}))?")
_ROUTE = re.compile(r"[A-Za-z0-9_!~*'()%-]+(?:\.[A-Za-z0-9_!~*'()%-]+)*")
_ROUTE_LENGTH = 255
_PREFIXED = re.compile(r"(task|group|index):(.*)")
_REPOSITORY = re.compile(r"[A-Za-z0-9_.-]{1,100}")
_REVISION = re.compile(r"[0-9a-f]{40}")
_TRUST_DOMAIN = re.compile(r"[A-Za-z0-9_-]{1,50}")
# As the kind's transforms accept them.
_PROJECT = re.compile(r"[A-Za-z0-9_-]{1,100}(\.[A-Za-z0-9_-]{1,100})*")
# Repositories whose decision tasks use another trust domain than gecko; the variable names others.
_TRUST_DOMAINS = (
    (re.compile(r"io-benchmark(-pr)?"), "releng"),
    (re.compile(r"comm-[a-z0-9]+|try-comm-central"), "comm"),
    (re.compile(r"enterprise-[a-z-]+"), "enterprise"),
    (re.compile(r"nss(-try)?"), "nss"),
)


class TaskAddress(Struct, frozen=True):
    """One task: all runs that count, or the named run."""

    root_url: str
    task_id: str
    run_id: int | None = None
    remark: str | None = None  # what a pasted address leaves out

    def __str__(self) -> str:
        return f"task:{self.task_id}" + ("" if self.run_id is None else f".{self.run_id}")

    @property
    def url(self) -> str:
        """Return the address at which a browser shows the task, or its run."""
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
        """Return the address at which a browser shows the group."""
        return f"{self.root_url}/tasks/groups/{self.group_id}"


class IndexAddress(Struct, frozen=True):
    """An indexed task; a decision task means its group."""

    root_url: str
    route: str

    def __str__(self) -> str:
        return f"index:{self.route}"


TaskclusterAddress = TaskAddress | GroupAddress | IndexAddress


def parse(text: str, environment: Mapping[str, str]) -> TaskclusterAddress | None:
    """Return what an address means; None where it is not of a task, group, index or web page.

    Raise a UsageError with the right form where such an address has a mistake.
    """
    stripped = text.strip()
    prefixed = _PREFIXED.fullmatch(stripped)
    if prefixed:
        return _parse_prefixed(stripped, prefixed[1], prefixed[2], environment)
    if stripped[:8].lower().startswith(("http://", "https://")):
        return _parse_url(stripped, environment)
    return None


def default_root_url(environment: Mapping[str, str]) -> str:
    """Return the deployment of an address that names none."""
    text = environment.get(ROOT_VARIABLE)
    if not text:
        return DEFAULT_ROOT_URL
    try:
        return _root_url(urlsplit(text))
    except ValueError:
        shown = clean(text, 100)
        raise UsageError(
            f"{ROOT_VARIABLE}: {shown!r} is not an http(s) address; try {DEFAULT_ROOT_URL}"
        ) from None


def default_remark(root_url: str) -> str:
    """Say that the default deployment was used."""
    return f"read {root_url}, because {ROOT_VARIABLE} is not set"


def project_namespace(project: str, environment: Mapping[str, str]) -> str:
    """Return the index's namespace of a project; raise a UsageError for what is not one's name."""
    if not _PROJECT.fullmatch(project):
        raise UsageError(
            f"--project: {clean(project, 100)!r} is not the name of a project; try io-benchmark"
        )
    return f"{trust_domain(project, environment)}.v2.{project}"


def _parse_prefixed(
    text: str, prefix: str, rest: str, environment: Mapping[str, str]
) -> TaskclusterAddress:
    root_url = default_root_url(environment)
    if prefix == "task":
        match = _TASK_RUN.fullmatch(rest)
        if match is None:
            raise _mistake(text, "it is not task:ID or task:ID.RUN with an id of 22 characters")
        return _task_run(root_url, match)
    if prefix == "group":
        return GroupAddress(root_url, _slug(text, rest, "group:ID with an id of 22 characters"))
    return IndexAddress(root_url, _route(text, rest))


def _parse_url(text: str, environment: Mapping[str, str]) -> TaskclusterAddress:
    try:
        url = urlsplit(text)
        root_url = _root_url(url)
    except ValueError:
        raise _mistake(
            text, "it is not an http(s) address with a host and without a password"
        ) from None
    host = url.hostname or ""
    segments = [unquote(part) for part in url.path.split("/") if part]
    if host.startswith("treeherder.") or segments[:1] in (["jobs"], ["logviewer"]):
        return _parse_treeherder(text, url, environment)
    return _parse_taskcluster(text, root_url, host, segments, environment)


def _parse_taskcluster(
    text: str, root_url: str, host: str, segments: list[str], environment: Mapping[str, str]
) -> TaskclusterAddress:
    match segments:
        case (
            ["tasks", "groups", _, "tasks", *task]
            | ["groups", _, "tasks", *task]
            | ["api", "queue", "v1", "task", *task]
        ) if task:
            return _task(text, root_url, task)
        case ["tasks", "groups", group, *_]:
            return GroupAddress(root_url, _slug(text, group, "/tasks/groups/ID"))
        case ["tasks", "index", *names] if names:
            return IndexAddress(root_url, _route(text, ".".join(names)))
        case ["tasks", "index" | "groups" | "create", *_]:
            raise _mistake(
                text, "it does not name a task; open a task or a group and paste its address"
            )
        case ["tasks" | "task", *task] if task:
            return _task(text, root_url, task)
        case ["groups", group, *_]:
            return GroupAddress(root_url, _slug(text, group, "/groups/ID"))
        case ["api", "queue", "v1", "task-group", group, *_]:
            return GroupAddress(root_url, _slug(text, group, "/api/queue/v1/task-group/ID"))
        case ["api", "index", "v1", "task" | "tasks", route, *_]:
            return IndexAddress(root_url, _route(text, route))
        case [task, run, *_] if host.endswith("taskcluster-artifacts.net"):
            # The host that an artifact's link redirects to.
            return _task(text, default_root_url(environment), [task, "runs", run])
        case _:
            raise _mistake(
                text,
                "it is not the address of a task, group, index or push; known are /tasks/ID, "
                "/tasks/ID/runs/N, "
                "/tasks/groups/ID, /tasks/index/NAMESPACE/NAME, /api/queue/v1/task/ID and "
                "Treeherder's /jobs?repo=…&revision=…",
            )


def _parse_treeherder(
    text: str, url: SplitResult, environment: Mapping[str, str]
) -> TaskclusterAddress:
    root_url = default_root_url(environment)
    # Old addresses have the query in the fragment: /#/jobs?repo=try&revision=…
    _, _, in_fragment = url.fragment.partition("?")
    query = {**dict(parse_qsl(in_fragment)), **dict(parse_qsl(url.query))}
    selected = query.get("selectedTaskRun") or query.get("task")
    if selected:
        match = _TASK_RUN.fullmatch(selected)
        if match is None:
            raise _mistake(text, "its selectedTaskRun is not ID.RUN; select the job again")
        remark = None
        if "revision" in query:
            remark = (
                "the address selects one job of a push, and only that job is read; remove "
                "selectedTaskRun from it to read the whole push"
            )
        return _task_run(root_url, match, remark)
    repository, revision = query.get("repo"), query.get("revision")
    if repository and revision:
        return IndexAddress(root_url, _decision_route(text, repository, revision, environment))
    if "selectedJob" in query:
        raise _mistake(
            text, "its selectedJob is an internal number of Treeherder; click the job again"
        )
    raise _mistake(
        text, "it does not name a push; click the push's date, so that revision=… is in the address"
    )


def _decision_route(
    text: str, repository: str, revision: str, environment: Mapping[str, str]
) -> str:
    if not _REPOSITORY.fullmatch(repository):
        raise _mistake(text, "its repo is not the name of a repository")
    if not _REVISION.fullmatch(revision):
        raise _mistake(text, "its revision is not a full one of 40 digits and letters a to f")
    domain = trust_domain(repository, environment)
    return _route(text, f"{domain}.v2.{repository}.revision.{revision}{DECISION}")


def trust_domain(repository: str, environment: Mapping[str, str]) -> str:
    """Return the first part of the index routes of a repository's tasks."""
    domain = environment.get(TRUST_DOMAIN_VARIABLE) or next(
        (name for pattern, name in _TRUST_DOMAINS if pattern.fullmatch(repository)), "gecko"
    )
    if not _TRUST_DOMAIN.fullmatch(domain):
        shown = clean(domain, 100)
        raise UsageError(f"{TRUST_DOMAIN_VARIABLE}: {shown!r} is not a trust domain; try gecko")
    return domain


def _task(text: str, root_url: str, segments: list[str]) -> TaskAddress:
    """Return the task of `ID/…` or `ID/runs/N/…`."""
    task_id = _slug(text, segments[0], "/tasks/ID")
    match segments[1:]:
        case ["runs", run, *_]:
            if not re.fullmatch("[0-9]{1,9}", run):
                shown = clean(run, 30)
                raise _mistake(text, f"{shown!r} is not the number of a run; the first is 0")
            return TaskAddress(root_url, task_id, int(run))
    return TaskAddress(root_url, task_id)


def _task_run(root_url: str, match: re.Match[str], remark: str | None = None) -> TaskAddress:
    return TaskAddress(root_url, match[1], None if match[2] is None else int(match[2]), remark)


def _slug(text: str, slug: str, right: str) -> str:
    if not re.fullmatch(SLUG_PATTERN, slug):
        shown = clean(slug, 50)
        raise _mistake(text, f"{shown!r} is not a Taskcluster id; use {right}")
    return slug


def _route(text: str, route: str) -> str:
    route = route.removeprefix("index.")  # a task's list of routes has this prefix
    if not _ROUTE.fullmatch(route) or len(route) > _ROUTE_LENGTH:
        raise _mistake(
            text,
            "it is not a route of the index; use for example index:project.v2.name.latest.task",
        )
    return route


def _root_url(url: SplitResult) -> str:
    """Return scheme, host and port; raise a ValueError for what is not a plain web address."""
    host, port = url.hostname, url.port
    if url.scheme not in ("http", "https") or not host or "@" in url.netloc:
        raise ValueError
    if not re.fullmatch(r"[a-z0-9.-]+|[0-9a-f:.]+", host):
        raise ValueError
    shown_host = f"[{host}]" if ":" in host else host
    default_port = {"http": 80, "https": 443}[url.scheme]
    return f"{url.scheme}://{shown_host}" + ("" if port in (None, default_port) else f":{port}")


def _mistake(text: str, problem: str) -> UsageError:
    return UsageError(f"{clean(text, 200)}: {problem}")
