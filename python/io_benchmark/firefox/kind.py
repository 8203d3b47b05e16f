# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Firefox's kind.yml, made from this project's: the same pools and text, with other transforms."""

import copy
import re
from collections.abc import Iterable, Sequence
from typing import Any, Self

import yaml
from msgspec import Struct

from io_benchmark.errors import IoBenchmarkError
from io_benchmark.firefox.checkout import KIND, TRANSFORMS

SOURCE = KIND  # by the same path in both trees
SCRIPT = "scripts/io-benchmark"

# In Firefox's tree, this project's transforms are one module, and Firefox's own replace taskgraph's.
_OWN_TRANSFORMS = re.compile(r"io_benchmark_taskgraph\.transforms\.\w+:transforms")
_OURS_THERE = "gecko_taskgraph.transforms.io_benchmark:transforms"
_TRANSFORMS = {
    "taskgraph.transforms.run:transforms": "gecko_taskgraph.transforms.job:transforms",
    "taskgraph.transforms.task:transforms": "gecko_taskgraph.transforms.task:transforms",
    "io_benchmark_taskgraph.transforms.index:ranks": "gecko_taskgraph.transforms.io_benchmark:ranks",
}
# Firefox's job descriptions have no such key; `run-on-projects` alone decides there.
_DROPPED = "run-on-tasks-for"
# Comments that would be wrong there. Other wording here is copied unchanged.
_COMMENTS = {
    "without these two keys they would run on": "without this key they would run on",
    "taskcluster/docs/kinds.md": TRANSFORMS,
}
_NOTE = """\
# Written by `io-benchmark firefox`. A change, such as a new pool, belongs into
# the same file of https://github.com/mozilla-releng/io-benchmark
"""
_LICENCE = re.compile(r"(?:#[^\n]*\n)+\n")


class Kind(Struct, frozen=True):
    """This project's kind, with its text as it is for Firefox."""

    text_there: str
    workloads: list[str]  # that any of its tasks measures there
    groups: list[str]  # in the symbols of its tasks
    images: list[str]  # the in-tree images that its tasks run in
    worker_types: dict[str, str]  # of each pool, in the file's order

    @classmethod
    def parse(cls, text: str, workloads: Sequence[str] = ()) -> Self:
        """Read the file's text; `workloads` are measured there besides those that it names."""
        data = yaml.safe_load(text)
        defaults, tasks = data["task-defaults"], data["tasks"]
        named = [
            name
            for task in (defaults, *tasks.values())
            for name in task.get("benchmark", {}).get("workloads", [])
        ]
        symbols = [task["treeherder"]["symbol"] for task in tasks.values()]
        measured = list(dict.fromkeys([*named, *workloads]))
        return cls(
            text_there=_translate(text, [name for name in measured if name not in named]),
            workloads=measured,
            groups=sorted({symbol.partition("(")[0] for symbol in symbols}),
            images=_images(defaults, tasks.values()),
            worker_types={
                name: {**defaults, **task}["worker-type"] for name, task in tasks.items()
            },
        )


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


def _translate(text: str, more_workloads: Sequence[str]) -> str:
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


def _images(defaults: dict[str, Any], tasks: Iterable[dict[str, Any]]) -> list[str]:
    workers = [{**defaults.get("worker", {}), **task.get("worker", {})} for task in ({}, *tasks)]
    images = [worker.get("docker-image") for worker in workers]
    return sorted(
        {image["in-tree"] for image in images if isinstance(image, dict) and "in-tree" in image}
    )
