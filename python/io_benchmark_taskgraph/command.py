# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The shell command of a task: write the script's modules by heredoc, then run them."""

import posixpath
import shlex
from collections.abc import Sequence

from io_benchmark_taskgraph.mistakes import BadKeyError
from io_benchmark_taskgraph.script import END_MARK, KEY, Module
from io_benchmark_taskgraph.stanza import ARTIFACTS_PATH, SCRIPT_PATH, WORKSPACE, Benchmark, Place

# Linux's MAX_ARG_STRLEN, 32 pages, less the zero byte at the end. Nothing on the way to a worker
# checks it: a longer argument fails there, "argument list too long".
MAX_ARGUMENT_BYTES = 131_071


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
    measured += [f"--time-budget {time_budget_s}"]
    places = [f"--place {_place(place)}" for place in benchmark.places]
    artifacts = f"--artifacts {_from_environment('IO_BENCHMARK_ARTIFACTS', ARTIFACTS_PATH)}"
    profile = f"--profile {_from_environment('IO_BENCHMARK_PROFILE', 'full')}"
    perfherder = (
        f"--perfherder {_from_environment('IO_BENCHMARK_PERFHERDER', benchmark.perfherder)}"
    )
    return [" ".join(measured), *places, f"{artifacts} {profile} {perfherder}"]


def _in_script_folder(path: str) -> str:
    """Quoted; a module's path holds letters, digits, underscores and slashes alone."""
    return f'"$script_dir/{path}"' if path else '"$script_dir"'


def build(benchmark: Benchmark, modules: Sequence[Module], pool: str, time_budget_s: int) -> str:
    """The whole command, for `bash -c`."""
    folders = sorted({posixpath.dirname(module.path) for module in modules})
    lines = [
        "set -e",
        f"script_dir={_from_environment('IO_BENCHMARK_SCRIPT_DIR', SCRIPT_PATH)}",
        "mkdir -p " + " ".join(_in_script_folder(folder) for folder in folders),
    ]
    for module in modules:
        lines.append(f"cat > {_in_script_folder(module.path)} << '{END_MARK}'")
        lines.append(module.text + END_MARK)
    start = 'exec python3 -u -B "$script_dir"'
    lines.append(" \\\n  ".join([start, *_arguments(benchmark, pool, time_budget_s)]))
    command = "\n".join(lines) + "\n"
    _check_size(command, benchmark.script, modules)
    return command


def _check_size(command: str, script: str, modules: Sequence[Module]) -> None:
    size_bytes = len(command.encode("utf-8"))
    if size_bytes <= MAX_ARGUMENT_BYTES:
        return
    largest = sorted(modules, key=lambda module: module.size_bytes, reverse=True)[:3]
    named = ", ".join(f"{script}/{module.path} {module.size_bytes:,}" for module in largest)
    raise BadKeyError(
        KEY,
        f"the command would hold {size_bytes:,} bytes and one argument may hold "
        f"{MAX_ARGUMENT_BYTES:,}; shorten the largest modules (bytes: {named}) or name fewer "
        "workloads",
    )
