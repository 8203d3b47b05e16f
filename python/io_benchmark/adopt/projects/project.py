# SPDX-License-Identifier: MPL-2.0
"""A project that uses taskgraph: the kind with its pools, and what else the project needs for it.

What its files say is not asked for: the pools are the aliases of workers, and the image is
the one that their tasks run in.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self

from msgspec import Struct

from io_benchmark.adopt.changes import FileChange, Tree
from io_benchmark.adopt.projects.draft import Draft
from io_benchmark.adopt.projects.functions import DECISION_PARAMETERS, REGISTER, add_call
from io_benchmark.adopt.projects.images import choose_image, describe_image
from io_benchmark.adopt.projects.pins import find_taskgraph
from io_benchmark.adopt.projects.pools import CONFIG, Pools, choose_pools
from io_benchmark.adopt.projects.requirements import add_requirement, find_lock, source_of
from io_benchmark.command_lines import install_in_firefox
from io_benchmark.errors import IoBenchmarkError, UsageError
from io_benchmark.paths import resolve_path
from io_benchmark.yaml_reader import plain_or_quoted
from io_benchmark_taskgraph.names import POOL_SYMBOL_LENGTH

KIND = "taskcluster/kinds/io-benchmark/kind.yml"
REGISTER_FUNCTION = "io_benchmark_taskgraph:register"
_TREEHERDER = "treeherder"
_KIND_TEXT = """\
---
loader: io_benchmark_taskgraph.loader:with_defaults

transforms:
    - io_benchmark_taskgraph.transforms.kind:pools

task-defaults:
    benchmark: {{workloads: [unpack, download]}}
{defaults}
tasks:
{pools}"""
_IMAGE_TEXT = """\
    worker:
        docker-image: {{in-tree: {image}}}
"""
_REPORT_TEXT = """\

report:
    worker-type: {alias}
"""
_POOL_TEXT = """\
    {name}:
        description: {description}
        worker-type: {alias}
"""
_SYMBOL_TEXT = """\
        treeherder: {{symbol: IOB({symbol})}}
"""


class Proposal(Struct, frozen=True):
    changes: list[FileChange]
    notes: list[str]  # what a person has to know
    steps: list[str]  # what a person has to do: a tool of the project's makes it, or it is in code


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

    def propose(self, pools: Mapping[str, str], image: str | None) -> Proposal:
        """Return what to change; refuse another kind of this name, and a taskgraph that is too old.

        `pools` has aliases of workers by name; without any, all of them that can run it.
        """
        draft = Draft(self)
        lock = find_lock(draft)
        taskgraph = find_taskgraph(self, (lock, source_of(lock)))
        config = self.yaml(CONFIG)
        chosen = choose_pools(self, pools)
        if taskgraph.note is not None:
            draft.notes.append(taskgraph.note)
        draft.notes += chosen.notes
        has_treeherder = _TREEHERDER in config
        chosen_image = None
        if chosen.have_images or image is not None:
            chosen_image = choose_image(draft, chosen.aliases.values(), image)
            describe_image(draft, chosen_image, has_treeherder)
        kind = _kind_text(chosen, chosen_image, has_treeherder)
        existing = self.read(KIND)
        is_replaced = bool(pools or image) and self._is_unchanged(has_treeherder)
        if existing not in (None, kind.encode()) and not is_replaced:
            raise IoBenchmarkError(
                f"{self.path / KIND}: is there already; edit it, or remove it and try again"
            )
        draft.texts[KIND] = kind
        add_requirement(draft, taskgraph.version)
        self._add_functions(draft, config)
        contents = {path: text.encode() for path, text in draft.texts.items()}
        return Proposal(self.changes_to(contents), draft.notes, draft.steps)

    def _is_unchanged(self, has_treeherder: bool) -> bool:
        """Return whether the kind is as this command wrote it, with whatever pools and image."""
        kind = self.yaml(KIND)
        try:
            aliases = {name: task["worker-type"] for name, task in kind["tasks"].items()}
            image = kind["task-defaults"]["worker"]["docker-image"]["in-tree"]
            return self.text(KIND) == _kind_text(Pools(aliases, []), image, has_treeherder)
        except (AttributeError, KeyError, TypeError):
            return False

    def _add_functions(self, draft: Draft, config: Any) -> None:
        """Register the package, in the project's functions where it has them.

        Without a function for decision parameters, `register` sets the package's.
        """
        settings = config.get("taskgraph") or {}
        if not isinstance(settings, dict):
            raise IoBenchmarkError(
                f"{self.path / CONFIG}: its taskgraph is not a mapping; correct it"
            )
        if DECISION_PARAMETERS.key in settings:
            add_call(draft, DECISION_PARAMETERS, settings[DECISION_PARAMETERS.key])
        if "register" not in settings:
            draft.texts[CONFIG] = self.with_line(
                CONFIG,
                r"^(['\"]?)taskgraph\1:[^\n]*\n(( *#[^\n]*|\r)?\n)*( +)",
                rf"register: {REGISTER_FUNCTION}\n\4",
                {**config, "taskgraph": {**settings, "register": REGISTER_FUNCTION}},
                f"the line 'register: {REGISTER_FUNCTION}' cannot be added to taskgraph; add it "
                "and try again",
            )
        elif settings["register"] != REGISTER_FUNCTION:
            add_call(draft, REGISTER, settings["register"])


def _kind_text(pools: Pools, image: str | None, has_treeherder: bool) -> str:
    """Return the kind with these pools; names that YAML would take for others are quoted."""
    tasks = []
    for symbol, (name, alias) in zip(_symbols(pools.aliases), pools.aliases.items(), strict=True):
        description = plain_or_quoted(f"I/O benchmark on {alias}")
        task = _POOL_TEXT.format(
            name=plain_or_quoted(name), description=description, alias=plain_or_quoted(alias)
        )
        tasks.append(task + (_SYMBOL_TEXT.format(symbol=symbol) if has_treeherder else ""))
    defaults = "" if image is None else _IMAGE_TEXT.format(image=plain_or_quoted(image))
    if pools.report_alias is not None:
        defaults += _REPORT_TEXT.format(alias=plain_or_quoted(pools.report_alias))
    return _KIND_TEXT.format(defaults=defaults, pools="\n".join(tasks))


def _symbols(names: Mapping[str, str]) -> Iterator[str]:
    """Yield a symbol for each pool; one that is cut has a number, because two may begin alike."""
    for number, name in enumerate(names, 1):
        end = f"-{number}"
        is_short = len(name) <= POOL_SYMBOL_LENGTH
        yield name if is_short else f"{name[: POOL_SYMBOL_LENGTH - len(end)]}{end}"
