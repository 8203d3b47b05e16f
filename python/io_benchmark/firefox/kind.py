# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Firefox's kind.yml, made from this project's: the same pools, the same text, other transforms."""

import re
from typing import Any

import yaml

from io_benchmark.errors import IoBenchmarkError

NAME = "io-benchmark"
SOURCE = f"taskcluster/kinds/{NAME}/kind.yml"
SCRIPT = "scripts/io-benchmark"
SCRIPT_THERE = "taskcluster/scripts/misc/io-benchmark"

# taskgraph's own, and what stands for them there.
_TRANSFORMS = {
    "taskgraph.transforms.run:transforms": "gecko_taskgraph.transforms.job:transforms",
    "taskgraph.transforms.task:transforms": "gecko_taskgraph.transforms.task:transforms",
}
# Firefox's job descriptions have no such key; `run-on-projects` alone decides there.
_DROPPED = "run-on-tasks-for"
# Comments that would be wrong there. Where they change here, nothing breaks.
_COMMENTS = {
    "without these two it would run on every push": "without this it would run on every push",
    "taskcluster/docs/kinds.md": "taskcluster/io_benchmark_taskgraph/stanza.py",
}
_NOTE = """\
# Written by `io-benchmark firefox`: a change, such as a new pool, belongs into the same file of
# https://github.com/mozilla-releng/io-benchmark
"""
_LICENCE = re.compile(r"(?:#[^\n]*\n)+\n")


def _data_there(kind: dict[str, Any]) -> dict[str, Any]:
    """What the file must say there, whatever its text looks like."""
    tasks = {name: _task_there(task) for name, task in (kind.get("tasks") or {}).items()}
    there = {**kind, "tasks": tasks}
    there["transforms"] = [_TRANSFORMS.get(path, path) for path in kind["transforms"]]
    there["task-defaults"] = _task_there(kind["task-defaults"])
    return there


def _task_there(task: dict[str, Any]) -> dict[str, Any]:
    there = {key: value for key, value in task.items() if key != _DROPPED}
    if "benchmark" in there:
        there["benchmark"] = dict(there["benchmark"])
        if there["benchmark"].get("script") == SCRIPT:
            there["benchmark"]["script"] = SCRIPT_THERE
    return there


def for_firefox(text: str) -> str:
    """The file's text, edited line by line so that its comments stay."""
    there = text
    for own, theirs in _TRANSFORMS.items():
        there = re.sub(rf"(?m)^( *- ){re.escape(own)}$", rf"\g<1>{theirs}", there)
    there = re.sub(rf"(?m)^( *script: ){re.escape(SCRIPT)}$", rf"\g<1>{SCRIPT_THERE}", there)
    there = re.sub(rf"(?m)^ *{_DROPPED}: \[.*\]\n", "", there)
    for own, theirs in _COMMENTS.items():
        there = re.sub(rf"(?m)^( *#.*){re.escape(own)}", rf"\g<1>{theirs}", there)
    licence = _LICENCE.match(there)
    start = licence.end() if licence else 0
    there = f"{there[:start]}{_NOTE}#\n{there[start:]}"
    if yaml.safe_load(there) != _data_there(yaml.safe_load(text)):
        raise IoBenchmarkError(
            f"{SOURCE}: has a form that is not translated for Firefox; write its transforms one a "
            f"line, its script as `script: {SCRIPT}` and {_DROPPED} on one line, in brackets"
        )
    return there


def worker_types(kind: dict[str, Any]) -> dict[str, str]:
    """By pool, in the file's order."""
    return {
        name: {**kind["task-defaults"], **task}["worker-type"]
        for name, task in kind["tasks"].items()
    }


def images(kind: dict[str, Any]) -> list[str]:
    """The in-tree images that the tasks run in."""
    found = []
    for task in ({}, *kind["tasks"].values()):
        worker = {**kind["task-defaults"].get("worker", {}), **task.get("worker", {})}
        image = worker.get("docker-image")
        if isinstance(image, dict) and "in-tree" in image:
            found.append(image["in-tree"])
    return sorted(set(found))
