# SPDX-License-Identifier: MPL-2.0
"""Recorded trees of /proc and /sys: what the worker reads from a machine, in one small file.

A head of `name: value` has where the tree is from and what no tree holds; the rest are paths:
`/path: text` is a file, with indented lines below it where it has several, `/path/` is a folder,
`/path -> to` is a link. When it is replayed, the worker's observers see this machine only.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

from checkout import ROOT
from result.files import _describe_task  # type: ignore[import-not-found]
from system.linux import (  # type: ignore[import-not-found]
    host,
    kernel,
    storage,
)

FOLDER = ROOT / "tests" / "fixtures" / "trees"
PLACE_NAME = "workspace"
INDENT = "    "
ENTRY = re.compile(r"(?P<path>/[^ ]*?)( -> (?P<to>.+)|(?P<folder>/)|:( (?P<text>.*))?)")


@dataclass(frozen=True)
class Tree:
    """One place on one machine."""

    head: Mapping[str, Any]
    files: Mapping[str, str] = field(default_factory=dict)
    links: Mapping[str, str] = field(default_factory=dict)
    folders: frozenset[str] = frozenset()

    @property
    def origin(self) -> str:
        return str(self.head["origin"])

    @property
    def place(self) -> str:
        return str(self.head["place"])


# The head's fields: these as text, all others as JSON.
TEXTS = ("origin", "place")
HEAD = (
    *TEXTS,
    "uname",
    "cpus",
    "user_id",
    "environment",
    "tools",
    "first_touch_ns_per_mib",
    "resolved",
    "statvfs",
)


def names() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.tree"))


def load(name: str) -> Tree:
    return parse((FOLDER / f"{name}.tree").read_text(encoding="utf-8"))


def parse(text: str) -> Tree:
    head: dict[str, Any] = {}
    files: dict[str, str] = {}
    links: dict[str, str] = {}
    folders = set()
    last = ""
    for line in text.splitlines():
        if line.startswith(INDENT):
            files[last] += line.removeprefix(INDENT) + "\n"
        elif (entry := ENTRY.fullmatch(line)) is None:
            name, _, value = line.partition(": ")
            assert name in HEAD, f"not a line of a tree: {line}"
            head[name] = value if name in TEXTS else json.loads(value)
        elif entry["to"]:
            links[entry["path"]] = entry["to"]
        elif entry["folder"]:
            folders.add(entry["path"])
        else:
            last = entry["path"]
            files[last] = f"{entry['text']}\n" if entry["text"] else ""
    assert set(head) == set(HEAD), f"missing: {set(HEAD) - set(head)}"
    return Tree(head, files, links, frozenset(folders))


def _write_files(tree: Tree, root: Path) -> None:
    for folder in tree.folders:
        (root / folder.lstrip("/")).mkdir(parents=True, exist_ok=True)
    for path, content in tree.files.items():
        target = root / path.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(content, encoding="utf-8")
    for path, to in tree.links.items():
        target = root / path.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(to)


@contextmanager
def _as_this_machine(tree: Tree, root: Path) -> Iterator[None]:
    """Replace this machine with the tree, and probes with the values in its head."""
    head = tree.head
    real_path = os.path.realpath

    def resolved(path: str) -> str:
        return real_path(path) if path.startswith(str(root)) else head["resolved"].get(path, path)

    def blocks(_path: str) -> SimpleNamespace:
        sizes = head["statvfs"]
        return SimpleNamespace(
            f_frsize=1, f_blocks=sizes["size_bytes"], f_bavail=sizes["free_bytes"]
        )

    replacements = {
        (kernel, "ROOT"): str(root),
        (os.path, "realpath"): resolved,
        (os, "statvfs"): blocks,
        (os, "sched_getaffinity"): lambda _pid: set(range(head["cpus"]["allowed"])),
        (os, "cpu_count"): lambda: head["cpus"]["online"],
        (os, "geteuid"): lambda: head["user_id"],
        (os, "uname"): lambda: SimpleNamespace(**head["uname"]),
        (host, "tool_versions"): lambda *_: head["tools"],
        (host, "touch_new_memory"): lambda *_: head["first_touch_ns_per_mib"],
    }
    with ExitStack() as stack:
        for (module, name), value in replacements.items():
            stack.enter_context(mock.patch.object(module, name, value))
        stack.enter_context(mock.patch.dict(os.environ, head["environment"]))
        yield


def observe(tree: Tree, root: Path, pool: str = "") -> dict[str, Any]:
    """Return what the worker's observers report about this machine; `root` is an empty folder."""
    _write_files(tree, root)
    with _as_this_machine(tree, root):
        return observed(tree.place, pool)


def observed(place: str, pool: str = "") -> dict[str, Any]:
    """Return the parts of a result document that describe where it was measured."""
    return {
        "task": _describe_task(pool, None),
        "host": host.observe(),
        "storage": {"places": [storage.observe(PLACE_NAME, place)]},
        "limits": host.observe_limits(),
    }
