# SPDX-License-Identifier: MPL-2.0
"""The Python that generates the tasks of a project: one in which what it imports is installed.

That is the project's own environment, where it is known: a folder `.venv` or `venv` in the project,
the one that is activated, or such a folder above the project. Otherwise it is the environment of
this program. Nothing is run to find out: an environment has the version of taskgraph in the name of
a folder.
"""

import os
import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Self

from msgspec import Struct

from io_benchmark.adopt.changes import Tree
from io_benchmark.adopt.projects.draft import Draft
from io_benchmark.adopt.projects.pins import find_taskgraph
from io_benchmark.adopt.projects.requirements import find_lock, source_of
from io_benchmark.errors import IoBenchmarkError
from io_benchmark.graph.root import Root

_FOLDERS = (".venv", "venv")
_TASKGRAPH = re.compile(r"taskcluster_taskgraph-([0-9][0-9a-z.]*)\.dist-info")
_OLDEST_PYTHON = 9  # 3.9, for io_benchmark_taskgraph
# Those that no file of a project has to name: the image of its decision task has them.
_PACKAGES_OF_MODULES = {
    "mozilla_taskgraph": "mozilla-taskgraph",
    "taskcluster": "taskcluster",
    "yaml": "PyYAML",
}


class Environment(Struct, frozen=True):
    python: Path
    folder: Path | None  # None: this program's
    taskgraph: str  # its version; empty where it is not installed
    unusable: tuple[str, ...] = ()  # environments of the project, with the reasons

    def __str__(self) -> str:
        place = self.folder or "io-benchmark's environment"
        others = "".join(f"; not {reason}" for reason in self.unusable)
        return f"taskgraph {self.taskgraph or 'missing'} of {place}{others}"

    @classmethod
    def of(cls, root: Root) -> Self:
        """Return the environment for a tree; that of this project itself is the program's."""
        unusable: list[str] = []
        own = Path(sys.prefix).resolve()
        for folder in [] if root.has_transforms else _folders(root.path):
            versions = _versions(folder)
            if not versions or folder.resolve() == own:
                continue
            minor, taskgraph = max(versions)
            python = folder / "bin/python"
            if minor < _OLDEST_PYTHON:
                unusable.append(f"{folder}, which has Python 3.{minor}")
            elif not os.access(python, os.X_OK):
                unusable.append(f"{folder}, whose bin/python cannot be run")
            else:
                return cls(python, folder, taskgraph, tuple(unusable))
        try:
            taskgraph = metadata.version("taskcluster-taskgraph")
        except metadata.PackageNotFoundError:
            taskgraph = ""
        return cls(Path(sys.executable), None, taskgraph, tuple(unusable))

    def advice(self, project: Path, module: str | None) -> str:
        """Return the end of a message: what to install, because the project's code has failed.

        A module is missing, or this taskgraph is not the project's; otherwise return nothing.
        """
        # A file that cannot be read must not hide the failure.
        with suppress(IoBenchmarkError):
            return self._what_to_install(Tree(project), module)
        return ""

    def _what_to_install(self, tree: Tree, module: str | None) -> str:
        lock = find_lock(Draft(tree))
        requirements = []
        if module is not None and module != "taskgraph":
            requirement = _requirement(f"{tree.text(lock)}\n{tree.text(source_of(lock))}", module)
            if requirement is None:
                return "; it is neither in taskcluster/ nor a package of its requirements"
            requirements.append(requirement)
        pinned = None
        with suppress(IoBenchmarkError):  # two versions, or one that is too old
            pinned = find_taskgraph(tree, (lock, source_of(lock))).version
        is_other = pinned is not None and _major(pinned) != _major(self.taskgraph)
        # The last, because pip installs another one with a package that needs it.
        if is_other:
            requirements.append(f"taskcluster-taskgraph=={pinned}")
        elif module == "taskgraph":
            requirements.append("taskcluster-taskgraph")
        if not requirements:
            return ""
        if self.folder is not None:
            return f"; install {' and '.join(requirements)} in {self.folder}"
        # Without it, pipx does not replace what is installed.
        force = ("--force",) if is_other else ()
        command = shlex.join(("pipx", "inject", *force, "io-benchmark", *requirements))
        return f"; install what the project uses where io-benchmark is, such as by: {command}"


def _requirement(requirements: str, module: str) -> str | None:
    """Return what to install for a module, with the version that the project has.

    A name that only the code has may be a misspelling, and anybody's package.
    """
    package = _PACKAGES_OF_MODULES.get(module, module.replace("_", "-"))
    pattern = "^" + re.escape(package).replace(r"\-", "[-_.]") + r"(?![-_.A-Za-z0-9])(==[0-9.]+)?"
    match = re.search(pattern, requirements, re.MULTILINE | re.IGNORECASE)
    if match:
        return package + (match[1] or "")
    return package if module in _PACKAGES_OF_MODULES else None


def _major(version: str) -> str:
    return version.partition(".")[0]


def _folders(project: Path) -> Iterator[Path]:
    """Yield the places of environments, without those that a stranger may have made."""
    places = [project / name for name in _FOLDERS]
    activated = os.environ.get("VIRTUAL_ENV")
    if activated:
        places.append(Path(activated))
    for folder in project.parents:
        places.extend(folder / name for name in _FOLDERS)
    trusted = (0, os.geteuid(), project.stat().st_uid)
    for place in places:
        with suppress(OSError):
            if place.is_dir() and place.stat().st_uid in trusted:
                yield place


def _versions(folder: Path) -> list[tuple[int, str]]:
    """Return the versions of Python 3 in which an environment has taskgraph, and of that."""
    versions = []
    for file in folder.glob("lib/python3.*/site-packages/*.dist-info"):
        match = _TASKGRAPH.fullmatch(file.name)
        python = re.fullmatch("python3[.]([0-9]{1,3})", file.parent.parent.name)
        if match and python:
            versions.append((int(python[1]), match[1]))
    return versions
