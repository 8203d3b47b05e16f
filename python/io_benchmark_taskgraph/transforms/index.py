# SPDX-License-Identifier: MPL-2.0
"""Put each result into the index: as the pool's latest, by revision, and by date.

    index.DOMAIN.v2.PROJECT.latest.io-benchmark.POOL
    index.DOMAIN.v2.PROJECT.revision.REVISION.io-benchmark.POOL
    index.DOMAIN.v2.PROJECT.date.io-benchmark.POOL.YYYYMMDDhhmmss

taskgraph's own routes by date have the date in the middle (`pushdate.DATE.PRODUCT.NAME`), so a
pool's history would need one request for every second. Here the date is the name, and everything
before it is one namespace. So a single paginated `index.listTasks` returns the history.

Only the first of a pool's replicates has routes, because taskgraph refuses the same route for two
tasks of a graph. A reader finds the others in that task's group. Retriggers and duplicates of the
first have the same routes. The index has the newest push, and of this push the last one to
complete.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from taskgraph.transforms.base import TransformSequence

from io_benchmark_taskgraph.parameters import CAPACITIES_ATTRIBUTE, JOB, POOL_ATTRIBUTE
from io_benchmark_taskgraph.transforms import Tasks


def project_of(params: Any) -> str:
    """Return the project whose part of the index this graph may write to; empty: none.

    Pull requests, and comments on them, have `NAME-pr` of their base repository (fxci-config,
    grants.d/grants.yml: "routes to support indexing by product"). taskgraph's own routes to
    Treeherder are made the same way.
    """
    tasks_for, project = params["tasks_for"], str(params["project"])
    if tasks_for == "github-pull-request-untrusted":
        return ""  # it may not use routes of the index
    if tasks_for == "github-pull-request":
        project = str(params["base_repository"]).rstrip("/").rpartition("/")[2].removesuffix(".git")
    is_request = tasks_for in ("github-pull-request", "github-issue-comment")
    return f"{project}-pr" if is_request and not project.endswith("-pr") else project


def routes(trust_domain: str, params: Any, name: str) -> list[str]:
    """Return the routes of a task with this name; none for a graph that may not have any."""
    project = project_of(params)
    if not project:
        return []
    paths = (
        f"latest.{name}",
        f"revision.{params['head_rev']}.{name}",
        f"date.{name}.{params['moz_build_date']}",
    )
    return [f"index.{trust_domain}.v2.{project}.{path}" for path in paths]


def name_of_pool(pool: str) -> str:
    """Return a pool's part of a route: the index splits it at dots, and no name has a tilde."""
    return f"{JOB}.{pool.replace('.', '~')}"


def _add_routes(config: Any, tasks: Tasks) -> Tasks:
    indexed: set[str] = set()
    for task in tasks:
        pool = task["attributes"][POOL_ATTRIBUTE]
        # Capacities are short: they must not replace the pool's usual results.
        if pool not in indexed and not task["attributes"].get(CAPACITIES_ATTRIBUTE):
            trust_domain, name = config.graph_config["trust-domain"], name_of_pool(pool)
            added = routes(trust_domain, config.params, name)
            task["routes"] = [*task.get("routes", []), *added]
        indexed.add(pool)
        yield task


def _rank_by_push(config: Any, tasks: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Rank finished tasks by the push's date: no result of an older push follows a newer one.

    taskgraph ranks tasks of tier 3 by 0, so that a retriggered task of an old push is the latest.
    """
    for task in tasks:
        task["task"]["extra"]["index"]["rank"] = config.params["build_date"]
        yield task


transforms = TransformSequence([_add_routes])
ranks = TransformSequence([_rank_by_push])
