# SPDX-License-Identifier: MPL-2.0
"""The kind's own transforms, each alone and all in kind.yml's order: tasks in, tasks or a mistake out."""

from dataclasses import replace

import pytest
from embedding import shell_text
from pytest_taskgraph import make_task
from user_mistakes import mistake

from io_benchmark_taskgraph import stanza, task_command, worker_program
from io_benchmark_taskgraph.report_stanza import ReportSettings
from io_benchmark_taskgraph.transforms import on_demand, pools, report

NAME = "is not a pool's name; write at most 45 letters, digits and ._-, no mark first"
LABEL = "is what -j calls the job or a task's label; give the pool another name"
PLATFORM = "is not a platform; write one such as linux64/opt"
SYMBOL = "is not a group and a symbol of at most 25 characters each; write them as IOB(amd16)"
CLASH = "on linux64/opt; give each task a different symbol"


@pytest.mark.parametrize(
    ("transform", "changes", "text"),
    [
        *(("pools", {"name": name}, f"name: {NAME}") for name in ("amd 16", "a" * 46, "-amd")),
        *(("pools", {"name": name}, f"name: {LABEL}") for name in ("io-benchmark", "test-amd")),
        ("benchmark", {"benchmark": None}, "benchmark: is missing; add it to the task or to "),
        ("benchmark", {"benchmark": {"retrieves": 0}}, "benchmark.retrieves: 0 is not a whole "),
        (
            *("benchmark", {"worker": {"max-run-time": 1800}}),
            (
                "benchmark.retrieves: 2000 retrieves x 1 place(s) x 1 destination(s) of cache-retrieve "
                "take 2394 s at 50 MiB/s and the time budget is 1500 s; raise worker.max-run-time to "
                "2694 or lower benchmark.retrieves to 1215"
            ),
        ),
        (
            *("benchmark", {"worker": {"max-run-time": 300}}),
            "worker.max-run-time: 300 is not a number of seconds above 300; write one such as 3600",
        ),
        *(
            ("symbols", {"treeherder": {key: value}}, f"treeherder.{key}: {value!r} {text}")
            for key, text, values in (
                ("platform", PLATFORM, ("linux64", "linux 64/opt", f"{'a' * 51}/opt")),
                ("symbol", SYMBOL, ("amd16", "IOB(a", f"IOB({'a' * 26})")),
            )
            for value in values
        ),
    ],
)
def test_mistakes_of_a_task(run_kind, make_pool, transform, changes, text):
    """One line: the file, the task, the key, what is wrong, and what to write."""
    task = make_pool(**changes)
    assert f"kind.yml: task {task['name']}: {text}" in mistake(run_kind, [task], transform)


@pytest.mark.parametrize(
    ("kind", "name", "is_refused"),
    [
        *(("io-benchmark", name, True) for name in ("all", "all-amd", "io-benchmark-all")),
        ("io-benchmark", "allegro", False),
        ("io-benchmark-all", "io-benchmark-all", True),
        ("io-benchmark-all", "all-amd", False),
    ],
)
def test_names_of_the_other_kind(
    run_transform, make_transform_config, make_pool, kind, name, is_refused
):
    """A pool is not called as the job that measures everything, or so that its label looks like it."""
    config = replace(make_transform_config(), kind=kind)
    if is_refused:
        message = mistake(run_transform, pools.transforms, [make_pool(name=name)], config=config)
        assert message.endswith(f"kind.yml: task {name}: name: {LABEL}")
    else:
        [task] = run_transform(pools.transforms, [make_pool(name=name)], config=config)
        assert task["attributes"] == {"job_try_name": "io-benchmark", "io_benchmark_pool": name}


def test_two_pools_of_a_name(run_kind, make_pool):
    """Two files may not name the same pool."""
    tasks = [make_pool(), make_pool(**{"task-from": "more.yml"})]
    message = mistake(run_kind, tasks, "pools")
    assert "task amd-16: name: two pools have this name (" in message
    assert message.endswith("more.yml); rename or remove one")


def test_a_stanza_becomes_a_benchmark(run_kind, make_pool):
    """Later transforms find it checked and with its defaults."""
    task = make_pool()
    expected = stanza.Benchmark.parse(dict(task["benchmark"]))
    assert run_kind([task], "benchmark") == [{**task, "benchmark": expected}]


def measured(run_kind, *tasks, **params):
    return run_kind([*tasks], "pools", "benchmark", "replicates", extra_params=params)


def summary(tasks):
    keys = ("name", "pool", "symbol", "plan")
    rows = (
        (
            task["name"],
            task["attributes"]["io_benchmark_pool"],
            task["treeherder"]["symbol"],
            task["worker"].get("env", {}).get("IO_BENCHMARK_REPLICATES"),
        )
        for task in tasks
    )
    return [dict(zip(keys, row, strict=True)) for row in rows]


@pytest.mark.parametrize(
    ("params", "counts"),
    [
        ({}, (2, 1)),
        ({"io_benchmark_replicates": 0}, (2, 1)),
        ({"io_benchmark_replicates": 1}, (1, 1)),
        ({"io_benchmark_replicates": 3}, (3, 3)),
    ],
)
def test_replicates(run_kind, make_pool, params, counts):
    """Several tasks are numbered and have the plan; the parameter counts more than the stanza."""
    tasks = measured(
        run_kind, make_pool(benchmark={"replicates": 2}), make_pool(name="intel"), **params
    )
    assert summary(tasks) == [
        {
            "name": pool + end,
            "pool": pool,
            "symbol": f"IOB(amd16{end})",
            "plan": str(count) if end else None,
        }
        for pool, count in zip(("amd-16", "intel"), counts, strict=True)
        for end in ([f"-{number + 1}" for number in range(count)] if count > 1 else [""])
    ]
    # What a later transform does to one task, it does to that one alone.
    tasks[0]["worker"]["max-run-time"] = 1
    assert tasks[-1]["worker"]["max-run-time"] == 3600


@pytest.mark.parametrize("order", [1, -1])
def test_a_replicate_with_the_name_of_another_pool(run_kind, make_pool, order):
    """Whichever comes first, both are named."""
    tasks = [make_pool(benchmark={"replicates": 2}), make_pool(name="amd-16-1")][::order]
    first, second = (task["name"] for task in tasks)
    assert mistake(measured, run_kind, *tasks).endswith(
        f"kind.yml: task {second}: name: a replicate of {first} is called amd-16-1 too; rename the "
        "pool or use fewer replicates"
    )


@pytest.mark.parametrize(
    ("params", "text"),
    [
        *(
            (
                {"io_benchmark_replicates": value},
                (
                    f"io_benchmark_replicates: {value!r} is not a whole number from 0 to 100; 0 means as "
                    "many as kind.yml says"
                ),
            )
            for value in (-1, 101, "3", True, 2.0)
        ),
        (
            {"io_benchmark_perfherder": "none"},
            (
                "io_benchmark_perfherder: 'none' is unknown; there are: pool, neutral, or nothing for "
                "what kind.yml says"
            ),
        ),
    ],
)
def test_wrong_parameters(run_kind, make_pool, params, text):
    """The parameter is named."""
    assert mistake(measured, run_kind, make_pool(), **params) == f"the parameter {text}"


@pytest.mark.parametrize("mode", [None, "", "pool", "neutral"])
def test_perfherder(run_kind, make_pool, mode):
    """The parameter counts more than the stanza, for all pools; Firefox has no such parameter."""
    tasks = [make_pool(benchmark={"perfherder": "neutral"}), make_pool(name="intel")]
    params = {} if mode is None else {"io_benchmark_perfherder": mode}
    made = measured(run_kind, *tasks, **params)
    expected = [mode or "neutral", mode or "pool"]
    assert [task["benchmark"].perfherder for task in made] == expected


def other_kind(label, platform="linux64", symbol="amd16"):
    treeherder = {
        "machine": {"platform": platform},
        "collection": {"opt": True},
        "groupSymbol": "IOB",
        "symbol": symbol,
    }
    return make_task(label, kind="io-benchmark", task_def={"extra": {"treeherder": treeherder}})


@pytest.mark.parametrize(
    ("tasks", "text"),
    [
        (
            [{}, {"name": "x"}],
            f"task x: treeherder.symbol: task amd-16 already has IOB(amd16) {CLASH}",
        ),
        (
            [
                {"benchmark": {"replicates": 2}},
                {"name": "x", "treeherder": {"symbol": "IOB(amd16-2)"}},
            ],
            f"task x: treeherder.symbol: task amd-16-2 already has IOB(amd16-2) {CLASH}",
        ),
        ([{}], f"task amd-16: treeherder.symbol: task other already has IOB(amd16) {CLASH}"),
    ],
    ids=["task", "replicate", "kind"],
)
def test_clashing_symbols(run_kind, make_pool, tasks, text):
    """The symbol, the platform and both tasks are named."""
    others = {"other": other_kind("other")} if len(tasks) == 1 else {}
    names = ("pools", "benchmark", "replicates", "symbols")
    made = [make_pool(**changes) for changes in tasks]
    message = mistake(run_kind, made, *names, kind_dependencies_tasks=others)
    assert message.endswith(f"kind.yml: {text}")


def test_different_symbols(run_kind, make_pool):
    """A different platform or symbol may be next to this one, as may a task that is not shown."""
    others = [
        other_kind("a", symbol="amd16-2"),
        other_kind("b", platform="linux32"),
        make_task("c", kind="docker-image", task_def={}),
    ]
    tasks = [
        make_pool(),
        make_pool(name="b", treeherder={"symbol": "IOB(b)"}),
        make_pool(name="c", treeherder={"platform": "linux1804-64-qr/opt"}),
    ]
    by_label = {task.label: task for task in others}
    assert run_kind([*tasks], "symbols", kind_dependencies_tasks=by_label) == tasks


@pytest.mark.usefixtures("script")
def test_command(datadir, run_kind, make_pool):
    """All workloads and what they need, the pool and the time; the same in every replicate."""
    pool = make_pool(worker={"max-run-time": 4000}, benchmark={"replicates": 2})
    expected = task_command.make_command(
        stanza.Benchmark.parse(dict(pool["benchmark"])),
        worker_program.WorkerProgram.read(datadir, "scripts/io-benchmark"),
        pool="amd-16",
        time_budget_s=3700,
    )
    for task in run_kind([pool]):
        assert task["run"] == {"using": "run-task", "command": expected}
        assert "--pool amd-16 " in shell_text(expected)
        assert "benchmark" not in task


@pytest.mark.usefixtures("script")
def test_unknown_workload(run_kind, make_pool):
    """A mistake in the script's folder is a mistake of the task."""
    assert mistake(run_kind, [make_pool(benchmark={"workloads": ["x"]})]).endswith(
        "kind.yml: task amd-16: benchmark.workloads: 'x' is unknown; there are: cache-retrieve, "
        "sync-write"
    )


def test_images_on_demand(run_transform, make_transform_config):
    """No image is built by itself, and nothing else is changed."""
    tasks = [{"label": "i", "always-target": True}]
    made = run_transform(on_demand.transforms, tasks, config=make_transform_config())
    assert made == [{"label": "i", "always-target": False}]


TIMES = {
    "deadline": {"relative-datestamp": "1 day"},
    "expires": {"relative-datestamp": "28 days"},
}
MEASURING = {
    label: make_task(
        label, kind="io-benchmark", attributes={"io_benchmark_pool": pool}, task_def=TIMES
    )
    for label, pool in [("b-intel", "intel"), ("b-amd-2", "amd"), ("b-amd-1", "amd")]
}
REPORT = {
    "name": "report",
    "label": "io-benchmark-report",
    "task-from": "kind.yml",
    "report": {"wait-minutes": 5, "baseline": "amd"},
    "worker": {"max-run-time": 3600},
    "run": {"using": "run-task"},
}


@pytest.fixture
def make_report(run_transform, make_transform_config):
    def make(**changes):
        image = make_task("docker-image-x", kind="docker-image")
        config = make_transform_config(kind_dependencies_tasks={**MEASURING, image.label: image})
        task = {**REPORT, "run": {"using": "run-task"}, **changes}
        [made] = run_transform(report.transforms, [task], config=config)
        return made

    return make


def test_report(make_report):
    """After the pools' tasks alone, however they end; the stanza has become the command."""
    expected = {key: value for key, value in REPORT.items() if key != "report"}
    assert make_report() == {
        **expected,
        "deadline-after": "2 days",
        "expires-after": "28 days",
        "soft-dependencies": ["b-amd-1", "b-amd-2", "b-intel"],
        "requires": "all-resolved",
        "run": {"using": "run-task", "command": ReportSettings(5, "amd", None, ()).command()},
    }


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        (
            {"report": {"baseline": "am"}},
            "report.baseline: 'am' is not a pool; there are: amd, intel",
        ),
        (
            {"report": {"wait-minutes": 60}},
            (
                "worker.max-run-time: 3600 does not hold 60 minutes of waiting and 600 s for the rest; "
                "raise it to 4200 or lower report.wait-minutes"
            ),
        ),
        (
            {"label": "b-intel"},
            "label: b-intel is a pool's task already; give the pool another name",
        ),
    ],
)
def test_mistakes_of_a_report(make_report, changes, text):
    """The file and the task are named."""
    assert mistake(make_report, **changes).endswith(f"/kind.yml: task report: {text}")
