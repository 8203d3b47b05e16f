# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The shell command of a task: write the script's modules by heredoc, then run them.

One argument holds less than all modules together, so that each module comes in an argument of its
own. docker-worker and d2g hand a command's arguments on as they are, to run-task and by it to bash.
"""

import posixpath
import shlex
from collections.abc import Sequence

from io_benchmark_taskgraph.mistakes import BadKeyError
from io_benchmark_taskgraph.script import END_MARK, KEY, Module
from io_benchmark_taskgraph.stanza import (
    ARTIFACTS_PATH,
    SCRIPT_PATH,
    WORKSPACE,
    Benchmark,
    Place,
)

# Linux's MAX_ARG_STRLEN, 32 pages, less the zero byte at the end. Nothing on the way to a worker
# checks it: a longer argument fails there, "argument list too long".
MAX_ARGUMENT_BYTES = 131_071
# Linux takes 2 MiB of arguments and environment together (a quarter of the stack's usual limit).
MAX_COMMAND_BYTES = 1_900_000
# bash, its own small script, the name it goes by in messages; the parts of the command come after.
RUN_EACH_PART = ("bash", "-ec", 'for part do eval "$part"; done', "io-benchmark")


def _from_environment(variable: str, default: str) -> str:
    """A path that a rehearsal or a test may set; `default` was checked to need no quoting."""
    return f'"${{{variable}:-{default}}}"'


def _place(place: Place) -> str:
    if place == WORKSPACE:
        variable = "IO_BENCHMARK_WORKSPACE"
    else:
        variable = "IO_BENCHMARK_PLACE_" + place.name.upper().replace("-", "_")
    return f"{place.name}={_from_environment(variable, place.path)}"


def _arguments(benchmark: Benchmark, pool: str, time_budget_s: int) -> list[str]:
    """The script's arguments, quoted; a list for each line of the command."""
    quote = shlex.quote
    measured = [f"--pool {quote(pool)}"]
    measured += [f"--workload {quote(workload)}" for workload in benchmark.workloads]
    measured += [f"--retrieves {benchmark.retrieves}", f"--seed {benchmark.seed}"]
    measured += [f"--destination {quote(item)}" for item in benchmark.destinations]
    measured += [f"--fidelity {quote(benchmark.fidelity)}"]
    if benchmark.precision:
        measured += [f"--precision {quote(benchmark.precision)}"]
    if benchmark.upload_url:
        measured += [f"--upload-url {quote(benchmark.upload_url)}"]
    measured += [f"--time-budget {time_budget_s}"]
    places = [f"--place {_place(place)}" for place in benchmark.places]
    artifacts = (
        f"--artifacts {_from_environment('IO_BENCHMARK_ARTIFACTS', ARTIFACTS_PATH)}"
    )
    profile = f"--profile {_from_environment('IO_BENCHMARK_PROFILE', 'full')}"
    perfherder = f"--perfherder {_from_environment('IO_BENCHMARK_PERFHERDER', benchmark.perfherder)}"
    return [" ".join(measured), *places, f"{artifacts} {profile} {perfherder}"]


def _in_script_folder(path: str) -> str:
    """Quoted; a module's path holds letters, digits, underscores and slashes alone."""
    return f'"$script_dir/{path}"' if path else '"$script_dir"'


def _write(module: Module) -> str:
    return f"cat > {_in_script_folder(module.path)} << '{END_MARK}'\n{module.text}{END_MARK}\n"


def build(
    benchmark: Benchmark, modules: Sequence[Module], pool: str, time_budget_s: int
) -> list[str]:
    """What run-task starts: bash, and after it a part of the shell command in each argument.

    The first part makes the folders, then each module is a part of its own, the last one starts
    the script. Only that one is traced: a trace of the others would put every module into the log
    once more.
    """
    folders = sorted({posixpath.dirname(module.path) for module in modules})
    first = [
        f"script_dir={_from_environment('IO_BENCHMARK_SCRIPT_DIR', SCRIPT_PATH)}",
        "mkdir -p " + " ".join(_in_script_folder(folder) for folder in folders),
    ]
    start = 'exec python3 -u -B "$script_dir"'
    last = [
        "set -x",
        " \\\n  ".join([start, *_arguments(benchmark, pool, time_budget_s)]),
    ]
    parts = ["\n".join(first) + "\n"]
    parts += [_write(module) for module in modules]
    parts += ["\n".join(last) + "\n"]
    _check_sizes(parts, benchmark.script, modules)
    return [*RUN_EACH_PART, *parts]


def _check_sizes(parts: Sequence[str], script: str, modules: Sequence[Module]) -> None:
    """Refuse here what fails on a worker only, with words that do not name the reason."""
    for module, part in zip(modules, parts[1:-1]):
        size_bytes = len(part.encode("utf-8"))
        if size_bytes > MAX_ARGUMENT_BYTES:
            raise BadKeyError(
                KEY,
                f"{script}/{module.path} makes an argument of {size_bytes:,} bytes and one may "
                f"hold {MAX_ARGUMENT_BYTES:,}; split it into smaller modules",
            )
    whole_bytes = sum(len(part.encode("utf-8")) + 1 for part in parts)
    if whole_bytes <= MAX_COMMAND_BYTES:
        return
    largest = sorted(modules, key=lambda module: module.size_bytes, reverse=True)[:3]
    named = ", ".join(
        f"{script}/{module.path} {module.size_bytes:,}" for module in largest
    )
    raise BadKeyError(
        KEY,
        f"the command would hold {whole_bytes:,} bytes and all arguments together may hold "
        f"{MAX_COMMAND_BYTES:,}; shorten the largest modules (bytes: {named}) or name fewer "
        "workloads",
    )
