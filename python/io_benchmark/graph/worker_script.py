# SPDX-License-Identifier: MPL-2.0
"""The worker's program and its command, made by the tree's own code as its tasks carry them."""

import importlib
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from msgspec import Struct

from io_benchmark.errors import GraphError
from io_benchmark.graph.isolation import tree_modules_only
from io_benchmark.graph.root import Root

FOLDER = "scripts/io-benchmark"
_PACKAGE = "io_benchmark_taskgraph"


class WorkerScript(Struct, frozen=True):
    """The program as one file."""

    version: str
    workloads: tuple[str, ...]
    data: bytes
    sha256: str


def build_worker_script(root: Root) -> WorkerScript:
    """Build the file with all workloads that the tree has."""
    with _tree_package(root) as module:
        worker_program = module("worker_program")
        program = worker_program.WorkerProgram.read(root.path, FOLDER)
        names = worker_program.workload_names(root.path / FOLDER)
        return WorkerScript(program.version, tuple(names), program.data, program.sha256)


def shell_texts(root: Root, tasks: Mapping[str, Mapping[str, Any]], pool: str) -> dict[str, str]:
    """Return by name the text that unpacks and starts the program; `pool` is its pool in all of them.

    A task is what kind.yml has, with its defaults.
    """
    texts = {}
    with _tree_package(root) as module:
        program = module("worker_program").WorkerProgram.read(root.path, FOLDER)
        estimate, task_command = module("estimate"), module("task_command")
        for name, task in tasks.items():
            benchmark = module("stanza").Benchmark.parse(task.get("benchmark"))
            budget_s = estimate.time_budget_s(task["worker"].get("max-run-time"))
            estimate.check_duration(root.path, benchmark, budget_s)
            command = task_command.make_command(benchmark, program, pool, budget_s)
            texts[name] = str(command[2])
    return texts


@contextmanager
def _tree_package(root: Root) -> Iterator[Callable[[str], Any]]:
    """Yield an import of the modules that the tree's transforms use."""

    def module(name: str) -> Any:
        try:
            return importlib.import_module(f"{_PACKAGE}.{name}")
        except (ImportError, SyntaxError) as error:
            raise GraphError(
                f"{root.path}/python/{_PACKAGE} cannot be imported ({error}); name a whole tree "
                "by --root"
            ) from None

    with tree_modules_only():
        sys.path.insert(0, str(root.path / "python"))
        bad_key = module("mistakes").BadKeyError
        try:
            yield module
        except bad_key as problem:
            raise GraphError(str(problem)) from None
