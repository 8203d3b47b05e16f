# SPDX-License-Identifier: MPL-2.0
"""Where the index has a pool's results."""

from types import SimpleNamespace

import pytest

from io_benchmark_taskgraph.transforms.index import _add_routes

REVISION = "7f3a9c1e5b2d4f6081a3c5e7092b4d6f8a0c2e41"
URL = "https://github.com/mozilla-releng/io-benchmark"
PARAMETERS = {
    "project": "io-benchmark",
    "base_repository": URL,
    "head_rev": REVISION,
    "moz_build_date": "20261121080000",
    "tasks_for": "github-push",
}
PATHS = (
    "latest.io-benchmark.amd-16",
    f"revision.{REVISION}.io-benchmark.amd-16",
    "date.io-benchmark.amd-16.20261121080000",
)


def routes(project):
    return [f"index.releng.v2.{project}.{path}" for path in PATHS]


def made(tasks, **changes):
    config = SimpleNamespace(
        graph_config={"trust-domain": "releng"}, params={**PARAMETERS, **changes}
    )
    return [task.get("routes", []) for task in _add_routes(config, iter(tasks))]


def pool(name="amd-16"):
    return {"attributes": {"io_benchmark_pool": name}}


@pytest.mark.parametrize(
    ("changes", "project"),
    [
        ({"tasks_for": "cron"}, "io-benchmark"),
        ({"tasks_for": "hg-push", "project": "try"}, "try"),
        ({"tasks_for": "github-pull-request", "base_repository": f"{URL}.git/"}, "io-benchmark-pr"),
        ({"tasks_for": "github-issue-comment"}, "io-benchmark-pr"),
        ({"tasks_for": "github-issue-comment", "project": "io-benchmark-pr"}, "io-benchmark-pr"),
        ({"tasks_for": "github-pull-request-untrusted"}, None),
    ],
)
def test_routes(changes, project):
    """Each event writes where it has scopes: pull requests next to the project, strangers nowhere."""
    assert made([pool()], **changes) == [routes(project) if project else []]


def test_names():
    """Of a pool's tasks the first has routes, as taskgraph requires; the index splits a name at dots."""
    tasks = [{**pool(), "routes": ["other"]}, {**pool(), "routes": ["other"]}, pool("amd-16.2")]
    first, second, (*_, by_date) = made(tasks)
    assert (first, second) == (["other", *routes("io-benchmark")], ["other"])
    assert by_date == "index.releng.v2.io-benchmark.date.io-benchmark.amd-16~2.20261121080000"
