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
    program_sha256: str  # of its modules, as results have it
    commands: Mapping[str, str]  # by a task's name, the text that starts the program


def build_worker_script(
    root: Root,
    tasks: Mapping[str, Mapping[str, Any]] | None = None,
    pool: str = "",
    application: str = "",
) -> WorkerScript:
    """Build the file, and the commands of tasks.

    A task is what kind.yml has, with its defaults. The commands have `pool` for the name of the pool. They start
    the file `application`. Without one they unpack the file from their arguments, and it has what these tasks need.
    """
    with tree_modules(root.path) as module:
        worker_program, stanza = module("worker_program"), module("stanza")
        benchmark_check, command = module("transforms.benchmark"), module("transforms.command")
        try:
            program = worker_program.WorkerProgram.read()
            benchmarks, budgets_s = {}, {}
            for name, task in (tasks or {}).items():
                benchmarks[name] = stanza.Benchmark.parse(task.get("benchmark"))
                budgets_s[name] = benchmark_check.time_budget_s(task["worker"].get("max-run-time"))
                benchmark_check.check_duration(benchmarks[name], budgets_s[name])
        except module("mistakes").BadKeyError as problem:
            raise GraphError(str(problem)) from None
        data = program.file()
        if application or not benchmarks:
            commands = {
                name: command.run_command(benchmark, application, pool, budgets_s[name])
                for name, benchmark in benchmarks.items()
            }
        else:
            measured = {name for each in benchmarks.values() for name in each.workloads}
            embedded = program.embedded("bench", sorted(measured))
            data = embedded.data
            commands = {
                name: command.make_command(benchmark, embedded, pool, budgets_s[name])[2]
                for name, benchmark in benchmarks.items()
            }
        names = worker_program.workload_names()
        return WorkerScript(program.version, tuple(names), data, program.sha256, commands)


def report_command(root: Root, stanza: Any, pools: Sequence[str]) -> str:
    """Return the shell's command that compares the results of pools in one task group."""
    with tree_modules(root.path) as module:
        try:
            return str(module("report_stanza").ReportSettings.parse(stanza, pools).command())
        except module("mistakes").BadKeyError as problem:
            raise GraphError(str(problem)) from None
