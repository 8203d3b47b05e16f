# SPDX-License-Identifier: MPL-2.0
"""A project that uses taskgraph: the kind with its pools, and a line in each of two files.

What its graph configuration says is not asked for: the pools are the aliases of Linux workers, and
the image is the one that the project has.
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
from io_benchmark.yaml_reader import plain_or_quoted

CONFIG = "taskcluster/config.yml"
KIND = "taskcluster/kinds/io-benchmark/kind.yml"
REQUIREMENTS = "taskcluster/requirements.in"
REGISTER = "io_benchmark_taskgraph:register"
PACKAGE = "io-benchmark-taskgraph"
# The releases of taskgraph that the package is for.
TASKGRAPH = 24
_PINNED = r"^taskcluster[-_]taskgraph(?:\[.*?\])? *[=~]= *([0-9]{1,9})\b"
_IMAGES = "taskcluster/kinds/docker-image/kind.yml"
_LOCK = "taskcluster/requirements.txt"
_USUAL_IMAGE = "linux"
_SYMBOL_LENGTH = 25
# As the kind takes them.
_POOL_NAME = "[A-Za-z0-9][A-Za-z0-9._-]{0,44}"
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
        description: {description}
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

    def changes(self, pools: Mapping[str, str], image: str | None) -> list[FileChange]:
        """Return the changes; refuse another kind of this name, and another taskgraph.

        `pools` has aliases of workers by name; without any, all of them that run Linux.
        """
        self._check_taskgraph()
        config = self.yaml(CONFIG)
        aliases = self._aliases(config)
        pools = pools or {name: name for name in aliases if re.fullmatch(_POOL_NAME, name)}
        self.check_aliases(CONFIG, pools, aliases)
        kind = _kind_text(pools, image or self._image()).encode()
        if self.read(KIND) not in (None, kind):
            raise IoBenchmarkError(
                f"{self.path / KIND}: is there already; edit it, or remove it and try again"
            )
        requirements = self.text(REQUIREMENTS)
        if not re.search(f"^{PACKAGE}\\b", requirements, re.MULTILINE):
            requirements = _with_last_line(requirements, f"{PACKAGE}=={__version__}")
        registered = self._registered(config).encode()
        contents = {KIND: kind, REQUIREMENTS: requirements.encode(), CONFIG: registered}
        return self.changes_to(contents)

    def next_steps(self) -> list[str]:
        """Return what a person has to do: it is in code, or made by a tool of the project's."""
        steps = [f"make {_LOCK} again from {REQUIREMENTS}"]
        settings = self._settings(self.yaml(CONFIG))
        for key, function in (
            ("register", "register"),
            ("decision-parameters", "parameters.decision_parameters"),
        ):
            own = settings.get(key, REGISTER)
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
        aliases = []
        try:
            for name, worker in config["workers"]["aliases"].items():
                if not isinstance(name, str):
                    raise IoBenchmarkError(
                        f"{self.path / CONFIG}: the name {name} in workers.aliases is not text; "
                        "write it in quotes"
                    )
                if worker["os"] == "linux" and not name.startswith("images"):
                    aliases.append(name)
        except (AttributeError, KeyError, TypeError):
            raise IoBenchmarkError(
                f"{self.path / CONFIG}: has no workers.aliases with their os; correct it"
            ) from None
        return aliases

    def _image(self) -> str:
        kind = self.yaml(_IMAGES)
        tasks = kind.get("tasks") if isinstance(kind, dict) else None
        names = [str(name) for name in tasks] if isinstance(tasks, dict) else []
        if _USUAL_IMAGE in names:
            return _USUAL_IMAGE
        if len(names) != 1:
            present = ", ".join(names) or "none"
            raise IoBenchmarkError(
                f"{self.path / _IMAGES}: has the images {present}; name one with python3 and bash "
                "as --image NAME"
            )
        return names[0]

    def _settings(self, config: Any) -> Mapping[str, Any]:
        """Return what config.yml has under `taskgraph`."""
        settings = config.get("taskgraph") or {}
        if isinstance(settings, dict):
            return settings
        raise IoBenchmarkError(f"{self.path / CONFIG}: its taskgraph is not a mapping; correct it")

    def _registered(self, config: Any) -> str:
        """Return config.yml with the line; another `register`, the project's code, stays."""
        settings = self._settings(config)
        if "register" in settings:
            return self.text(CONFIG)
        return self.with_line(
            CONFIG,
            r"^(['\"]?)taskgraph\1:[^\n]*\n(( *#[^\n]*|\r)?\n)*( +)",
            rf"register: {REGISTER}\n\4",
            {**config, "taskgraph": {**settings, "register": REGISTER}},
            f"the line 'register: {REGISTER}' cannot be added to taskgraph; add it and try again",
        )


def _kind_text(pools: Mapping[str, str], image: str) -> str:
    """Return the kind with these pools; names that YAML would take for others are quoted."""
    tasks = (
        _POOL_TEXT.format(
            name=plain_or_quoted(name),
            description=plain_or_quoted(f"I/O benchmark on {alias}"),
            alias=plain_or_quoted(alias),
            symbol=name[:_SYMBOL_LENGTH],
        )
        for name, alias in pools.items()
    )
    return _KIND_TEXT.format(image=plain_or_quoted(image), pools="\n".join(tasks))


def _with_last_line(text: str, line: str) -> str:
    """Return a text with a line at its end, which ends as the text's other lines do."""
    end = "\r\n" if "\r\n" in text else "\n"
    separator = "" if not text or text.endswith("\n") else end
    return f"{text}{separator}{line}{end}"
