# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Firefox's kind.yml, made from this project's: the same pools, the same text, other transforms."""

import copy
import re
from collections.abc import Sequence
from typing import Any

import yaml

from io_benchmark.errors import IoBenchmarkError
from io_benchmark.firefox import tree_paths

SOURCE = f"taskcluster/kinds/{tree_paths.NAME}/kind.yml"
SCRIPT = "scripts/io-benchmark"

# Ours are one module there; taskgraph's own have Firefox's in their place.
_OWN_TRANSFORMS = re.compile(r"io_benchmark_taskgraph\.transforms\.\w+:transforms")
_OURS_THERE = "gecko_taskgraph.transforms.io_benchmark:transforms"
_TRANSFORMS = {
    "taskgraph.transforms.run:transforms": "gecko_taskgraph.transforms.job:transforms",
    "taskgraph.transforms.task:transforms": "gecko_taskgraph.transforms.task:transforms",
}
# Firefox's job descriptions have no such key; `run-on-projects` alone decides there.
_DROPPED = "run-on-tasks-for"
# Comments that would be wrong there. Where they change here, nothing breaks.
_COMMENTS = {
    "without these two it would run on": "without this it would run on",
    "taskcluster/docs/kinds.md": tree_paths.TRANSFORMS,
}
_NOTE = """\
# Written by `io-benchmark firefox`. A change, such as a new pool, belongs into
# the same file of https://github.com/mozilla-releng/io-benchmark
"""
_LICENCE = re.compile(r"(?:#[^\n]*\n)+\n")


def _data_there(kind: dict[str, Any], more_workloads: Sequence[str]) -> dict[str, Any]:
    """Return the contents that the translated file must have."""
    tasks = {name: _task_there(task) for name, task in (kind.get("tasks") or {}).items()}
    there = {**kind, "tasks": tasks}
    own = [path for path in kind["transforms"] if _OWN_TRANSFORMS.fullmatch(path)]
    others = [path for path in kind["transforms"] if path not in own]
    there["transforms"] = [_OURS_THERE, *(_TRANSFORMS.get(path, path) for path in others)]
    there["task-defaults"] = _task_there(kind["task-defaults"])
    there["task-defaults"]["benchmark"]["workloads"] += more_workloads
    return there


def _task_there(task: dict[str, Any]) -> dict[str, Any]:
    there = {key: value for key, value in copy.deepcopy(task).items() if key != _DROPPED}
    if there.get("benchmark", {}).get("script") == SCRIPT:
        del there["benchmark"]["script"]  # the module of transforms knows its folder there
    return there


def workloads(kind: dict[str, Any]) -> list[str]:
    """Return the workloads that any task of the kind measures."""
    tasks = [kind["task-defaults"], *kind["tasks"].values()]
    named = [name for task in tasks for name in task.get("benchmark", {}).get("workloads", [])]
    return list(dict.fromkeys(named))


def translate_kind(text: str, more_workloads: Sequence[str] = ()) -> str:
    """Translate the file's text, edited line by line so that its comments stay."""
    there = re.sub(rf"(?m)(^ *- {_OWN_TRANSFORMS.pattern}\n)+", f"    - {_OURS_THERE}\n", text)
    for own, theirs in _TRANSFORMS.items():
        there = re.sub(rf"(?m)^( *- ){re.escape(own)}$", rf"\g<1>{theirs}", there)
    there = re.sub(rf"(?m)^ *script: {re.escape(SCRIPT)}\n", "", there)
    there = re.sub(rf"(?m)^ *{_DROPPED}: \[.*\]\n", "", there)
    more = "".join(f", {name}" for name in more_workloads)
    there = re.sub(r"(?m)^( {8}workloads: \[[^\]]*)\]$", rf"\g<1>{more}]", there, count=1)
    for own, theirs in _COMMENTS.items():
        there = re.sub(rf"(?m)^( *#.*){re.escape(own)}", rf"\g<1>{theirs}", there)
    licence = _LICENCE.match(there)
    start = licence.end() if licence else 0
    there = f"{there[:start]}{_NOTE}#\n{there[start:]}"
    if yaml.safe_load(there) != _data_there(yaml.safe_load(text), more_workloads):
        raise IoBenchmarkError(
            f"{SOURCE}: cannot be translated for Firefox; write its transforms one per line, "
            f"ours first, its script as `script: {SCRIPT}`, {_DROPPED} and the first "
            "workloads on one line, in brackets"
        )
    return there


def worker_types(kind: dict[str, Any]) -> dict[str, str]:
    """Return the worker type of each pool, in the file's order."""
    return {
        name: {**kind["task-defaults"], **task}["worker-type"]
        for name, task in kind["tasks"].items()
    }


def images(kind: dict[str, Any]) -> list[str]:
    """Return the in-tree images that the tasks run in."""
    found = []
    for task in ({}, *kind["tasks"].values()):
        worker = {**kind["task-defaults"].get("worker", {}), **task.get("worker", {})}
        image = worker.get("docker-image")
        if isinstance(image, dict) and "in-tree" in image:
            found.append(image["in-tree"])
    return sorted(set(found))
