# SPDX-License-Identifier: MPL-2.0
"""Put the worker's script and its arguments into the task's command.

The script is one file (worker_program.py) with the modules that the task's workloads need. For a
docker image it is an argument after the readable part: docker-worker and d2g pass a command's
arguments unchanged to run-task, which passes them to bash. For a native worker it is a mount, with
the content in the task's definition. taskgraph's transforms of tasks do not know such a mount, so
until they have run, the content is in `extra`. On Windows, the mount starts the program, which
itself replaces the variables that bash replaces elsewhere.
"""

import functools
import shlex
from collections.abc import Iterable, Iterator
from typing import Any

from taskgraph.transforms.base import TransformSequence

from io_benchmark_taskgraph.engines import Engine
from io_benchmark_taskgraph.mistakes import BadKeyError, in_task, quoted
from io_benchmark_taskgraph.parameters import CAPACITIES_ATTRIBUTE, JOB, POOL_ATTRIBUTE
from io_benchmark_taskgraph.stanza import (
    ARTIFACTS_PATH,
    CAPACITIES_S,
    WORKSPACE,
    Benchmark,
    TaskPlace,
)
from io_benchmark_taskgraph.transforms import Tasks, windows_line
from io_benchmark_taskgraph.transforms.benchmark import MARGIN_S
from io_benchmark_taskgraph.worker_program import (
    MOUNTED_FILE,
    UNPACK,
    EmbeddedProgram,
    WorkerProgram,
)

# Which of a kind's transforms add the mounts: its own line, or all of them in one.
MOUNTS = "io_benchmark_taskgraph.transforms.command:mounts"
_MOUNTING = (
    MOUNTS,
    "io_benchmark_taskgraph.transforms.kind:pools",
    "io_benchmark_taskgraph.transforms.gate:transforms",
)
_CONTENT = "mount"  # its key in `extra`
# Where a task finds its docker image. In `env`, since a reference in the command would take what is
# between any `<` and `>` there for a task.
_IMAGE_PATH = "/api/queue/v1/task/<docker-image>/artifacts/public/image.tar.zst"
IMAGE_VARIABLE = {"IO_BENCHMARK_DOWNLOAD_URL": {"task-reference": _IMAGE_PATH}}
_IMAGE_URL = '--download-url "${IO_BENCHMARK_DOWNLOAD_URL:-none}"'

# Rehearsals and tests set the variables. Only the last command is traced, because a trace would
# print the whole script again. A command that fails before the sha256 is compared prints the reason
# on stderr. The first word of the line for Treeherder is in two parts. run-task prints this text
# too, and Treeherder must not take that for a failure.
FROM_ARGUMENT = """\
# io-benchmark {program.version} measures this worker's I/O: https://github.com/mozilla-releng/io-benchmark
# The last argument has the modules that run here, without comments, compressed. The program as one
# file: io-benchmark script -o io-benchmark.pyz
sha256={program.sha256}
# In a new folder that only this user can change: what is compared is what is started.
application=$(mktemp -d)/io-benchmark.pyz
printf %s "$1" | {unpack} > "$application" || true
"""
FROM_MOUNT = """\
# io-benchmark {program.version} measures this worker's I/O: https://github.com/mozilla-releng/io-benchmark
# The mount {file} has the modules that run here, without comments, compressed. The
# program as one file: io-benchmark script -o io-benchmark.pyz
sha256={program.sha256}
# In the task's own folder: the worker removes it with the task.
application=$TASK_WORKDIR/io-benchmark.pyz
python3 -I "$TASK_WORKDIR"/{file} > "$application" || true
"""
CHECK = """\
if [ "$(sha256sum < "$application")" != "$sha256  -" ]; then
  printf 'TEST-%s | %s: cannot unpack %s; see the lines above\\n' \\
    UNEXPECTED-FAIL {pool} "$application"
  exit 1
fi
set -x
"""
RUN = """\
exec python3 -u -B {application} run \\
  {options} \\
  {places} \\
  --output "${{IO_BENCHMARK_ARTIFACTS:-{artifacts}}}" \\
  {sizes} --perfherder "${{IO_BENCHMARK_PERFHERDER:-{benchmark.perfherder}}}"{trials}
"""
_SIZES = '--profile "${IO_BENCHMARK_PROFILE:-full}"'
# A confirming task is the same task with both variables.
_TRIALS = '"${{IO_BENCHMARK_TRIALS:-{}}}"'
_PACE = '${IO_BENCHMARK_PACE:+--pace "$IO_BENCHMARK_PACE"}'
# The program leaves out an option without a value.
_PACE_ON_WINDOWS = "--pace=${IO_BENCHMARK_PACE:-}"
# It decides all that other options decide, and trials are part of it.
_CAPACITIES = "--capacities"


def _place(place: TaskPlace, engine: Engine) -> str:
    name = "WORKSPACE" if place == WORKSPACE else f"PLACE_{place.name.upper()}"
    variable = f"IO_BENCHMARK_{name.replace('-', '_')}"
    return f'--place {place.name}="${{{variable}:-{engine.in_command(place.path)}}}"'


def _options(benchmark: Benchmark, pool: str, time_budget_s: int) -> str:
    if benchmark.capacities:
        budget_s = min(time_budget_s, CAPACITIES_S * len(benchmark.places))
        return f"--pool {shlex.quote(pool)} --seed {benchmark.seed} --time-budget {budget_s}"
    measured = [("pool", pool), *(("workload", name) for name in benchmark.workloads)]
    options = [
        ("retrieves", benchmark.retrieves),
        ("seed", benchmark.seed),
        *(("destination", destination) for destination in benchmark.destinations),
        ("upload-url", benchmark.upload_url),
        ("download-url", benchmark.download_url),
        ("time-budget", time_budget_s),
    ]
    lines = (
        " ".join(f"--{name} {shlex.quote(str(value))}" for name, value in line if value is not None)
        for line in (measured, options)
    )
    return " \\\n  ".join((*lines, _IMAGE_URL) if benchmark.downloads_image else lines)


def make_command(
    benchmark: Benchmark, program: EmbeddedProgram, pool: str, time_budget_s: int
) -> list[str]:
    """Return the command for run-task: bash, a readable script, and the encoded program.

    On Windows it is the line that starts the mounted program.
    """
    if benchmark.engine.runs_windows:
        words = run_words(benchmark, pool, time_budget_s)
        return windows_line.starting(MOUNTED_FILE, program, words)
    is_mounted = benchmark.engine.mounts_program
    unpacking = FROM_MOUNT if is_mounted else FROM_ARGUMENT
    text = unpacking.format(program=program, unpack=UNPACK, file=MOUNTED_FILE)
    text += CHECK.format(pool=shlex.quote(pool))
    text += run_command(benchmark, '"$application"', pool, time_budget_s)
    command = ["bash", "-ec", text]
    return command if is_mounted else [*command, "io-benchmark", program.argument]


def run_command(benchmark: Benchmark, application: str, pool: str, time_budget_s: int) -> str:
    """Return the shell's command for a program that is in a file."""
    trials = "never"
    if benchmark.trials != trials:
        trials = f"{_TRIALS.format(benchmark.trials)} {_PACE}"
    return RUN.format(
        application=application,
        benchmark=benchmark,
        options=_options(benchmark, pool, time_budget_s),
        places=" \\\n  ".join(_place(place, benchmark.engine) for place in benchmark.places),
        artifacts=benchmark.engine.in_command(ARTIFACTS_PATH),
        sizes=_CAPACITIES if benchmark.capacities else _SIZES,
        trials="" if benchmark.capacities else f" \\\n  --trials {trials}",
    )


def run_words(benchmark: Benchmark, pool: str, time_budget_s: int) -> list[str]:
    """Return the program's arguments as words of a line on Windows, with variables as they are."""
    text = run_command(benchmark, "-", pool, time_budget_s)
    words = shlex.split(text.replace("\\\n", " ").replace(_PACE, _PACE_ON_WINDOWS))
    return [windows_line.url_word(word) for word in words[words.index("run") :]]


def _add_command(config: Any, tasks: Tasks) -> Tasks:
    # Most tasks have the same workloads.
    embedded = functools.cache(WorkerProgram.read().embedded)
    for task in tasks:
        benchmark, pool = task.pop("benchmark"), task["attributes"][POOL_ATTRIBUTE]
        program = embedded("bench", benchmark.measured_workloads, benchmark.engine.system)
        budget_s = task["worker"]["max-run-time"] - MARGIN_S
        if benchmark.capacities:
            task["attributes"][CAPACITIES_ATTRIBUTE] = True
        task.setdefault("run", {})["command"] = make_command(benchmark, program, pool, budget_s)
        with in_task(config, task):
            _fit_worker(config, task, benchmark, program)
        yield task


def _fit_worker(
    config: Any, task: dict[str, Any], benchmark: Benchmark, program: EmbeddedProgram
) -> None:
    """Change what the kind says for all pools, docker images among them, to this pool's engine."""
    engine = benchmark.engine
    artifacts = task["worker"].get("artifacts")
    for artifact in artifacts if isinstance(artifacts, list) else ():
        # taskgraph refuses others.
        if isinstance(artifact, dict) and isinstance(artifact.get("path"), str):
            artifact["path"] = engine.in_payload(artifact["path"])
    if not engine.takes_image:
        task["worker"].pop("docker-image", None)
    image = task["worker"].get("docker-image")
    if benchmark.downloads_image and isinstance(image, dict) and "in-tree" in image:
        # Only such an image is an artifact of a task on which this one depends.
        task["worker"]["env"] = {**IMAGE_VARIABLE, **(task["worker"].get("env") or {})}
    if engine.mounts_program:
        content = program.starting("run") if engine.runs_windows else program.mounted()
        keep_mount(config, task, content)


def keep_mount(config: Any, task: dict[str, Any], content: str) -> None:
    """Keep the content of a mount in `extra`, until the transform `mounts` takes it from there."""
    if not set(_MOUNTING) & set(config.config.get("transforms", ())):
        raise BadKeyError(
            "worker-type",
            f"{quoted(task['worker-type'])} needs the program as a mount; add {MOUNTS} after "
            "taskgraph.transforms.task:transforms to the kind's transforms",
        )
    task.setdefault("extra", {}).setdefault(JOB, {})[_CONTENT] = content


def _add_mounts(config: Any, tasks: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Mount the program where a task's `extra` has it, after taskgraph made the payload."""
    for task in tasks:
        extra = task["task"].get("extra", {})
        content = extra.get(JOB, {}).pop(_CONTENT, None)
        if content is not None:
            mount = {"file": MOUNTED_FILE, "content": {"raw": content}}
            payload = task["task"]["payload"]
            payload.setdefault("mounts", []).append(mount)
            with in_task(config, task):
                for command in payload["command"]:
                    windows_line.check(command)
            if not extra[JOB]:
                del extra[JOB]
        yield task


transforms = TransformSequence([_add_command])
mounts = TransformSequence([_add_mounts])
