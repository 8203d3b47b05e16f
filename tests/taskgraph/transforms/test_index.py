# SPDX-License-Identifier: MPL-2.0
"""Where the index has a pool's results."""

from types import SimpleNamespace

import pytest

from io_benchmark_taskgraph.transforms import pools
from io_benchmark_taskgraph.transforms.index import _add_routes, _index_name, _routes

REVISION = "7f3a9c1e5b2d4f6081a3c5e7092b4d6f8a0c2e41"
PARAMETERS = {
    "project": "io-benchmark",
    "base_repository": "https://github.com/mozilla-releng/io-benchmark",
    "head_rev": REVISION,
    "moz_build_date": "20261121080000",
    "tasks_for": "github-push",
}
ROUTES = [
    "index.test-domain.v2.{project}.latest.io-benchmark.amd-16",
    f"index.test-domain.v2.{{project}}.revision.{REVISION}.io-benchmark.amd-16",
    "index.test-domain.v2.{project}.date.io-benchmark.amd-16.20261121080000",
]


def made(pool="amd-16", **changes):
    return _routes("test-domain", {**PARAMETERS, **changes}, pool)


def for_project(project):
    return [route.format(project=project) for route in ROUTES]


@pytest.mark.parametrize(
    ("tasks_for", "changes", "expected"),
    [
        pytest.param("github-push", {}, for_project("io-benchmark"), id="push"),
        pytest.param("cron", {}, for_project("io-benchmark"), id="cron"),
        pytest.param("action", {}, for_project("io-benchmark"), id="action"),
        pytest.param("hg-push", {"project": "try"}, for_project("try"), id="firefox-try"),
        pytest.param(
            "github-pull-request", {"project": "fork"}, for_project("io-benchmark-pr"), id="pull"
        ),
        pytest.param(
            "github-pull-request",
            {"base_repository": "https://github.com/mozilla-releng/io-benchmark.git/"},
            for_project("io-benchmark-pr"),
            id="pull-dot-git",
        ),
        pytest.param(
            "github-issue-comment",
            {"project": "io-benchmark-pr"},
            for_project("io-benchmark-pr"),
            id="comment",
        ),
        pytest.param(
            "github-issue-comment", {}, for_project("io-benchmark-pr"), id="comment-elsewhere"
        ),
        pytest.param("github-pull-request-untrusted", {}, [], id="untrusted"),
    ],
)
def test_project(tasks_for, changes, expected):
    """Each event writes where it has scopes: pull requests next to the project, strangers nowhere."""
    assert made(tasks_for=tasks_for, **changes) == expected


@pytest.mark.parametrize(
    "revision",
    [
        pytest.param("", id="empty"),
        pytest.param(None, id="none"),
        pytest.param("refs/heads/main", id="a-ref"),
        pytest.param("a.b", id="dot"),
        pytest.param("é" * 40, id="not-ascii"),
    ],
)
def test_no_revision(revision):
    """What is no revision gives no route by revision; the others stay."""
    assert made(head_rev=revision) == [for_project("io-benchmark")[at] for at in (0, 2)]


@pytest.mark.parametrize("date", [pytest.param("", id="empty"), pytest.param(0, id="zero")])
def test_no_date(date):
    """What is no date gives no route by date."""
    assert made(moz_build_date=date) == for_project("io-benchmark")[:2]


def test_a_pool_is_one_part_of_the_path():
    """The index splits at dots: pools with dots stay apart, and a listing has dates alone in it."""
    assert _index_name("amd-16.2") == "amd-16~2"
    assert made("amd-16.2")[2] == (
        "index.test-domain.v2.io-benchmark.date.io-benchmark.amd-16~2.20261121080000"
    )
    # No pool's name has a tilde, so that no two pools meet.
    assert pools._POOL.fullmatch("amd~16") is None


def transformed(tasks, **changes):
    config = SimpleNamespace(
        graph_config={"trust-domain": "test-domain"}, params={**PARAMETERS, **changes}
    )
    return list(_add_routes(config, iter(tasks)))


def test_the_transform(run_kind, make_pool):
    """Routes come to those that a pool has; of replicates, to the first, as taskgraph wants it."""
    pool = make_pool(routes=["mine"], benchmark={"replicates": 2})
    tasks = transformed(run_kind([pool], "pools", "benchmark", "replicates"))
    assert [task["routes"] for task in tasks] == [
        ["mine", *for_project("io-benchmark")],
        ["mine"],
    ]


@pytest.mark.parametrize(
    "project", [pytest.param("a b", id="space"), pytest.param("p" * 250, id="long")]
)
def test_what_the_index_does_not_take(run_kind, make_pool, project, caplog):
    """The queue would refuse the whole task for such a route, so it is left out, and said."""
    (task,) = transformed(run_kind([make_pool()], "pools"), project=project)
    assert "routes" not in task
    assert caplog.messages == [
        f"not indexed, since the index does not accept the route: {route}"
        for route in for_project(project)
    ]
