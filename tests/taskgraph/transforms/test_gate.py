# SPDX-License-Identifier: MPL-2.0
"""The kind io-benchmark-gate: from pairs of pools to their tasks and the report's."""

import json
import re
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from checkout import ROOT
from user_mistakes import mistake

from io_benchmark.analysis.statistics.gate_sizes import workers_for_margin
from io_benchmark_taskgraph.replicates import replicates_for
from io_benchmark_taskgraph.transforms import gate

DOCUMENTED = (ROOT / "taskcluster/docs/gate-kind.yml").read_text()
LINUX = {"implementation": "docker-worker", "os": "linux", "worker-type": "{alias}"}
ALIASES = {
    "images": {"provisioner": "{trust-domain}-{level}", **LINUX},
    "t-linux-2404-.*": {"provisioner": "gecko-t", **LINUX},
    "b-linux-.*": {"provisioner": "gecko-1", **LINUX},
    "same": {"provisioner": "gecko-t", **LINUX, "worker-type": "t-linux-2404-headless"},
}
SHORT, ALPHA = "b-linux-docker-alpha", "t-linux-2404-headless-alpha"
OLD_SHORT, OLD = SHORT.removesuffix("-alpha"), ALPHA.removesuffix("-alpha")
CONFIG = {
    "trust-domain": "relops",
    "task-priority": "low",
    "taskgraph": {
        "register": "io_benchmark_taskgraph:register",
        "cached-task-prefix": "relops.v2.worker-images",
        "repositories": {"images": {"name": "images"}},
    },
    "treeherder": {"group-names": {"I": "Images"}},
    "workers": {"aliases": ALIASES},
}
IMAGES = """\
loader: taskgraph.loader.transform:loader
transforms:
    - taskgraph.transforms.docker_image:transforms
    - taskgraph.transforms.cached_tasks:transforms
    - taskgraph.transforms.task:transforms
tasks:
    linux: {symbol: I(linux)}
"""
TARGETS = """
import json, sys
from taskgraph import main
from taskgraph.parameters import parameters_loader
generator = main.get_taskgraph_generator(None, parameters_loader(sys.argv[1], strict=True))
print(json.dumps(generator.target_task_set.to_json()))
"""


@pytest.fixture
def targets(tmp_path):
    """The selected tasks of a project that has the documented kind, by label."""
    for name, text in {
        "config.yml": yaml.safe_dump(CONFIG),
        "kinds/docker-image/kind.yml": IMAGES,
        "kinds/io-benchmark-gate/kind.yml": DOCUMENTED,
        "docker/linux/Dockerfile": "FROM debian:13\n",
    }.items():
        file = tmp_path / "taskcluster" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    parameters = yaml.safe_load((ROOT / "taskcluster/test/params/cron.yml").read_text())

    def targets(pairs=None, **changes):
        if pairs:
            kind = yaml.safe_load(DOCUMENTED)
            kind["gate"]["pairs"] = pairs
            file = tmp_path / "taskcluster/kinds/io-benchmark-gate/kind.yml"
            file.write_text(yaml.safe_dump(kind))
        file = tmp_path / "parameters.yml"
        file.write_text(yaml.safe_dump({**parameters, **changes}))
        done = subprocess.run(
            [sys.executable, "-c", TARGETS, file],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return targets


def test_the_documented_kind(targets):
    """Each pool has five tasks, as the margin needs, and the report answers all pairs.

    No task has a route of the index, and all symbols differ.
    """
    tasks = targets(target_tasks_method="io-benchmark-gate")
    pools = [SHORT, OLD_SHORT, ALPHA, OLD]
    expected = [f"io-benchmark-gate-{pool}-{number}" for pool in pools for number in range(1, 6)]
    assert sorted(tasks) == sorted([*expected, "io-benchmark-gate-report"])
    symbols = set()
    for task in tasks.values():
        definition = task["task"]
        treeherder = definition["extra"]["treeherder"]
        assert treeherder["groupName"] == "I/O benchmark: gate of new images"
        symbols.add((treeherder["groupSymbol"], treeherder["symbol"]))
        kinds = {route.partition(".")[0] for route in definition["routes"]}
        assert kinds == {"tc-treeherder", "checks"}
    assert len(symbols) == len(tasks)
    assert ("IOBG", "3-t-linux-2404-headle-5") in symbols
    first = tasks[f"io-benchmark-gate-{ALPHA}-1"]
    assert first["attributes"]["io_benchmark_pool"] == ALPHA
    queue = first["task"]["provisionerId"], first["task"]["workerType"]
    assert queue == ("gecko-t", ALPHA)
    assert first["task"]["payload"]["env"]["IO_BENCHMARK_REPLICATES"] == "5"
    report = tasks["io-benchmark-gate-report"]
    # Not on the new image.
    assert report["task"]["workerType"] == OLD_SHORT
    command = report["task"]["payload"]["command"][-1]
    gates = re.findall(r"--gate=(\S+)", command)
    assert gates == [f"'{SHORT}/{OLD_SHORT}<1.1'", f"'{ALPHA}/{OLD}<1.1'"]
    assert {*report["task"]["payload"]["artifacts"]} == {"public/github", "public/io-benchmark"}


def test_one_pair_of_several(targets):
    """A push that names the pool with the new image measures its pair, and asks for no other."""
    changes = {"io_benchmark_jobs": [f"io-benchmark-gate-{ALPHA}"], "io_benchmark_replicates": 1}
    tasks = targets(**changes, target_tasks_method="io-benchmark")
    report = tasks.pop("io-benchmark-gate-report")
    assert sorted(tasks) == [f"io-benchmark-gate-{OLD}", f"io-benchmark-gate-{ALPHA}"]
    command = report["task"]["payload"]["command"][-1]
    assert re.findall(r"--gate=(\S+)", command) == [f"'{ALPHA}/{OLD}<1.1'"]
    # Of all pairs, because not every pool runs the report's image.
    assert report["task"]["workerType"] == OLD_SHORT


def test_a_pool_in_two_pairs(targets):
    """It is measured once, and selected by either pair."""
    pairs = {SHORT: OLD, ALPHA: OLD}
    changes = {"io_benchmark_jobs": ["io-benchmark-gate"], "io_benchmark_replicates": 1}
    tasks = targets(pairs, **changes, target_tasks_method="io-benchmark")
    jobs = {label: task["attributes"]["job_try_name"] for label, task in tasks.items()}
    both = [f"io-benchmark-gate-{alpha}" for alpha in pairs]
    assert jobs == {
        f"io-benchmark-gate-{SHORT}": ["io-benchmark-gate", both[0]],
        f"io-benchmark-gate-{ALPHA}": ["io-benchmark-gate", both[1]],
        f"io-benchmark-gate-{OLD}": ["io-benchmark-gate", *both],
        "io-benchmark-gate-report": ["io-benchmark-gate", *both],
    }


@pytest.mark.parametrize("margin", [0.02, 0.05, 0.1, 0.5])
@pytest.mark.parametrize("variation", [0.001, 0.05, 0.08])
@pytest.mark.parametrize("measurements", [1, 9])
def test_replicates(margin, variation, measurements):
    """The proposed numbers are those of the analysis, up to the most that it proposes."""
    count = replicates_for(margin, variation, measurements)
    proposed = workers_for_margin(margin, variation, measurements)
    assert (count if count <= 100 else None) == proposed


NO_PAIRS = "names no pools; write the pool with the new image, and the one with the old image, as"
PAIR = {ALPHA: OLD}
THERE = "there are: images, t-linux-2404-.*, b-linux-.*, same"


@pytest.mark.parametrize(
    ("stanza", "text"),
    [
        (None, f"gate.pairs: {{}} {NO_PAIRS} {{b-linux-alpha: b-linux}}"),
        ({"pairs": [ALPHA]}, f"gate.pairs: ['{ALPHA}'] {NO_PAIRS} {{b-linux-alpha: b-linux}}"),
        ({"pairs": {ALPHA: 5}}, "gate.pairs: 5 is not the alias of a pool's workers; write text"),
        (
            {"pairs": {ALPHA: ALPHA}},
            f"gate.pairs: {ALPHA} is compared with itself; name the pool that has the old image",
        ),
        (
            {"pairs": {ALPHA: "image"}},
            (
                "gate.pairs: image is not one of workers.aliases in taskcluster/config.yml; "
                f"{THERE}; did you mean images?"
            ),
        ),
        (
            {"pairs": {"same": OLD}},
            (
                f"gate.pairs: same and {OLD} are one pool, gecko-t/{OLD}; correct an alias in "
                "taskcluster/config.yml"
            ),
        ),
        *(
            (
                {"pairs": PAIR, "margin": margin},
                f"gate.margin: {margin!r} is not a percentage; write one such as 2%",
            )
            for margin in ("0%", "200%", 10)
        ),
        (
            {"pairs": PAIR, "margin": "2%", "variation": "6%"},
            (
                "gate.margin: 2% needs 122 tasks per pool where workers vary by 6%, and 100 are "
                "the most; raise it"
            ),
        ),
        (
            {"pairs": PAIR, "replicates": 1},
            "gate.replicates: 1 is not a whole number from 2 to 100",
        ),
        ({"pair": PAIR}, "gate.pair: unknown key; there are: pairs, margin, variation, replicates"),
    ],
)
def test_mistakes(make_config, stanza, text):
    """One line names the file and the key, and says what to write instead."""
    config = make_config(gate=stanza)
    assert mistake(list, gate.transforms(config, iter([]))).endswith(f"kind.yml: {text}")


@pytest.fixture
def make_config(tmp_path):
    def make(**kind: Any) -> Any:
        class GraphConfig(dict[str, Any]):
            root_dir = f"{tmp_path}/taskcluster"
            __hash__ = object.__hash__  # type: ignore[assignment]

        return SimpleNamespace(
            kind="io-benchmark-gate",
            path=f"{tmp_path}/taskcluster/kinds/io-benchmark-gate",
            config={"task-defaults": {"worker": {"docker-image": {"in-tree": "linux"}}}, **kind},
            graph_config=GraphConfig(CONFIG),
            params={"level": "1"},
        )

    return make


def test_mistakes_of_the_kind(make_config):
    """The pools' tasks follow from the pairs, and their number from the gate."""
    config = make_config(gate={"pairs": PAIR})
    message = mistake(list, gate.transforms(config, iter([{"name": "a"}])))
    assert message.endswith("tasks: a gate's tasks follow from gate.pairs; remove the key")
    defaults = {"benchmark": {"replicates": 3}}
    config = make_config(gate={"pairs": PAIR}, **{"task-defaults": defaults})
    text = "task-defaults.benchmark.replicates: a gate has its number in gate.replicates; move it"
    assert text in mistake(list, gate.transforms(config, iter([])))
    config = make_config(gate={"pairs": PAIR}, **{"task-defaults": None})
    text = "task-defaults.worker.docker-image: is missing; name the image in which the pools are"
    assert text in mistake(list, gate.transforms(config, iter([])))
