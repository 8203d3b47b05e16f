# SPDX-License-Identifier: MPL-2.0
"""The kind as Firefox's tree has it: this project's pools and report, with commands, not stanzas.

Programs are fetches, as other benchmarks are there: files of a release, named with their sha256.
With `is_embedded` the worker's program is a file of the tree and every task's command carries it.
Then nothing need be released, and there is no report, which needs a release.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct
from taskgraph.util.templates import merge

from io_benchmark.adopt.changes import Tree
from io_benchmark.adopt.firefox_commands import Commands
from io_benchmark.adopt.firefox_release import (
    LIBRARIES,
    NAME,
    PROGRAM_FILE,
    PYTHONS,
    REPORT,
    fetch_entries,
)
from io_benchmark.adopt.firefox_workers import FirefoxWorkers, is_arm
from io_benchmark.adopt.yaml_blocks import yaml_blocks
from io_benchmark.command_lines import rehearse
from io_benchmark.errors import IoBenchmarkError
from io_benchmark.graph.root import Root

FOLDER = f"taskcluster/kinds/{NAME}"
KIND = f"{FOLDER}/kind.yml"  # by the same path in both trees
PROGRAM = f"{FOLDER}/{PROGRAM_FILE}"
MOUNTED = f"{FOLDER}/{NAME}-windows.txt"
TRANSFORMS = "taskcluster/gecko_taskgraph/transforms/io_benchmark.py"
FETCHES = "taskcluster/kinds/fetch/benchmarks.yml"
# What this project's own kind has, as the tasks that its first investigation was about. It has a
# purpose of its own, which may end; other trees name a base image.
_OWN_IMAGE = {"in-tree": "update-verify"}
# What this project's own kind measures, as its first investigation, and what a new kind does.
_OWN_WORKLOADS, _NEW_WORKLOADS = ("cache-retrieve",), ("cache-retrieve", "unpack", "download")
# The first word of the line for Treeherder is in two parts, because the log has this text too.
_CHOOSE_PYTHON = f"""\
python=$(command -v {" ".join(f"python{version}" for version in reversed(PYTHONS))} | head -n 1)
if [ -z "$python" ]; then
  printf 'TEST-%s | IOB(report) | needs Python {" or ".join(PYTHONS)}, and there is %s\\n' \\
    UNEXPECTED-FAIL "$(python3 --version 2>&1)"
  exit 1
fi
# Both archives are unpacked there.
export PYTHONPATH="$MOZ_FETCHES_DIR:$MOZ_FETCHES_DIR/libraries"
"""
# A pool of this name would have the label of the report's task.
_REPORT_POOL = "report"
# Firefox's job descriptions have no such key; `run-on-projects` alone decides there.
_DROPPED = ("benchmark", "run-on-tasks-for")
MARK = "io-benchmark firefox"  # in the head of each version's file
_HEAD = """\
# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.

# Measures I/O; each task is a pool, by its name. Tasks run only when selected.
# By `io-benchmark firefox` of https://github.com/mozilla-releng/io-benchmark
---
loader: taskgraph.loader.transform:loader
transforms:
    - gecko_taskgraph.transforms.io_benchmark:transforms
    - gecko_taskgraph.transforms.job:transforms
    - gecko_taskgraph.transforms.task:transforms
    - gecko_taskgraph.transforms.io_benchmark:times
"""


class FirefoxKind(Struct, frozen=True):
    """What a checkout gets: whole files, and the entries of the fetches."""

    files: Mapping[str, bytes]
    fetches: str  # empty where the program is a file

    @classmethod
    def of(
        cls,
        root: Root,
        workers: FirefoxWorkers,
        pools: Mapping[str, str],
        is_embedded: bool = False,
    ) -> "FirefoxKind":
        """Return the kind with these pools, worker types by name, or with the tree's where none."""
        try:
            kind = Tree(root.path).yaml(KIND)
            commands = _convert(kind, root, workers, pools, is_embedded)
            text = yaml_blocks(kind)
        except (KeyError, TypeError, AttributeError, StopIteration):
            advice = f"run `{rehearse(root.path)}` to see why"
            message = f"{root.path / KIND}: cannot be read as a kind; {advice}"
            raise IoBenchmarkError(message) from None
        files = {KIND: f"{_HEAD}{text}".encode(), TRANSFORMS: _transforms(root, is_embedded)}
        if not is_embedded:
            return cls(files, fetch_entries(commands.program))
        files[PROGRAM] = commands.program
        if commands.mounted is not None:
            files[MOUNTED] = commands.mounted.encode()
        return cls(files, "")


def _transforms(root: Root, is_embedded: bool) -> bytes:
    """Return the lines for this form: the others end with the other form's name as a comment."""
    dropped, kept = ("fetched", "embedded") if is_embedded else ("embedded", "fetched")
    text = Tree(root.transforms).text("firefox_transforms.py")
    text = re.sub(rf"^.*  # {dropped}\n", "", text, flags=re.MULTILINE)
    return text.replace(f"  # {kept}\n", "\n").encode()


def _convert(
    kind: dict[str, Any],
    root: Root,
    workers: FirefoxWorkers,
    pools: Mapping[str, str],
    is_embedded: bool,
) -> Commands:
    """Change the kind to Firefox's form; return the commands, and the program that they start."""
    defaults, own_tasks = kind["task-defaults"], kind["tasks"]
    kind["tasks"] = tasks = _new_tasks(pools) if pools else own_tasks
    if _REPORT_POOL in tasks and not is_embedded:
        problem = f"a pool cannot be called {_REPORT_POOL}, because IOB({_REPORT_POOL}) is"
        raise IoBenchmarkError(f"{problem}; give it another name")
    workers.aliases.check([task["worker-type"] for task in tasks.values()])
    if tuple(defaults["benchmark"]["workloads"]) == _OWN_WORKLOADS:
        defaults["benchmark"]["workloads"] = [*_NEW_WORKLOADS]
    _name_images(defaults, tasks, workers)
    merged = {pool: merge(defaults, task) for pool, task in tasks.items()}
    made = Commands.of(root, merged, workers.aliases, is_embedded)
    commands = made.by_pool
    with root.modules() as module:
        image = module("transforms.command").IMAGE_VARIABLE
    if any(next(iter(image)) in command for command in commands.values()):
        defaults["worker"]["env"] = image
    usual = next(iter(commands.values()))
    defaults["run"]["command"] = usual
    for pool, task in tasks.items():
        if commands[pool] != usual:
            task.setdefault("run", {})["command"] = commands[pool]
    baseline = defaults.get("benchmark", {}).get("baseline")
    if baseline in tasks:
        # Where the transforms of this project put it.
        defaults["extra"] = {NAME: {"baseline": baseline}}
    for task in (defaults, *tasks.values()):
        for key in _DROPPED:
            task.pop(key, None)
    del kind["loader"], kind["transforms"]
    if not is_embedded:
        defaults["fetches"] = {"fetch": [NAME]}
        kind["kind-dependencies"] = ["fetch"]
        places = [*merged.values(), *(merge(defaults, task) for task in own_tasks.values())]
        kind["report"] = _report(root, defaults, list(tasks), _report_place(places, workers))
    return made


def _new_tasks(pools: Mapping[str, str]) -> dict[str, Any]:
    return {
        name: {
            "description": f"I/O benchmark on {alias}",
            "worker-type": alias,
            "treeherder": {"symbol": f"IOB({name})"},
        }
        for name, alias in pools.items()
    }


def _name_images(
    defaults: Mapping[str, Any], tasks: Mapping[str, Any], workers: FirefoxWorkers
) -> None:
    """Name images that the tree has; those that the kind itself names for a pool stay."""
    if defaults["worker"]["docker-image"] == _OWN_IMAGE:
        aliases = [task["worker-type"] for task in tasks.values()]
        usual = [alias for alias in aliases if not is_arm(alias)] or aliases
        defaults["worker"]["docker-image"] = {"in-tree": workers.base_image(next(iter(usual)))}
    for task in tasks.values():
        alias = task["worker-type"]
        if is_arm(alias) and "docker-image" not in task.get("worker", {}):
            image = {"in-tree": workers.base_image(alias)}
            task.setdefault("worker", {})["docker-image"] = image
    named = [task.get("worker", {}).get("docker-image") for task in (defaults, *tasks.values())]
    workers.check_images(image["in-tree"] for image in named if isinstance(image, dict))


def _report_place(places: Iterable[Mapping[str, Any]], workers: FirefoxWorkers) -> Any:
    """Return the first task of these on whose workers the report can run."""
    for task in places:
        if workers.runs_report(task["worker-type"]):
            return task
    raise IoBenchmarkError(
        f"{workers.aliases.file}: IOB(report) needs x86-64 workers with docker images, and none of "
        "these pools has them; add one as --pool NAME=ALIAS"
    )


def _report(
    root: Root, defaults: Mapping[str, Any], pools: list[str], place: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what the task that compares the pools has beside the defaults, on a pool's workers."""
    report = Tree(root.transforms).yaml(f"defaults/{NAME}-report.yml")
    with root.modules() as module:
        of_report = module("transforms.report")
        settings = of_report.checked_stanza(report.pop("report"), pools)
        command = of_report.report_command(settings, '"$python"')
    report["run"]["command"] = _CHOOSE_PYTHON + command.removeprefix("set -e\n")
    report["worker"]["docker-image"] = place["worker"]["docker-image"]
    report["attributes"]["job_try_name"] = NAME
    report |= {
        "worker-type": place["worker-type"],
        "requires": "all-resolved",
        "fetches": {"fetch": [LIBRARIES, REPORT]},
    }
    changed = {key: value for key, value in report.items() if value != defaults.get(key)}
    return {key: value for key, value in changed.items() if key not in _DROPPED}
