# SPDX-License-Identifier: MPL-2.0
"""The aliases of workers in a project's config.yml: each is a name, or a pattern of names.

taskgraph looks a task's `worker-type` up among them. What the alias says decides how a task runs,
not how it is called.
"""

import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Self

from msgspec import Struct
from taskgraph.util.attributes import keymatch

from io_benchmark.adopt.changes import Tree
from io_benchmark.errors import IoBenchmarkError
from io_benchmark_taskgraph.engines import ENGINES, Engine, is_pattern

_SUPPORTED = " or ".join(f"{implementation} on {system}" for implementation, system in ENGINES)


class WorkerAliases(Struct, frozen=True):
    file: Path
    workers: Mapping[str, Any]  # by the name or the pattern

    @classmethod
    def read(cls, tree: Tree, path: str) -> Self:
        try:
            workers = tree.yaml(path)["workers"]["aliases"]
        except (KeyError, TypeError):
            workers = None
        if not isinstance(workers, dict):
            problem = "has no aliases of workers under workers; correct it"
            raise IoBenchmarkError(f"{tree.path / path}: {problem}")
        for name in workers:
            if not isinstance(name, str):
                problem = f"the name {name} in workers.aliases is not text; write it in quotes"
                raise IoBenchmarkError(f"{tree.path / path}: {problem}")
        return cls(tree.path / path, workers)

    def check(self, names: Collection[str]) -> None:
        """Refuse worker types that are no alias, or whose workers cannot run the benchmark."""
        missing = [name for name in names if self.find(name) is None]
        if missing:
            supported = [name for name in self.workers if self.is_supported(name)]
            present = ", ".join(supported) or "none for the benchmark"
            raise IoBenchmarkError(
                f"{self.file}: has no alias {', '.join(missing)}, but {present}; name the pools as "
                "--pool NAME=ALIAS"
            )
        for name in names:
            implementation, system = self._implementation(name)
            if (implementation, system) not in ENGINES:
                raise IoBenchmarkError(
                    f"{self.file}: {name} is {implementation} on {system}, where the benchmark "
                    f"does not run; name a pool of {_SUPPORTED}"
                )

    def has_images(self, name: str) -> bool:
        """Return whether a worker type is an alias whose tasks run in a docker image."""
        engine = self._engine(name)
        return engine is not None and engine.takes_image

    def run_windows(self, name: str) -> bool:
        engine = self._engine(name)
        return engine is not None and engine.runs_windows

    def _engine(self, name: str) -> Engine | None:
        return ENGINES.get(self._implementation(name)) if self.find(name) is not None else None

    def find(self, name: str) -> Any:
        """Return the worker of the alias, as taskgraph finds it; None where there is none."""
        if is_pattern(name):
            problem = f"{name} is a pattern of aliases; name one alias that it matches"
            raise IoBenchmarkError(f"{self.file}: {problem}")
        try:
            found = keymatch(self.workers, name)
        except re.error as error:
            problem = f"a pattern of the aliases is not a regular expression ({error}); correct it"
            raise IoBenchmarkError(f"{self.file}: {problem}") from None
        if len(found) > 1:
            problem = f"{len(found)} patterns match {name}, which taskgraph refuses"
            raise IoBenchmarkError(f"{self.file}: {problem}; name another pool")
        return found[0] if found else None

    def _implementation(self, name: str) -> tuple[str, str]:
        """Return what takes the tasks of an alias, and the operating system that it runs on."""
        worker = self.find(name)
        try:
            return str(worker["implementation"]), str(worker["os"])
        except (KeyError, TypeError):
            problem = f"the alias {name} lacks its implementation or its os; correct it"
            raise IoBenchmarkError(f"{self.file}: {problem}") from None

    def is_supported(self, alias: str) -> bool:
        worker = self.workers[alias]
        if not isinstance(worker, dict):
            return False
        return (worker.get("implementation"), worker.get("os")) in ENGINES
