# SPDX-License-Identifier: MPL-2.0
"""The kind as Firefox's tree has it: this project's pools and report, with commands in place of stanzas.

The program is a fetch, as other benchmarks are there: a file of a release, named with its sha256. With
`is_embedded` it is a file of the tree and every task's command carries it, so that nothing need be released.
"""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from msgspec import Struct
from taskgraph.util.templates import merge

from io_benchmark.errors import IoBenchmarkError
from io_benchmark.graph.root import Root, WorkerScript, build_worker_script, report_command

NAME = "io-benchmark"
FOLDER = f"taskcluster/kinds/{NAME}"
KIND = f"{FOLDER}/kind.yml"  # by the same path in both trees
PROGRAM = f"{FOLDER}/{NAME}.pyz"
TRANSFORMS = "taskcluster/gecko_taskgraph/transforms/io_benchmark.py"
FETCHES = "taskcluster/kinds/fetch/benchmarks.yml"
_POOL_MARK = "@pool@"  # the transforms there put the pool's name here
_STANZA = "benchmark"
_FETCHED = f'"$MOZ_FETCHES_DIR/{NAME}.pyz"'
_FETCH = """\
{name}:
    description: The worker's program of {name} {version}
    attributes: {{fetch-extract: false}}
    fetch:
        type: static-url
        url: https://github.com/mozilla-releng/{name}/releases/download/v{version}/{name}.pyz
        sha256: {sha256}
        size: {size}
"""
# Firefox's job descriptions have no such key; `run-on-projects` alone decides there.
_DROPPED = (_STANZA, "run-on-tasks-for")
_CHAIN = (
    "gecko_taskgraph.transforms.io_benchmark:transforms",
    "gecko_taskgraph.transforms.job:transforms",
    "gecko_taskgraph.transforms.task:transforms",
    "gecko_taskgraph.transforms.io_benchmark:reports",
)
MARK = "io-benchmark firefox"  # in the head of each version's file
_HEAD = """\
# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.

# The same I/O benchmark on every worker pool. Each task is a pool, and results
# use the task's name for the pool. Tasks run only when selected. Written by
# `io-benchmark firefox` of https://github.com/mozilla-releng/io-benchmark
---
"""
_INLINE_LENGTH = 110  # as Python writes it


class FirefoxKind(Struct, frozen=True):
    """What a checkout gets: whole files, and the entry of the fetch."""

    files: Mapping[str, bytes]
    fetch: str  # empty where the program is a file
    worker_types: Mapping[str, str]  # by pool

    @classmethod
    def of(
        cls, root: Root, pools: Mapping[str, str] | None = None, is_embedded: bool = False
    ) -> "FirefoxKind":
        """Make it of a tree.

        `pools` has worker types by name; None means the pools of the tree's kind.
        """
        kind = _load(root, KIND)
        try:
            if pools is not None:
                kind["tasks"] = {name: _pool(name, alias) for name, alias in pools.items()}
            worker_types = {name: task["worker-type"] for name, task in kind["tasks"].items()}
            script = _convert(kind, root, "" if is_embedded else _FETCHED)
        except (KeyError, TypeError, AttributeError):
            raise IoBenchmarkError(
                f"{root.path / KIND}: cannot be read as a kind; run `io-benchmark rehearse --root "
                f"{root.path}` to see why"
            ) from None
        content = _HEAD + yaml.dump(kind, Dumper=_Dumper, sort_keys=False, width=200)
        transforms = _read(root.transforms / "firefox_transforms.py")
        files = {KIND: content.encode(), TRANSFORMS: transforms}
        digest = hashlib.sha256(script.data).hexdigest()
        fetch = _FETCH.format(
            name=NAME, version=script.version, sha256=digest, size=len(script.data)
        )
        return cls(
            files={**files, PROGRAM: script.data} if is_embedded else files,
            fetch="" if is_embedded else fetch,
            worker_types=worker_types,
        )


def _pool(name: str, alias: str) -> dict[str, Any]:
    return {
        "description": f"I/O benchmark on {alias}",
        "worker-type": alias,
        "treeherder": {"symbol": f"IOB({name})"},
    }


def _convert(kind: dict[str, Any], root: Root, application: str) -> WorkerScript:
    """Change the kind to Firefox's form; return the program that its tasks start."""
    defaults, tasks = kind["task-defaults"], kind["tasks"]
    merged = {pool: merge(defaults, task) for pool, task in tasks.items()}
    script = build_worker_script(root, merged, _POOL_MARK, application)
    usual = next(iter(script.commands.values()))
    defaults["run"]["command"] = usual
    if application:
        defaults["fetches"] = {"fetch": [NAME]}
        kind["kind-dependencies"] = ["fetch"]
    for pool, task in tasks.items():
        if script.commands[pool] != usual:
            task.setdefault("run", {})["command"] = script.commands[pool]
    for task in (defaults, *tasks.values()):
        for key in _DROPPED:
            task.pop(key, None)
    kind["transforms"] = list(_CHAIN)
    kind["report"] = _report(root, tasks)
    return script


def _report(root: Root, tasks: Mapping[str, Any]) -> dict[str, Any]:
    """Return the task that compares the pools; it starts the image's program itself, without run-task."""
    report = yaml.safe_load(_read(root.transforms / "defaults" / f"{NAME}-report.yml"))
    text = report_command(root, report["report"], list(tasks))
    report["worker"]["command"] = ["bash", "-ec", text.removeprefix("set -e\n")]
    report["attributes"]["job_try_name"] = NAME
    for key in ("report", "run", "run-on-tasks-for"):
        del report[key]
    # Later than the pools' tasks, which a day ends, may run.
    times = {"requires": "all-resolved", "deadline-after": "2 days"}
    worker_type = next(iter(tasks.values()))["worker-type"]
    return {**report, "worker-type": worker_type, **times}


class _Dumper(yaml.SafeDumper):
    """Writes lists indented, short mappings on a line and text of several lines as a block."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002
        super().increase_indent(flow, False)

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        return True

    def represent_text(self, value: str) -> yaml.ScalarNode:
        return self.represent_scalar("tag:yaml.org,2002:str", value, "|" if "\n" in value else None)

    def represent_short_mapping(self, value: dict[str, Any]) -> yaml.MappingNode:
        is_short = _is_short(value, list(value.values()))
        return self.represent_mapping("tag:yaml.org,2002:map", value, flow_style=is_short)

    def represent_short_list(self, value: list[Any]) -> yaml.SequenceNode:
        is_short = _is_short(value, value)
        return self.represent_sequence("tag:yaml.org,2002:seq", value, flow_style=is_short)


def _is_short(value: object, parts: Sequence[object]) -> bool:
    is_flat = not any(isinstance(part, dict | list) for part in parts)
    return is_flat and len(str(value)) <= _INLINE_LENGTH


_Dumper.add_representer(str, _Dumper.represent_text)
_Dumper.add_representer(dict, _Dumper.represent_short_mapping)
_Dumper.add_representer(list, _Dumper.represent_short_list)


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
