# SPDX-License-Identifier: MPL-2.0
"""The worker's program and its command, made by the tree's own code as its tasks carry them."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from io_benchmark.errors import GraphError
from io_benchmark.graph.root import Root, tree_modules


class WorkerScript(Struct, frozen=True):
    """The program as one file."""

    version: str
    workloads: tuple[str, ...]
    data: bytes
    sha256: str
    commands: Mapping[str, str]  # by a task's name, the text that starts the program


def build_worker_script(
    root: Root,
    tasks: Mapping[str, Mapping[str, Any]] | None = None,
    pool: str = "",
    application: str = "",
) -> WorkerScript:
    """Build the file with all workloads that the tree has, and the commands of tasks.

    A task is what kind.yml has, with its defaults. The commands have `pool` for the name of the pool.
    They start the file `application`, or unpack the program from their arguments.
    """
    with tree_modules(root.path) as module:
        worker_program, estimate = module("worker_program"), module("estimate")
        try:
            program = worker_program.WorkerProgram.read()
            commands = {}
            for name, task in (tasks or {}).items():
                benchmark = module("stanza").Benchmark.parse(task.get("benchmark"))
                budget_s = estimate.time_budget_s(task["worker"].get("max-run-time"))
                estimate.check_duration(benchmark, budget_s)
                command = module("task_command")
                commands[name] = str(
                    command.run_command(benchmark, application, pool, budget_s)
                    if application
                    else command.make_command(benchmark, program, pool, budget_s)[2]
                )
        except module("mistakes").BadKeyError as problem:
            raise GraphError(str(problem)) from None
        names = worker_program.workload_names()
        return WorkerScript(program.version, tuple(names), program.data, program.sha256, commands)


def report_command(root: Root, stanza: Any, pools: Sequence[str]) -> str:
    """Return the shell's command that compares the results of pools in one task group."""
    with tree_modules(root.path) as module:
        try:
            return str(module("report_stanza").ReportSettings.parse(stanza, pools).command())
        except module("mistakes").BadKeyError as problem:
            raise GraphError(str(problem)) from None
