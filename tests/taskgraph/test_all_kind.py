# SPDX-License-Identifier: MPL-2.0
"""The kind that measures everything, in the project's own graphs."""

import re

import pytest
import yaml
from embedding import shell_text

from io_benchmark_taskgraph import estimate, script_modules, stanza
from io_benchmark_taskgraph.mistakes import BadKeyError

from .conftest import KIND, REPOSITORY
from .test_kinds import every_params
from .whole_graph import EVERY_ALL, EVERY_POOL, IMAGE, graph

ALL = "io-benchmark-all"
every_pair = pytest.mark.parametrize(
    ("label", "usual"), list(zip(EVERY_ALL, EVERY_POOL, strict=True))
)


@pytest.fixture
def kind():
    return yaml.safe_load((KIND.parent / ALL / "kind.yml").read_text())


@every_pair
@every_params
def test_the_same_pool(params, label, usual):
    """It runs where the pool's other task runs, in the same image, and is shown next to it."""
    task, other = (graph("full", params)[name]["task"] for name in (label, usual))
    for key in ("provisionerId", "workerType", "scopes"):
        assert task[key] == other[key]
    shown, usual_shown = (dict(one["extra"]["treeherder"]) for one in (task, other))
    assert shown.pop("symbol") == f"{usual_shown.pop('symbol')}-all"
    assert shown == usual_shown
    assert task["payload"]["image"] == other["payload"]["image"]
    assert task["payload"]["artifacts"] == other["payload"]["artifacts"]
    assert task["payload"]["maxRunTime"] == 5400
    assert graph("full", params)[label]["dependencies"] == {"docker-image": IMAGE}


@every_pair
@every_params
def test_attributes(params, label, usual):
    """A separate job; results are grouped by the pool's plain name."""
    attributes, others = (graph("full", params)[name]["attributes"] for name in (label, usual))
    assert attributes == {**others, "kind": ALL, "job_try_name": ALL}


@every_params
def test_no_routes_of_the_index(params):
    """What the index has of a pool is not replaced by a tenth of the retrieves."""
    for label in EVERY_ALL:
        routes = graph("full", params)[label]["task"]["routes"]
        assert [route for route in routes if route.startswith("index.")] == []


@every_pair
def test_the_command(label, usual):  # noqa: ARG001 - one list of pairs
    """Every workload, destination and place, for the pool of that name."""
    text = shell_text(graph("full", "try-all")[label]["task"]["payload"]["command"])
    command = text[text.index("exec python3") :]
    assert f"--pool {label.removeprefix(f'{ALL}-')} " in command
    workloads = script_modules.workload_names(REPOSITORY / "scripts/io-benchmark")
    assert sorted(re.findall(r"--workload (\S+)", command)) == workloads
    assert re.findall(r"--destination (\S+)", command) == ["overwrite", "unlink", "fresh"]
    assert re.findall(r'--place (\S+?)="\$\{\w+:-(\S+?)\}"', command) == [
        ("workspace", "/builds/worker/workspace"),
        ("container", "/builds/worker/io-benchmark"),
        ("memory", "/dev/shm/io-benchmark"),
    ]
    assert " --retrieves 200 " in command
    assert " --time-budget 5100 " in command


def test_every_workload_is_named(kind):
    """A new module of workloads/ belongs into the kind."""
    named = kind["task-defaults"]["benchmark"]["workloads"]
    assert sorted(named) == script_modules.workload_names(REPOSITORY / "scripts/io-benchmark")


def test_the_time_it_takes_at_worst(kind):
    """What the slowest pool planned for needs is below its limit."""
    benchmark = stanza.Benchmark.parse(kind["task-defaults"]["benchmark"])
    # 3 x (5,700 + 200 x 3 x 57) / 50, and the others' limits: per task, and per place.
    needed_s = 2394 + 170 + 3 * 565
    estimate.check_duration(REPOSITORY, benchmark, needed_s)
    with pytest.raises(BadKeyError):
        estimate.check_duration(REPOSITORY, benchmark, needed_s - 1)
    documented = (REPOSITORY / "taskcluster/docs/kinds.md").read_text()
    assert f"the slowest pool planned for needs {needed_s:,} s" in documented


def test_no_list_of_its_own(kind):
    """The pools are those of the other kind."""
    assert kind["pools-from"] == "io-benchmark"
    assert not {"tasks", "tasks-from"} & set(kind)
