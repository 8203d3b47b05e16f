# SPDX-License-Identifier: MPL-2.0
"""The kind's own transforms, alone and in kind.yml's order: tasks in, tasks or a mistake out."""

from dataclasses import replace

import pytest
from taskgraph.config import GraphConfig
from user_mistakes import mistake

from io_benchmark_taskgraph.transforms import benchmark
from io_benchmark_taskgraph.worker_program import WorkerProgram

NAME = "name: is not a pool's name; write at most 45 letters, digits and ._-, no mark first"
LABEL = "name: is what -j calls the job or a task's label; give the pool another name"
SYMBOL = "is not a group and a symbol of at most 25 characters each; write them as IOB(amd16)"


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        *(({"name": name}, NAME) for name in ("amd 16", "a" * 46, "-amd")),
        *(({"name": name}, LABEL) for name in ("io-benchmark", "test-amd")),
        ({"benchmark": None}, "benchmark: is missing; add it to the task or to task-defaults"),
        *(
            ({"treeherder": {"symbol": symbol}}, f"treeherder.symbol: {symbol!r} {SYMBOL}")
            for symbol in ("amd16", "IOB(a", f"IOB({'a' * 26})", f"{'a' * 26}(a)")
        ),
        (
            {"benchmark": {"workloads": ["x"]}},
            (
                "benchmark.workloads: 'x' is unknown; there are: "
                f"{', '.join(WorkerProgram.read().workload_names())}"
            ),
        ),
    ],
)
def test_mistakes_of_a_task(run_kind, make_pool, changes, text):
    """One line: the file, the task, the key, what is wrong, and what to write."""
    task = make_pool(**changes)
    assert mistake(run_kind, [task]).endswith(f"kind.yml: task {task['name']}: {text}")


@pytest.mark.parametrize(
    ("kind", "refused", "accepted"),
    [
        ("io-benchmark", ["all", "all-amd", "io-benchmark-all"], "allegro"),
        ("io-benchmark-all", ["io-benchmark-all"], "all-amd"),
    ],
)
def test_names_of_the_other_kind(make_transform_config, make_pool, kind, refused, accepted):
    """A pool is not called as the job that measures everything, nor like its labels."""
    config = replace(make_transform_config(), kind=kind)

    def check(name):
        return list(benchmark.transforms(config, iter([make_pool(name=name)])))

    for name in refused:
        assert mistake(check, name).endswith(f"kind.yml: task {name}: {LABEL}")
    assert len(check(accepted)) == 1


def test_two_pools_of_a_name(run_kind, make_pool):
    """Two files may not name the same pool."""
    message = mistake(run_kind, [make_pool(), make_pool(**{"task-from": "more.yml"})])
    assert message.endswith("amd-16: name: two pools have this name; rename or remove one")


def measured(run_kind, *tasks, **params):
    return run_kind([*tasks], "benchmark", extra_params=params)


@pytest.mark.parametrize(
    ("params", "counts"),
    [({}, (2, 1)), *(({"io_benchmark_replicates": n}, (n or 2, n or 1)) for n in (0, 1, 3))],
)
def test_replicates(run_kind, make_pool, params, counts):
    """Several tasks are numbered and have the plan; the parameter counts more than the stanza."""
    tasks = measured(
        run_kind, make_pool(benchmark={"replicates": 2}), make_pool(name="intel"), **params
    )
    names = [
        (task["name"], task["attributes"]["io_benchmark_pool"], task["treeherder"]["symbol"])
        for task in tasks
    ]
    plans = [task["worker"].get("env", {}).get("IO_BENCHMARK_REPLICATES") for task in tasks]
    assert [(*name, plan) for name, plan in zip(names, plans, strict=True)] == [
        (pool + end, pool, f"IOB(amd16{end})", str(count) if end else None)
        for pool, count in zip(("amd-16", "intel"), counts, strict=True)
        for end in ([f"-{number + 1}" for number in range(count)] if count > 1 else [""])
    ]
    # What a later transform does to one task, it does to that one alone.
    tasks[0]["worker"]["max-run-time"] = 1
    assert tasks[-1]["worker"]["max-run-time"] == 3600


@pytest.mark.parametrize(
    ("params", "text"),
    [
        *(
            ({"io_benchmark_replicates": value}, f"{value!r} is not a whole number from 1 to 100")
            for value in (-1, 101, "3", True)
        ),
        ({"io_benchmark_perfherder": "none"}, "'none' is unknown; there are: pool, neutral"),
    ],
)
def test_wrong_parameters(run_kind, make_pool, params, text):
    """The parameter is named."""
    message = mistake(measured, run_kind, make_pool(), **params)
    (name,) = params
    assert message == f"the parameter {name}: {text}; leave it out for what kind.yml says"


def test_baseline(run_kind, make_pool):
    """Each task's definition names the pool that kind.yml names, also of replicates.

    None by default.
    """
    pools = [
        make_pool(name=name, benchmark={"baseline": "b", "replicates": 2}) for name in ("a", "b")
    ]
    made = run_kind(pools, "benchmark")
    assert [task["extra"] for task in made] == [{"io-benchmark": {"baseline": "b"}}] * 4
    assert ["extra" in task for task in run_kind([make_pool()], "benchmark")] == [False]


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (("c", "c"), "'c' is not a pool; there are: a, b"),
        (("a", "b"), "'b' differs from 'a' of another pool; write it once, in task-defaults"),
        (("a", None), "None differs from 'a' of another pool; write it once, in task-defaults"),
    ],
)
def test_a_wrong_baseline(run_kind, make_pool, names, text):
    """It is a pool of the kind, and one for all of them."""
    stanzas = ({"baseline": name} if name else {} for name in names)
    pools = [
        make_pool(name=pool, benchmark=stanza) for pool, stanza in zip("ab", stanzas, strict=True)
    ]
    message = mistake(run_kind, pools, "benchmark")
    assert message.endswith(f"benchmark.baseline: {text}")


@pytest.mark.parametrize("is_shown", [True, False])
def test_symbols(make_transform_config, make_pool, is_shown):
    """A symbol of 25 characters is accepted, and cut for a number.

    A project without Treeherder has none.
    """
    config = make_transform_config()
    contents = {key: config.graph_config[key] for key in ("workers", "treeherder")}
    if not is_shown:
        del contents["treeherder"]
    pool = make_pool(treeherder={"symbol": f"{'a' * 25}({'b' * 25})"}, benchmark={"replicates": 10})
    config = replace(config, graph_config=GraphConfig(contents, "."), kind="io-benchmark")
    (*_, made) = benchmark.transforms(config, iter([pool]))
    treeherder = {"platform": "linux64/opt", "symbol": f"{'a' * 25}({'b' * 22}-10)"}
    assert made.get("treeherder") == (treeherder if is_shown else None)


PARAMETERS = {
    "project": "io-benchmark",
    "base_repository": "https://github.com/mozilla-releng/io-benchmark",
    "head_rev": "7f3a9c1e",
    "moz_build_date": "20261121080000",
}
PATHS = (
    "latest.io-benchmark.amd-16",
    "revision.7f3a9c1e.io-benchmark.amd-16",
    "date.io-benchmark.amd-16.20261121080000",
)


def routes(project):
    return [f"index.test-domain.v2.{project}.{path}" for path in PATHS]


def indexed(run_kind, *tasks, **params):
    tasks = run_kind([*tasks], "index", extra_params={**PARAMETERS, **params})
    return [task.get("routes", []) for task in tasks]


@pytest.mark.parametrize(
    ("params", "project"),
    [
        ({"tasks_for": "cron"}, "io-benchmark"),
        ({"tasks_for": "hg-push", "project": "try"}, "try"),
        ({"tasks_for": "github-pull-request", "base_repository": "h/x.git/"}, "x-pr"),
        ({"tasks_for": "github-issue-comment"}, "io-benchmark-pr"),
        ({"tasks_for": "github-issue-comment", "project": "io-benchmark-pr"}, "io-benchmark-pr"),
        ({"tasks_for": "github-pull-request-untrusted"}, None),
    ],
)
def test_routes(run_kind, params, project):
    """Each event writes where it has scopes: pull requests beside the project, no strangers."""
    pool = {"attributes": {"io_benchmark_pool": "amd-16"}}
    assert indexed(run_kind, pool, **params) == [routes(project) if project else []]


def test_routes_of_several_tasks(run_kind):
    """Of a pool's tasks the first has routes, as taskgraph requires.

    The index splits a name at dots.
    """
    names = ("amd-16", "amd-16", "amd-16.2")
    tasks = [{"attributes": {"io_benchmark_pool": name}, "routes": ["other"]} for name in names]
    first, second, third = indexed(run_kind, *tasks, tasks_for="github-push")
    assert (first, second) == (["other", *routes("io-benchmark")], ["other"])
    assert third[-1].endswith(".date.io-benchmark.amd-16~2.20261121080000")
