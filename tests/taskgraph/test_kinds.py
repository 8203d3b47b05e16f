# SPDX-License-Identifier: MPL-2.0
"""The tasks of all kinds themselves, for every file of parameters."""

import json
import re

import pytest
import yaml
from checkout import KIND, SIZES
from embedding import shell_text
from taskgraph.util.time import value_of

from io_benchmark_taskgraph import stanza
from io_benchmark_taskgraph.transforms.benchmark import MARGIN_S, _check_duration
from io_benchmark_taskgraph.transforms.report import LATEST_S, RESOLVING_S
from io_benchmark_taskgraph.worker_program import WorkerProgram

from .whole_graph import (
    EVERY_ALL,
    EVERY_POOL,
    EVERYTHING,
    FLEET,
    IMAGE,
    PARAMS,
    REPORT,
    REPORT_IMAGE,
    SELECTED,
    SHORT_LIVED,
    created,
    graph,
    tasks_by_name,
)

ALL = "io-benchmark-all"
LEVEL_3 = ("cron", "push", "try-all", "try-two-pools")
every_params = pytest.mark.parametrize("params", sorted(SELECTED))
# Worker types and symbols.
POOLS = {
    "amd-16": ("b-linux-docker-amd", "amd16"),
    "amd-30": ("b-linux-docker-large-amd", "amd30"),
    "intel": ("b-linux", "intel"),
}
# Treeherder takes a result from an artifact of the second name alone.
FILES = ("io-benchmark", "perfherder-data-io-benchmark.json")


def level(params):
    return "3" if params in LEVEL_3 else "1"


def check_shown(node, symbol, job, pool=None):
    """Check what is the same for the tasks of pools and the report."""
    task = node["task"]
    assert task["extra"]["treeherder"] == {
        "machine": {"platform": "linux64"},
        "collection": {"opt": True},
        "groupSymbol": "IOB",
        "groupName": "I/O benchmark",
        "symbol": symbol,
        "jobKind": "test",
        "tier": 3,
    }
    of_pool = {"io_benchmark_pool": pool} if pool else {}
    assert node["attributes"] == of_pool | {
        "always_target": False,
        "job_try_name": job,
        "kind": node["attributes"]["kind"],
        "retrigger": True,
        "run_on_projects": [],
        "run_on_tasks_for": [],
        "shipping_phase": None,
    }
    # taskgraph offers "Retrigger" by this tag.
    assert task["tags"]["retrigger"] == "true"


def check_payload(payload, params, minutes, names=FILES):
    """Check the payload but for its command; return that, and the environment."""
    rest = dict(payload)
    command, environment = rest.pop("command"), rest.pop("env")
    expires = {"relative-datestamp": "28 days" if params in SHORT_LIVED else "1 year"}
    assert rest == {
        "image": {
            "path": "public/image.tar.zst",
            "taskId": {"task-reference": "<docker-image>"},
            "type": "task-image",
        },
        "maxRunTime": 60 * minutes,
        "onExitStatus": {"retry": [72], "purgeCaches": [72]},
        "artifacts": {
            f"public/{name}": {
                "type": "file" if name.endswith(".json") else "directory",
                "path": f"/builds/worker/artifacts/{name}",
                "expires": expires,
            }
            for name in names
        },
    }
    return command, environment


@every_params
def test_all_tasks(params):
    """The images, two tasks for each pool, the report and the fleet's two.

    Nothing runs without a request.
    """
    assert sorted(path.stem for path in PARAMS.glob("*.yml")) == sorted(SELECTED)
    every_label = sorted([REPORT_IMAGE, IMAGE, *EVERY_ALL, *EVERYTHING, *FLEET])
    assert sorted(graph("full", params)) == every_label
    assert sorted(graph("target", params)) == SELECTED[params]
    if SELECTED[params]:
        # What a decision task would create: the selected ones and their images.
        tasks = tasks_by_name("morphed", params)
        assert sorted(tasks) == created(SELECTED[params])
        if REPORT in SELECTED[params]:
            # It comes after all that were selected with it, however these are resolved.
            assert tasks[REPORT]["task"]["requires"] == "all-resolved"
            measuring = {*EVERY_POOL, *EVERY_ALL} & {*SELECTED[params]}
            needed = [REPORT_IMAGE, *measuring]
            task_ids = sorted(tasks[label]["task_id"] for label in needed)
            assert sorted(tasks[REPORT]["task"]["dependencies"]) == task_ids


@pytest.mark.parametrize("kind", ["io-benchmark", ALL])
@every_params
def test_pools(params, kind):
    """Where a task of either kind runs, how, what shows it, and by what it is selected."""
    is_all = kind == ALL
    for pool, (worker_type, symbol) in POOLS.items():
        node = graph("full", params)[f"{kind}-{pool}"]
        task = node["task"]
        check_shown(node, symbol + "-all" * is_all, kind, pool)
        assert task["provisionerId"] == f"releng-{level(params)}"
        assert task["workerType"] == worker_type
        assert node["dependencies"] == {"docker-image": IMAGE}
        words, environment = check_payload(task["payload"], params, 90 if is_all else 60)
        assert words[:4] == ["/usr/local/bin/run-task", "--", "bash", "-ec"]
        assert "/builds/worker/workspace" in environment["TASKCLUSTER_VOLUMES"].split(";")
        command = shell_text(words)
        assert f"--pool {pool} " in command
        # The date of the push: a retriggered task of an older push is not the latest.
        assert task["extra"]["index"]["rank"] == (0 if is_all else 1795248000)
        assert f" --time-budget {5100 if is_all else 3300} " in command
        # A reader of the group knows from the definition with which pool the others are compared.
        assert task["extra"]["io-benchmark"] == {"baseline": "intel"}
        # What the index has of a pool is not replaced by a tenth of the retrieves.
        is_indexed = any(route.startswith("index.") for route in task["routes"])
        assert is_indexed is (not is_all and params != "pull-request-untrusted")


def test_commands():
    """The pools' commands differ in the pool's name.

    The other kind's have every workload and place.
    """
    for labels, params in ((EVERY_POOL, "try"), (EVERY_ALL, "try-all")):
        tasks = (graph("full", params)[label]["task"] for label in labels)
        texts = [shell_text(task["payload"]["command"]) for task in tasks]
        commands = {re.sub(r" (amd-16|amd-30|intel) ", " P ", text) for text in texts}
        assert len(commands) == 1
    command = commands.pop().partition("exec python3")[2]
    workloads = WorkerProgram.read().workload_names()
    assert sorted(re.findall(r"--workload (\S+)", command)) == workloads
    assert re.findall(r"--destination (\S+)", command) == ["overwrite", "unlink", "fresh"]
    assert re.findall(r'--place (\S+?)="\$\{\w+:-(\S+?)\}"', command) == [
        ("workspace", "/builds/worker/workspace"),
        ("container", "/builds/worker/io-benchmark"),
        ("memory", "/dev/shm/io-benchmark"),
    ]
    assert " --retrieves 200 " in command


def test_what_is_downloaded():
    """All workloads download the image of their task, whatever task made it."""
    tasks = tasks_by_name("morphed", "try-all")
    image = tasks[IMAGE]["task_id"]
    for label in EVERY_ALL:
        environment = tasks[label]["task"]["payload"]["env"]
        path = f"/api/queue/v1/task/{image}/artifacts/public/image.tar.zst"
        assert environment["IO_BENCHMARK_DOWNLOAD_URL"] == path
        command = shell_text(tasks[label]["task"]["payload"]["command"])
        assert ' --download-url "${IO_BENCHMARK_DOWNLOAD_URL:-none}"' in command


def test_the_kind_of_all_pools():
    """It has the time that the slowest pool needs."""
    kind = yaml.safe_load((KIND.parent / ALL / "kind.yml").read_text())
    benchmark = stanza.Benchmark.parse(kind["task-defaults"]["benchmark"])
    _check_duration(benchmark, kind["task-defaults"]["worker"]["max-run-time"] - MARGIN_S)


def end_s(node, key="deadline"):
    return value_of(node["task"][key]["relative-datestamp"]).total_seconds()


@every_params
def test_report(params):
    """Selected and shown as the pools' tasks; it needs no scope, and no route but Treeherder's.

    A pool without workers ends at its deadline; the report then still has all its time.
    """
    tasks = graph("full", params)
    node = tasks[REPORT]
    task = node["task"]
    check_shown(node, "report", ["io-benchmark", ALL])
    assert task["provisionerId"] == f"releng-{level(params)}"
    assert (task["workerType"], task["scopes"]) == ("b-linux", [])
    prefixes = [route.partition(".")[0] for route in task["routes"]]
    assert prefixes == ["tc-treeherder", "checks"]
    (*start, command), _ = check_payload(task["payload"], params, 60, FILES[:1])
    assert start == ["/usr/local/bin/run-task", "--", "bash", "-cx"]
    (minutes,) = re.findall(r"--wait (\d+)", command)
    last_s = max(end_s(tasks[label]) for label in (*EVERY_POOL, *EVERY_ALL))
    left_s = end_s(node) - last_s - RESOLVING_S
    assert left_s >= task["payload"]["maxRunTime"] > 60 * int(minutes)
    # What the queue asks for: at most five days, and nothing it depends on expires before it.
    assert end_s(node) <= LATEST_S
    for label in (REPORT, *node["dependencies"].values(), *node["soft_dependencies"]):
        assert end_s(tasks[label], "expires") >= end_s(node)


def test_limits():
    """What a worker and Treeherder accept, which nothing on the way to them checks."""
    for label, node in graph("full", "push").items():
        payload = node["task"]["payload"]
        sizes = [len(part.encode()) + 1 for part in payload.get("command", [""])]
        # Linux's MAX_ARG_STRLEN, 32 pages: a worker would not start a longer one.
        assert max(sizes) <= 131_072
        every = "-with-all-workloads" if label.startswith("io-benchmark-all-") else ""
        assert len(json.dumps(node["task"])) <= SIZES[f"bytes-of-a-definition{every}"]
        routes = node["task"]["routes"]
        assert len(routes) == len(set(routes)) <= 64
        assert max(map(len, routes)) <= 249
    treeherder = [node["task"]["extra"]["treeherder"] for node in graph("full", "push").values()]
    symbols = {json.dumps(symbol, sort_keys=True) for symbol in treeherder}
    assert len(symbols) == len(treeherder)
