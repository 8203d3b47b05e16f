# SPDX-License-Identifier: MPL-2.0
"""A project that uses taskgraph: the kind with its pools, and a line in each of two files.

What its graph configuration says is not asked for: the pools are the aliases of Linux workers, and the image
is the one that the project has.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from io_benchmark import __version__
from io_benchmark.adopt.changes import FileChange, Tree
from io_benchmark.command_lines import install_in_firefox
from io_benchmark.errors import IoBenchmarkError, UsageError
from io_benchmark.paths import resolve_path

CONFIG = "taskcluster/config.yml"
KIND = "taskcluster/kinds/io-benchmark/kind.yml"
REQUIREMENTS = "taskcluster/requirements.in"
REGISTER = "io_benchmark_taskgraph:register"
PACKAGE = "io-benchmark-taskgraph"
# The releases of taskgraph that the package is for.
TASKGRAPH = 24
_PINNED = r"^taskcluster[-_]taskgraph(?:\[.*?\])? *[=~]= *([0-9]+)"
_IMAGES = "taskcluster/kinds/docker-image/kind.yml"
_LOCK = "taskcluster/requirements.txt"
_USUAL_IMAGE = "linux"
_SYMBOL_LENGTH = 25
_KIND_TEXT = """\
---
loader: io_benchmark_taskgraph.loader:with_defaults

transforms:
    - io_benchmark_taskgraph.transforms.kind:pools

task-defaults:
    worker:
        docker-image: {{in-tree: {image}}}

tasks:
{pools}"""
_POOL_TEXT = """\
    {name}:
        description: I/O benchmark on {alias}
        worker-type: {alias}
        treeherder: {{symbol: IOB({symbol})}}
"""


class Project(Tree, frozen=True):
    @classmethod
    def open(cls, path: Path) -> Self:
        root = resolve_path(path, str(path))
        if (root / "taskcluster/gecko_taskgraph").is_dir():
            raise UsageError(f"{path}: is a Firefox checkout; use {install_in_firefox(path)}")
        if not (root / CONFIG).is_file():
            raise UsageError(
                f"{path}: has no {CONFIG}; name a project that uses taskgraph, or make it one with "
                "taskgraph init"
            )
        return cls(root)

    def changes(self, pools: Mapping[str, str] | None, image: str | None) -> list[FileChange]:
        """Return the changes; refuse another kind of this name, and another taskgraph.

        `pools` has aliases of workers by name; None means all of them that run Linux.
        """
        self._check_taskgraph()
        config = self.yaml(CONFIG)
        aliases = self._aliases(config)
        pools = pools or {name: name for name in aliases if re.fullmatch("[A-Za-z0-9._-]+", name)}
        self.check_aliases(CONFIG, pools, aliases)
        tasks = (
            _POOL_TEXT.format(name=name, alias=alias, symbol=name[:_SYMBOL_LENGTH])
            for name, alias in pools.items()
        )
        kind = _KIND_TEXT.format(image=image or self._image(), pools="\n".join(tasks)).encode()
        if self.read(KIND) not in (None, kind):
            raise IoBenchmarkError(
                f"{self.path / KIND}: is there already; edit it, or remove it and try again"
            )
        requirements = self.text(REQUIREMENTS)
        if not re.search(f"^{PACKAGE}\\b", requirements, re.MULTILINE):
            lines = [*requirements.splitlines(), f"{PACKAGE}=={__version__}"]
            requirements = "".join(f"{line.rstrip()}\n" for line in lines)
        registered = self._registered(config)
        return self.changes_to(
            {KIND: kind, REQUIREMENTS: requirements.encode(), CONFIG: registered.encode()}
        )

    def next_steps(self) -> list[str]:
        """Return what a person has to do, because it is in code or made by a tool of the project's."""
        steps = [f"make {_LOCK} again from {REQUIREMENTS}"]
        taskgraph = self.yaml(CONFIG)["taskgraph"]
        for key, function in (
            ("register", "register"),
            ("decision-parameters", "parameters.decision_parameters"),
        ):
            own = taskgraph.get(key, REGISTER)
            if own != REGISTER:
                steps.append(f"call io_benchmark_taskgraph.{function} in {own}, which is {key}")
        if "PIP_REQUIREMENTS" not in self.text(".taskcluster.yml"):
            steps.append(f"install {_LOCK} in the decision task, as first-project.md says")
        return steps

    def _check_taskgraph(self) -> None:
        for path in (REQUIREMENTS, _LOCK):
            pinned = re.search(_PINNED, self.text(path), re.MULTILINE)
            if pinned and int(pinned[1]) != TASKGRAPH:
                raise IoBenchmarkError(
                    f"{self.path / path}: has taskgraph {pinned[1]}, and {PACKAGE} {__version__} "
                    f"needs {TASKGRAPH}; renew it first"
                )

    def _aliases(self, config: Any) -> list[str]:
        """Return the aliases of Linux workers, but those that build images."""
        try:
            return [
                str(name)
                for name, worker in config["workers"]["aliases"].items()
                if worker["os"] == "linux" and not str(name).startswith("images")
            ]
        except (AttributeError, KeyError, TypeError):
            raise IoBenchmarkError(
                f"{self.path / CONFIG}: has no workers.aliases with their os; correct it"
            ) from None

    def _image(self) -> str:
        kind = self.yaml(_IMAGES)
        names = list(kind.get("tasks") or {}) if isinstance(kind, dict) else []
        if len(names) != 1 and _USUAL_IMAGE not in names:
            raise IoBenchmarkError(
                f"{self.path / _IMAGES}: has the images {', '.join(names) or 'none'}; name one with "
                "python3 and bash as --image NAME"
            )
        return _USUAL_IMAGE if _USUAL_IMAGE in names else str(names[0])

    def _registered(self, config: Any) -> str:
        """Return config.yml with the line; another `register` stays, for it is code of the project's."""
        text, settings = self.text(CONFIG), config.get("taskgraph") or {}
        if "register" in settings:
            return text
        return self.with_line(
            CONFIG,
            r"^(['\"]?)taskgraph\1:[^\n]*\n(( *#[^\n]*)?\n)*( +)",
            rf"register: {REGISTER}\n\4",
            {**config, "taskgraph": {**settings, "register": REGISTER}},
            f"the line 'register: {REGISTER}' cannot be added to taskgraph; add it and try again",
        )
