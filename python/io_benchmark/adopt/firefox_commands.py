# SPDX-License-Identifier: MPL-2.0
"""The commands of Firefox's tasks by pool, as texts, and the program that they start.

On Windows a text is words without spaces, which Firefox's transforms make a list of: they would
start bash for a text.
"""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from io_benchmark.adopt.firefox_release import PROGRAM_FILE
from io_benchmark.adopt.worker_aliases import WorkerAliases
from io_benchmark.graph.root import Root

_POOL_MARK = "@pool@"  # the transforms there put the pool's name here
_FETCHED = f'"$MOZ_FETCHES_DIR/{PROGRAM_FILE}"'
_FETCHED_ON_WINDOWS = f"fetches/{PROGRAM_FILE}"
_Benchmarks = Mapping[str, tuple[Any, int]]  # with the time budget in seconds, by pool


class Commands(Struct, frozen=True):
    by_pool: Mapping[str, str]
    program: bytes
    mounted: str | None = None  # the file that pools on Windows mount

    @classmethod
    def of(
        cls, root: Root, tasks: Mapping[str, Any], aliases: WorkerAliases, is_embedded: bool
    ) -> "Commands":
        """Return the commands of tasks, which have the kind's defaults."""
        with root.modules() as module:
            checked, engines = module("transforms.benchmark"), module("engines")
            benchmarks = {}
            for pool, task in tasks.items():
                benchmark, budget_s = checked.checked_benchmark(task)
                runs_windows = aliases.run_windows(task["worker-type"])
                engine = engines.WINDOWS if runs_windows else engines.DOCKER
                benchmarks[pool] = benchmark.on(engine), budget_s
            return _embedded(module, benchmarks) if is_embedded else _fetched(module, benchmarks)


def _fetched(module: Callable[[str], Any], benchmarks: _Benchmarks) -> Commands:
    command, line = module("transforms.command"), module("transforms.windows_line")
    by_pool = {}
    for pool, (benchmark, budget_s) in benchmarks.items():
        if benchmark.engine.runs_windows:
            words = command.run_words(benchmark, _POOL_MARK, budget_s)
            by_pool[pool] = " ".join([*line.PYTHON, _FETCHED_ON_WINDOWS, *words])
        else:
            by_pool[pool] = command.run_command(benchmark, _FETCHED, _POOL_MARK, budget_s)
    return Commands(by_pool, module("worker_program").WorkerProgram.read().file())


def _embedded(module: Callable[[str], Any], benchmarks: _Benchmarks) -> Commands:
    command, program = module("transforms.command"), module("worker_program").WorkerProgram.read()
    names: dict[str, set[str]] = {"linux": set()}
    for benchmark, _ in benchmarks.values():
        names.setdefault(benchmark.engine.system, set()).update(benchmark.workloads)
    programs = {
        system: program.embedded("bench", sorted(workloads), system)
        for system, workloads in names.items()
    }
    by_pool, mounted = {}, None
    for pool, (benchmark, budget_s) in benchmarks.items():
        of_system = programs[benchmark.engine.system]
        words = command.make_command(benchmark, of_system, _POOL_MARK, budget_s)
        if benchmark.engine.runs_windows:
            by_pool[pool], mounted = " ".join(words), of_system.starting("run")
        else:
            by_pool[pool] = words[2]
    return Commands(by_pool, programs["linux"].data, mounted)
