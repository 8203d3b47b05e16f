# SPDX-License-Identifier: MPL-2.0
"""How long a decision's graph and a rehearsal take, and how much of the graph's time is this project's.

The graph is generated from the tree, and from a copy whose kinds use taskgraph's own transforms alone and
make as many tasks, in turn: the difference is this project's part. Both with byte code, and without any: as
`uv pip install` leaves a decision task's packages, and here the standard library too. CPU time varies less
on a busy machine.

Numbers to read, not a test: run by `tox -e bench`. `--rounds N`.
"""

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(sys.executable).with_name("io-benchmark")
TASKGRAPH = Path(sys.executable).with_name("taskgraph")
PARAMETERS = "taskcluster/test/params/comment.yml"
OURS = "io_benchmark"
LOADER = "taskgraph.loader.transform:loader"
# Half of what this project's part was while each kind compressed the script again.
GRAPH_BAR, REHEARSAL_BAR = "0.31 s of CPU time", "5 s of wall time on a quiet machine"

Times = list[tuple[float, float]]  # wall and CPU seconds


def copy_tree(target: Path) -> None:
    for part in ("taskcluster", "scripts/io-benchmark", "python"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / part, target / part, ignore=ignored)


def edit(path: Path, change: Any) -> None:
    document = yaml.safe_load(path.read_text())
    change(document)
    path.write_text(yaml.safe_dump(document))


def leave_taskgraph_alone(tree: Path) -> None:
    """Remove everything of this project from the tree's kinds; as many tasks are left."""
    kinds = tree / "taskcluster/kinds"
    pools = yaml.safe_load((kinds / "io-benchmark/kind.yml").read_text())["tasks"]

    def plain_kind(kind: dict[str, Any]) -> None:
        kind["loader"] = LOADER
        kind["transforms"] = [path for path in kind["transforms"] if OURS not in path]
        if kind.pop("pools-from", None):
            kind["tasks"] = deepcopy(pools)
            suffix = kind.pop("symbol-suffix")
            for task in kind["tasks"].values():
                treeherder = task["treeherder"]
                treeherder["symbol"] = treeherder["symbol"].replace(")", f"{suffix})")
        for task in (kind.get("task-defaults", {}), *kind["tasks"].values()):
            task.pop("benchmark", None)
            task.pop("report", None)
            if "run" in task:
                task["run"]["command"] = "true"

    for path in kinds.glob("*/kind.yml"):
        edit(path, plain_kind)

    def plain_config(config: dict[str, Any]) -> None:
        del config["taskgraph"]["register"], config["taskgraph"]["decision-parameters"]

    edit(tree / "taskcluster/config.yml", plain_config)

    def plain_parameters(parameters: dict[str, Any]) -> None:
        for name in [name for name in parameters if name.startswith(OURS)]:
            del parameters[name]
        parameters["target_tasks_method"] = "default"

    edit(tree / PARAMETERS, plain_parameters)


def timed(command: Sequence[object], folder: Path, environment: Mapping[str, str]) -> Any:
    """Run the command; return its wall and CPU seconds."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        list(map(str, command)), cwd=folder, env=environment, capture_output=True, check=False
    )
    wall_s, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(done.stderr.decode())
    return wall_s, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def told(name: str, times: Times, bar: str) -> None:
    texts = []
    for kind, values in zip(("wall", "CPU"), zip(*times, strict=True), strict=True):
        middle = statistics.median(values)
        texts.append(f"{kind} {middle:.2f} s ({min(values):.2f} to {max(values):.2f})")
    print(f"{name}: {', '.join(texts)}; bar {bar}", flush=True)


def graph(folder: Path, rounds: int) -> None:
    """Generate the graph from both trees, with byte code and without, in turn."""
    trees = {"all": folder / "all", "taskgraph's part": folder / "taskgraph"}
    for tree in trees.values():
        copy_tree(tree)
    leave_taskgraph_alone(trees["taskgraph's part"])
    given = dict(os.environ)
    given.pop("PYTHONDONTWRITEBYTECODE", None)
    # A folder without byte code in which none is written: as if no module had any.
    empty = {"PYTHONPYCACHEPREFIX": str(folder / "none"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [TASKGRAPH, "full", "-J", "-p", PARAMETERS]
    times: dict[tuple[str, str], Times] = {}
    for _ in range(rounds):
        for code, environment in (("byte code", given), ("no byte code", given | empty)):
            for name, tree in trees.items():
                times.setdefault((code, name), []).append(timed(command, tree, environment))
    for (code, name), taken in times.items():
        told(f"graph, {code}, {name}", taken, "-")
    for code in ("byte code", "no byte code"):
        both = zip(*(times[code, name] for name in trees), strict=True)
        ours = [tuple(a - b for a, b in zip(*pair, strict=True)) for pair in both]
        told(f"  => this project's part, {code}", ours, GRAPH_BAR)


def rehearsal(folder: Path, rounds: int) -> None:
    times = [
        timed(
            [PROGRAM, "rehearse", "--root", ROOT, "--output", folder / str(at)], folder, os.environ
        )
        for at in range(rounds)
    ]
    told("rehearse, 3 pools and the report", times, REHEARSAL_BAR)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="io-benchmark-bench-") as name:
        graph(Path(name), chosen.rounds)
        rehearsal(Path(name), chosen.rounds)
