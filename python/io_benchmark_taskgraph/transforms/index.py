# SPDX-License-Identifier: MPL-2.0
"""Put each result into the index: as the pool's latest, by revision, and by date.

    index.DOMAIN.v2.PROJECT.latest.io-benchmark.POOL
    index.DOMAIN.v2.PROJECT.revision.REVISION.io-benchmark.POOL
    index.DOMAIN.v2.PROJECT.date.io-benchmark.POOL.YYYYMMDDhhmmss

taskgraph's own routes by date have the date in the middle (`pushdate.DATE.PRODUCT.NAME`), so a pool's
history would need one request for every second. Here the date is the name, and everything before it is
one namespace. So a single paginated `index.listTasks` returns the history.

Only the first of a pool's replicates has routes, because taskgraph refuses the same route for two tasks of
a graph. A reader finds the others in that task's group. Retriggers and duplicates of the first have the
same routes. The index has the newest push, and of this push the last one to complete.
"""

import logging
import re
from collections.abc import Iterable, Iterator
from typing import Any

from taskgraph.transforms.base import TransformSequence

from io_benchmark_taskgraph.selection import JOB, POOL_ATTRIBUTE
from io_benchmark_taskgraph.transforms import Tasks

logger = logging.getLogger(__name__)

UNTRUSTED = "github-pull-request-untrusted"  # may not use routes of the index
PULL_REQUEST = "github-pull-request"
COMMENT = "github-issue-comment"

# What the index accepts as a namespace, and the queue as a whole route.
_PATH = re.compile(r"([A-Za-z0-9_!~*'()%-]+\.)*[A-Za-z0-9_!~*'()%-]+")
_WORD = re.compile(r"[A-Za-z0-9_-]+")
_DATE = re.compile(r"[0-9]{14}")
_ROUTE_LENGTH = 249


def _index_name(pool: str) -> str:
    """Return a pool's name as one part of a path: the index splits at dots, and no name has a tilde."""
    return pool.replace(".", "~")


def _project_of(params: Any) -> str:
    """Return the project whose part of the index this graph may write to; empty: none.

    Pull requests, and comments on them, have `NAME-pr` of their base repository (fxci-config,
    grants.d/grants.yml: "routes to support indexing by product"). taskgraph's own routes to
    Treeherder are made the same way.
    """
    tasks_for, project = params["tasks_for"], str(params["project"])
    if tasks_for == UNTRUSTED:
        return ""
    if tasks_for == PULL_REQUEST:
        base = str(params["base_repository"]).rstrip("/").rpartition("/")[2]
        project = base.removesuffix(".git")
    if tasks_for in (PULL_REQUEST, COMMENT) and not project.endswith("-pr"):
        project += "-pr"
    return project


def _routes(trust_domain: str, params: Any, pool: str) -> list[str]:
    """Return the routes that this graph may write; by revision only if that is well-formed."""
    project = _project_of(params)
    if not project:
        return []
    job_and_pool = f"{JOB}.{_index_name(pool)}"
    paths = [f"latest.{job_and_pool}"]
    revision, date = str(params["head_rev"] or ""), str(params["moz_build_date"] or "")
    if _WORD.fullmatch(revision):
        paths.append(f"revision.{revision}.{job_and_pool}")
    if _DATE.fullmatch(date):
        paths.append(f"date.{job_and_pool}.{date}")
    return [f"index.{trust_domain}.v2.{project}.{path}" for path in paths]


def _add_routes(config: Any, tasks: Tasks) -> Tasks:
    indexed: set[str] = set()
    for task in tasks:
        pool = task["attributes"][POOL_ATTRIBUTE]
        if pool in indexed:
            yield task
            continue
        indexed.add(pool)
        for route in _routes(config.graph_config["trust-domain"], config.params, pool):
            # The queue would refuse the whole task because of one bad route.
            if _PATH.fullmatch(route) and len(route) <= _ROUTE_LENGTH:
                task.setdefault("routes", []).append(route)
            else:
                logger.warning("not indexed, since the index does not accept the route: %s", route)
        yield task


def _rank_by_push(config: Any, tasks: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Rank finished tasks by the push's date: the index takes none of an older push after a newer one.

    taskgraph ranks tasks of tier 3 by 0, so that a retriggered task of an old push is the latest.
    """
    for task in tasks:
        task["task"]["extra"]["index"]["rank"] = config.params["build_date"]
        yield task


transforms = TransformSequence()
transforms.add(_add_routes)
ranks = TransformSequence()
ranks.add(_rank_by_push)
