# SPDX-License-Identifier: MPL-2.0
"""The kind as Firefox's tree has it: this project's pools and report, with commands, not stanzas.

Programs are fetches, as other benchmarks are there: files of a release, named with their sha256.
With `is_embedded` the worker's program is a file of the tree and every task's command carries it.
Then nothing need be released, and there is no report, which needs a release.
"""

import bz2
import io
import re
import tarfile
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import yaml
from msgspec import Struct
from taskgraph.util.templates import merge

from io_benchmark import __version__
from io_benchmark.adopt.changes import Tree
from io_benchmark.command_lines import rehearse
from io_benchmark.errors import IoBenchmarkError
from io_benchmark.graph.root import BUNDLE, Root

NAME = "io-benchmark"
FOLDER = f"taskcluster/kinds/{NAME}"
KIND = f"{FOLDER}/kind.yml"  # by the same path in both trees
PROGRAM = f"{FOLDER}/{NAME}.pyz"
TRANSFORMS = "taskcluster/gecko_taskgraph/transforms/io_benchmark.py"
FETCHES = "taskcluster/kinds/fetch/benchmarks.yml"
_POOL_MARK = "@pool@"  # the transforms there put the pool's name here
_FETCHED = f'"$MOZ_FETCHES_DIR/{NAME}.pyz"'
_REPORT, _LIBRARIES = f"{NAME}-report", f"{NAME}-libraries"
# Both are unpacked there.
_REPORT_PYTHON = 'env PYTHONPATH="$MOZ_FETCHES_DIR:$MOZ_FETCHES_DIR/libraries" python3.11'
_FETCH = """\
{name}:
    description: {description}, {project} {version}
{attributes}    fetch:
        type: static-url
        url: https://github.com/mozilla-releng/{project}/releases/download/v{version}/{file}
        sha256: {sha256}
        size: {size}
"""
# Firefox's job descriptions have no such key; `run-on-projects` alone decides there.
_DROPPED = ("benchmark", "run-on-tasks-for")
# The archive of the libraries that the report's program imports; `tox -e lock` writes these lines.
LIBRARIES_SHA256 = "52d3454f2e6d6d7f25b4d526b13e98699319db907d1530aca8b3d71982404273"
LIBRARIES_BYTES = 20_769_513
_PACKAGE = Path(__file__).resolve().parent.parent
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
    """What a checkout gets: whole files, and the entry of the fetch."""

    files: Mapping[str, bytes]
    fetches: str  # entries; empty where the program is a file
    worker_types: Mapping[str, str]  # by pool

    @classmethod
    def of(cls, root: Root, pools: Mapping[str, str], is_embedded: bool = False) -> "FirefoxKind":
        """Return the kind with these pools, worker types by name, or with the tree's where none."""
        tree = Tree(root.path)
        try:
            kind = tree.yaml(KIND)
            if pools:
                kind["tasks"] = {
                    name: {
                        "description": f"I/O benchmark on {alias}",
                        "worker-type": alias,
                        "treeherder": {"symbol": f"IOB({name})"},
                    }
                    for name, alias in pools.items()
                }
            worker_types = {name: task["worker-type"] for name, task in kind["tasks"].items()}
            program = _convert(kind, root, is_embedded)
        except (KeyError, TypeError, AttributeError, StopIteration):
            advice = f"run `{rehearse(root.path)}` to see why"
            message = f"{root.path / KIND}: cannot be read as a kind; {advice}"
            raise IoBenchmarkError(message) from None
        text = yaml.dump(kind, Dumper=_Dumper, sort_keys=False, width=120, default_flow_style=None)
        files = {KIND: f"{_HEAD}{text}".encode(), TRANSFORMS: _transforms(root, is_embedded)}
        if is_embedded:
            return cls({**files, PROGRAM: program}, "", worker_types)
        return cls(files, _fetches(program), worker_types)


def _transforms(root: Root, is_embedded: bool) -> bytes:
    """Return the lines for this form: the others end with the other form's name as a comment."""
    dropped, kept = ("fetched", "embedded") if is_embedded else ("embedded", "fetched")
    text = Tree(root.transforms).text("firefox_transforms.py")
    text = re.sub(rf"^.*  # {dropped}\n", "", text, flags=re.MULTILINE)
    return text.replace(f"  # {kept}\n", "\n").encode()


def _fetches(program: bytes) -> str:
    """Return the entries of a release's files: what measures, what compares, and its libraries."""
    report = report_program()
    files = [
        (NAME, ".pyz", "The worker's program", sha256(program).hexdigest(), len(program)),
        (_LIBRARIES, ".tar.bz2", "Libraries of the report", LIBRARIES_SHA256, LIBRARIES_BYTES),
        (_REPORT, ".tar.bz2", "What compares pools", sha256(report).hexdigest(), len(report)),
    ]
    return "\n".join(
        _FETCH.format(
            name=name,
            description=description,
            attributes="    attributes: {fetch-extract: false}\n" if suffix == ".pyz" else "",
            project=NAME,
            version=__version__,
            file=f"{name}{suffix}",
            sha256=digest,
            size=size,
        )
        for name, suffix, description, digest, size in files
    )


def _convert(kind: dict[str, Any], root: Root, is_embedded: bool) -> bytes:
    """Change the kind to Firefox's form; return the program that its tasks start."""
    defaults, tasks = kind["task-defaults"], kind["tasks"]
    merged = {pool: merge(defaults, task) for pool, task in tasks.items()}
    program, commands = _commands(root, merged, is_embedded)
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
        kind["report"] = _report(root, defaults, tasks)
    return program


def _commands(
    root: Root, tasks: Mapping[str, Any], is_embedded: bool
) -> tuple[bytes, dict[str, str]]:
    """Return the program, and the texts that start it by task; tasks have the kind's defaults."""
    with root.modules() as module:
        command, checked = module("transforms.command"), module("transforms.benchmark")
        program = module("worker_program").WorkerProgram.read()
        benchmarks = {name: checked.checked_benchmark(task) for name, task in tasks.items()}
        if not is_embedded:
            return program.file(), {
                name: command.run_command(benchmark, _FETCHED, _POOL_MARK, budget_s)
                for name, (benchmark, budget_s) in benchmarks.items()
            }
        measured = {name for benchmark, _ in benchmarks.values() for name in benchmark.workloads}
        embedded = program.embedded("bench", sorted(measured))
        return embedded.data, {
            name: command.make_command(benchmark, embedded, _POOL_MARK, budget_s)[2]
            for name, (benchmark, budget_s) in benchmarks.items()
        }


def _report(root: Root, defaults: Mapping[str, Any], tasks: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the task that compares the pools has beside the defaults, on the first pool."""
    report = Tree(root.transforms).yaml(f"defaults/{NAME}-report.yml")
    first = merge(defaults, next(iter(tasks.values())))
    with root.modules() as module:
        of_report = module("transforms.report")
        settings = of_report.checked_stanza(report.pop("report"), list(tasks))
        command = of_report.report_command(settings, _REPORT_PYTHON)
    report["run"]["command"] = command.removeprefix("set -e\n")
    report["worker"]["docker-image"] = first["worker"]["docker-image"]
    report["attributes"]["job_try_name"] = NAME
    report |= {
        "worker-type": first["worker-type"],
        "requires": "all-resolved",
        "fetches": {"fetch": [_LIBRARIES, _REPORT]},
    }
    changed = {key: value for key, value in report.items() if value != defaults.get(key)}
    return {key: value for key, value in changed.items() if key not in _DROPPED}


class _Dumper(yaml.SafeDumper):
    """Writes lists indented, and text of several lines as a block."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002
        super().increase_indent(flow, False)

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        return True

    def represent_text(self, value: str) -> yaml.ScalarNode:
        return self.represent_scalar("tag:yaml.org,2002:str", value, "|" if "\n" in value else None)

    def represent_dict(self, data: Any) -> yaml.MappingNode:
        node = super().represent_dict(data)
        are_flat = not any(isinstance(part, dict) for part in data.values())
        node.flow_style = are_flat and len(str(data)) <= 110  # as Python writes it
        return node


_Dumper.add_representer(str, _Dumper.represent_text)
_Dumper.add_representer(dict, _Dumper.represent_dict)


def report_program() -> bytes:
    """Return this program as one file of a release: the same modules give the same bytes."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for path in sorted(_PACKAGE.rglob("*"), key=Path.as_posix):
            # An installation has a copy of this project's kinds in its bundle.
            if path.suffix in (".py", ".css") and BUNDLE not in path.parents:
                content = path.read_bytes()
                # Midnight on the first day of 1970, mode 644.
                entry = tarfile.TarInfo(path.relative_to(_PACKAGE.parent).as_posix())
                entry.size = len(content)
                tar.addfile(entry, io.BytesIO(content))
    return bz2.compress(file.getvalue())
