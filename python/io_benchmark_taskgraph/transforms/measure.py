# SPDX-License-Identifier: MPL-2.0
"""Profile tasks of any kind that have `benchmark: {measure: FOLDER}`.

Their command becomes one that runs it by `measure`. It carries the worker's script, as a
benchmark's does; on Windows in a mount, which the transform `command.mounts` adds. Where the script
cannot be unpacked or started, the task's command runs without it. The profile is in a directory
artifact, since a missing directory or file would be an error of the task.
"""

import functools
import shlex
from typing import Any

import voluptuous
from taskgraph.transforms.base import TransformSequence
from taskgraph.util.workertypes import get_worker_type

from io_benchmark_taskgraph.engines import HOME, Engine, engine_of
from io_benchmark_taskgraph.mistakes import BadKeyError, checked, form, in_task, plain
from io_benchmark_taskgraph.stanza import ARTIFACTS_PATH, DRIVE_PATH, PLACE_PATH, problem_of_path
from io_benchmark_taskgraph.transforms import Tasks, windows_line
from io_benchmark_taskgraph.transforms.command import keep_mount
from io_benchmark_taskgraph.worker_program import (
    MOUNTED_FILE,
    UNPACK,
    EmbeddedProgram,
    WorkerProgram,
)

KEY = "benchmark.measure"
ARTIFACT = "public/io-benchmark"
# As taskgraph's run-task runs a command that is one text; the second one only on Windows.
_SHELLS = {
    "bash": ["bash", "-cx"],
    "powershell": ["powershell.exe", "-ExecutionPolicy", "Bypass"],
}
# Whatever fails here, the task's command runs. Rehearsals and tests set the variables.
TEXT = """\
# io-benchmark {program.version} profiles the command at the end: https://github.com/mozilla-releng/io-benchmark
sha256={program.sha256}
artifacts="${{IO_BENCHMARK_ARTIFACTS:-{artifacts}}}"/io-benchmark
mkdir -p "$artifacts"
# In a new folder that only this user can change: what is compared is what is started.
application=$(mktemp -d{folder})/io-benchmark.pyz &&
  printf %s "$1" | {unpack} > "$application"
shift
if [ "$(sha256sum < "$application")" = "$sha256  -" ] &&
  python3 -I -B "$application" measure --help < /dev/null > /dev/null; then
  exec python3 -I -B "$application" measure --pool {pool} --place {place} --label {label} \\
    --output "$artifacts"/task-profile.json -- "$@"
fi
echo "io-benchmark: cannot unpack or start $application; the command has no profile" >&2
exec "$@"
"""


SCHEMA = voluptuous.Schema({
    # The folder where the task works; its disks are watched.
    voluptuous.Required("measure"): form(
        f"{PLACE_PATH}|{DRIVE_PATH}",
        "is not a folder; write the absolute path where the task works",
    )
})


def _words(task: dict[str, Any], engine: Engine) -> list[Any]:
    """Return the words of the task's command; each is a text or a reference to a task."""
    run = task.get("run", {})
    using = run.get("using")
    if using != "run-task":
        raise BadKeyError(KEY, f"wraps commands of run-task; this task uses {plain(using)}")
    if engine.takes_image and "docker-image" not in task.get("worker", {}):
        raise BadKeyError(KEY, "needs worker.docker-image on this worker type; name an image")
    command, shell = run.get("command"), run.pop("exec-with", "bash")
    if shell not in (_SHELLS if engine.runs_windows else ("bash",)):
        raise BadKeyError(KEY, "needs bash; remove exec-with")
    if engine.runs_windows and isinstance(command, str):
        command = f'"{command}"'  # as run-task there; it does not quote what is inside
    words = command if isinstance(command, list) else [*_SHELLS[shell], command]
    if engine.runs_windows and any(isinstance(word, dict) for word in words):
        problem = "a reference to a task is not possible on Windows; use an environment variable"
        raise BadKeyError("run.command", problem)
    return words


def _place(path: str) -> str:
    """Return the word for bash; the schema's paths need no quotes, and a native folder does."""
    return f'"workspace={path}"' if "$" in path else f"workspace={path}"


def _shell_command(
    engine: Engine, program: EmbeddedProgram, pool: str, label: str, place: str
) -> list[str]:
    """Return the words before the task's command, which bash starts."""
    text = TEXT.format(
        program=program,
        unpack=UNPACK,
        artifacts=engine.in_shell(ARTIFACTS_PATH),
        # A native worker removes the task's folder, and no other.
        folder="" if engine.takes_image else f' -p "{engine.in_shell(HOME)}"',
        pool=shlex.quote(pool),
        place=_place(engine.in_shell(place)),
        # The command's first word is bash in each task.
        label=shlex.quote(label),
    )
    return ["bash", "-c", text, "io-benchmark", program.argument]


def _windows_command(
    engine: Engine, program: EmbeddedProgram, pool: str, label: str, place: str
) -> list[str]:
    """Return the words before the task's command; the task may start in any folder."""
    arguments = ["measure", "--pool", windows_line.word(pool)]
    arguments += ["--place", f'"workspace={engine.in_shell(place)}"']
    arguments += ["--label", windows_line.word(label), "--"]
    return windows_line.starting(f'"{engine.in_shell(HOME)}/{MOUNTED_FILE}"', program, arguments)


def _wrap(config: Any, tasks: Tasks) -> Tasks:
    embedded = functools.cache(lambda system: WorkerProgram.read().embedded("measure", (), system))
    for task in tasks:
        stanza = task.pop("benchmark", None)
        if stanza is None:
            yield task
            continue
        with in_task(config, task):
            values = checked(SCHEMA, stanza, "benchmark")
            # `predict` finds the benchmark's pool by its worker type.
            alias, level = task.get("worker-type"), config.params["level"]
            engine = engine_of(config.graph_config, alias)
            words, place = _words(task, engine), values["measure"]
            problem = problem_of_path(place, engine)
            if problem is not None:
                raise BadKeyError(KEY, problem)
            _, pool = get_worker_type(config.graph_config, alias, level)
            label = str(task.get("label") or f"{config.kind}-{task['name']}")[:100]
            program = embedded(engine.system)
            if engine.runs_windows:
                keep_mount(config, task, program.starting("measure"))
            before = _windows_command if engine.runs_windows else _shell_command
        task["run"]["command"] = [*before(engine, program, pool, label, place), *words]
        path = engine.in_payload(f"{ARTIFACTS_PATH}/io-benchmark")
        artifact = {"type": "directory", "name": ARTIFACT, "path": path}
        task["worker"].setdefault("artifacts", []).append(artifact)
        yield task


transforms = TransformSequence([_wrap])
