# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The shell command of a task: unpack the worker's script into a file, then run it.

The script is a zip application (application.py), compressed and base64-encoded into arguments of
their own behind the readable part. docker-worker and d2g hand a command's arguments on as they are,
to run-task and by it to bash.
"""

import shlex
from collections.abc import Sequence

from io_benchmark_taskgraph.application import FILE_NAME, KEY, Application
from io_benchmark_taskgraph.mistakes import BadKeyError
from io_benchmark_taskgraph.stanza import (
    ARTIFACTS_PATH,
    SCRIPT_PATH,
    WORKSPACE,
    Benchmark,
    Place,
)

PROJECT = "https://github.com/mozilla-releng/io-benchmark"
# Linux's MAX_ARG_STRLEN, 32 pages, less the zero byte at the end. Nothing on the way to a worker
# checks it: a longer argument fails there, "argument list too long".
MAX_ARGUMENT_BYTES = 131_071
# Linux takes 2 MiB of arguments and environment together (a quarter of the stack's usual limit).
MAX_COMMAND_BYTES = 1_900_000
# Not traced: a trace would put the whole script into the log once more. What fails before the
# sha256 is compared has said why on stderr. The first word of the line for Treeherder is written
# in two parts: run-task prints this text too, and it must not look like a failure there.
UNPACK = """\
application={folder}/{file_name}
mkdir -p "${{application%/*}}"
printf %s "$@" | base64 -d | gzip -d > "$application" || true
if [ "$(sha256sum < "$application")" != "{sha256}  -" ]; then
  printf 'TEST-%s | io-benchmark | %s: cannot unpack %s; see the lines above\\n' \\
    UNEXPECTED-FAIL {pool} "$application"
  exit 1
fi
set -x
"""


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


def _about(benchmark: Benchmark, application: Application) -> str:
    """What the encoded part is, for the readers of a task's page and of its log."""
    workloads = " ".join(f"--workload {name}" for name in benchmark.workloads)
    return (
        f"# io-benchmark {application.version} measures this worker's I/O: {PROJECT}\n"
        f"# Source: {benchmark.script}/ at the revision that made this task. The arguments after\n"
        "# this one are these modules as one zip application (gzip, base64); the same file:\n"
        f"# io-benchmark script {workloads} -o {FILE_NAME}\n"
        f"# sha256 {application.sha256}\n"
    )


def make_command(
    benchmark: Benchmark, application: Application, pool: str, time_budget_s: int
) -> list[str]:
    """What run-task starts: bash with a readable script, and the encoded application behind it."""
    unpack = UNPACK.format(
        folder=_from_environment("IO_BENCHMARK_SCRIPT_DIR", SCRIPT_PATH),
        file_name=FILE_NAME,
        sha256=application.sha256,
        pool=shlex.quote(pool),
    )
    start = 'exec python3 -u -B "$application"'
    lines = [start, *_arguments(benchmark, pool, time_budget_s)]
    text = _about(benchmark, application) + unpack + " \\\n  ".join(lines) + "\n"
    encoded = application.encoded
    parts = [
        encoded[at : at + MAX_ARGUMENT_BYTES]
        for at in range(0, len(encoded), MAX_ARGUMENT_BYTES)
    ]
    return ["bash", "-ec", text, "io-benchmark", *parts]


def check_sizes(command: Sequence[str], script: str) -> None:
    """Refuse here what fails on a worker only, with words that do not name the reason."""
    sizes = [len(part.encode("utf-8")) + 1 for part in command]
    if max(sizes) > MAX_ARGUMENT_BYTES + 1:
        raise BadKeyError(
            "benchmark.places",
            f"the script's arguments make a command of {max(sizes) - 1:,} bytes and one "
            f"argument may hold {MAX_ARGUMENT_BYTES:,}; measure fewer places",
        )
    if sum(sizes) > MAX_COMMAND_BYTES:
        raise BadKeyError(
            KEY,
            f"{script} makes a command of {sum(sizes):,} bytes and all arguments together may "
            f"hold {MAX_COMMAND_BYTES:,}; shorten its modules or name fewer workloads",
        )
