# SPDX-License-Identifier: MPL-2.0
"""The kind as Firefox's tree has it: this project's pools, with the command in place of the stanza."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from msgspec import Struct
from taskgraph.util.templates import merge

from io_benchmark.errors import IoBenchmarkError
from io_benchmark.graph.root import Root
from io_benchmark.graph.worker_script import build_worker_script

NAME = "io-benchmark"
FOLDER = f"taskcluster/kinds/{NAME}"
KIND = f"{FOLDER}/kind.yml"  # by the same path in both trees
PROGRAM = f"{FOLDER}/io-benchmark.pyz"
TRANSFORMS = "taskcluster/gecko_taskgraph/transforms/io_benchmark.py"
_CONFIG = "taskcluster/config.yml"
_POOL_MARK = "@pool@"  # the transforms there put the pool's name here
_STANZA = "benchmark"
# Firefox's job descriptions have no such key; `run-on-projects` alone decides there.
_DROPPED = (_STANZA, "run-on-tasks-for")
_CHAIN = (
    "gecko_taskgraph.transforms.io_benchmark:transforms",
    "gecko_taskgraph.transforms.job:transforms",
    "gecko_taskgraph.transforms.task:transforms",
    "gecko_taskgraph.transforms.io_benchmark:ranks",
)
_HEAD = """\
# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.

# The same I/O benchmark on every worker pool. Each task is a pool, and results
# use the task's name for the pool. A new pool is four lines under `tasks`.
# Tasks run only when selected.
# Written by `io-benchmark firefox` of
# https://github.com/mozilla-releng/io-benchmark: change it there.
---
"""


class FirefoxKind(Struct, frozen=True):
    """What a checkout gets: whole files by path, and the group of the tasks' symbols."""

    files: Mapping[str, bytes]
    group: str
    group_name: str

    @classmethod
    def of(cls, root: Root, workloads: Sequence[str] = ()) -> "FirefoxKind":
        """Make it of a tree; `workloads` are measured there besides those of the kind."""
        kind = _load(root, KIND)
        try:
            symbols = [task["treeherder"]["symbol"] for task in kind["tasks"].values()]
            groups = {symbol.partition("(")[0] for symbol in symbols}
            program = _convert(kind, root, workloads)
            names = _load(root, _CONFIG)["treeherder"]["group-names"]
        except (KeyError, TypeError, AttributeError):
            raise IoBenchmarkError(
                f"{root.path / KIND}: cannot be read as a kind; run `io-benchmark rehearse --root "
                f"{root.path}` to see why"
            ) from None
        if len(groups) != 1 or not groups <= set(names):
            raise IoBenchmarkError(
                f"{root.path / KIND}: the groups of its symbols are {', '.join(sorted(groups))}; give "
                f"all tasks one group that treeherder.group-names of {_CONFIG} has"
            )
        (group,) = groups
        content = _HEAD + yaml.dump(kind, Dumper=_Dumper, sort_keys=False, width=200)
        files = {
            KIND: content.encode(),
            PROGRAM: program,
            TRANSFORMS: _read(root.transforms / "firefox_transforms.py"),
        }
        return cls(files, group, names[group])


def _convert(kind: dict[str, Any], root: Root, workloads: Sequence[str]) -> bytes:
    """Change the kind to Firefox's form; return the program that its tasks start."""
    defaults, tasks = kind["task-defaults"], kind["tasks"]
    merged = {pool: merge(defaults, task) for pool, task in tasks.items()}
    for task in merged.values():
        measured = task[_STANZA]["workloads"]
        task[_STANZA]["workloads"] = list(dict.fromkeys([*measured, *workloads]))
    script = build_worker_script(root, merged, _POOL_MARK)
    usual = next(iter(script.commands.values()))
    defaults["run"]["command"] = usual
    for pool, task in tasks.items():
        if script.commands[pool] != usual:
            task.setdefault("run", {})["command"] = script.commands[pool]
    for task in (defaults, *tasks.values()):
        for key in _DROPPED:
            task.pop(key, None)
    kind["transforms"] = list(_CHAIN)
    return script.data


class _Dumper(yaml.SafeDumper):
    """Writes lists indented and text of several lines as a block, as people write YAML."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002
        super().increase_indent(flow, False)

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        return True


def _represent(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    style = "|" if "\n" in value else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _represent)


def _load(root: Root, path: str) -> Any:
    try:
        return yaml.safe_load(_read(root.path / path))
    except yaml.YAMLError as error:
        problem = " ".join(str(error).split())
        raise IoBenchmarkError(f"{root.path / path}: is not YAML ({problem}); correct it") from None


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise IoBenchmarkError(
            f"{path}: {error.strerror}; name a complete tree with --root"
        ) from None
