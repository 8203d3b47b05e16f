# SPDX-License-Identifier: MPL-2.0
"""Profile tasks of any kind that have `benchmark: {measure: FOLDER}`.

Their command becomes one that runs it by `measure`. It carries the worker's script, as a
benchmark's does. Where the script cannot be unpacked or started, the task's command runs without
it. The profile is in a directory artifact, since a missing directory or file would be an error of
the task.
"""

import functools
import shlex
from typing import Any

import voluptuous
from taskgraph.transforms.base import TransformSequence
from taskgraph.util.workertypes import get_worker_type

from io_benchmark_taskgraph.mistakes import BadKeyError, checked, form, in_task, plain
from io_benchmark_taskgraph.stanza import ARTIFACTS_PATH, PLACE_PATH
from io_benchmark_taskgraph.transforms import Tasks
from io_benchmark_taskgraph.worker_program import UNPACK, WorkerProgram

KEY = "benchmark.measure"
ARTIFACT = "public/io-benchmark"
# As taskgraph's run-task runs a command that is one text.
SHELL = ["bash", "-cx"]
# Whatever fails here, the task's command runs. Rehearsals and tests set the variables.
TEXT = """\
# io-benchmark {program.version} profiles the command at the end: https://github.com/mozilla-releng/io-benchmark
sha256={program.sha256}
artifacts="${{IO_BENCHMARK_ARTIFACTS:-{artifacts}}}"/io-benchmark
mkdir -p "$artifacts"
# In a new folder that only this user can change: what is compared is what is started.
application=$(mktemp -d)/io-benchmark.pyz &&
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
        PLACE_PATH, "is not a folder; write the absolute path where the task works"
    )
})


def _words(task: dict[str, Any]) -> list[Any]:
    """Return the words of the task's command; each is a text or a reference to a task."""
    run = task.get("run", {})
    using = run.get("using")
    if using != "run-task" or "docker-image" not in task.get("worker", {}):
        without = " without one" if using == "run-task" else ""
        problem = "wraps commands of run-task in a docker image; this task uses"
        raise BadKeyError(KEY, f"{problem} {plain(using)}{without}")
    if run.pop("exec-with", "bash") != "bash":
        raise BadKeyError(KEY, "needs bash; remove exec-with")
    command = run.get("command")
    return command if isinstance(command, list) else [*SHELL, command]


def _wrap(config: Any, tasks: Tasks) -> Tasks:
    embedded = functools.cache(lambda: WorkerProgram.read().embedded("measure"))
    for task in tasks:
        stanza = task.pop("benchmark", None)
        if stanza is None:
            yield task
            continue
        with in_task(config, task):
            values = checked(SCHEMA, stanza, "benchmark")
            words = _words(task)
            # `predict` finds the benchmark's pool by its worker type.
            alias, level = task.get("worker-type"), config.params["level"]
            _, pool = get_worker_type(config.graph_config, alias, level)
            label = str(task.get("label") or f"{config.kind}-{task['name']}")[:100]
            program = embedded()
            text = TEXT.format(
                program=program,
                unpack=UNPACK,
                artifacts=ARTIFACTS_PATH,
                pool=shlex.quote(pool),
                place=shlex.quote(f"workspace={values['measure']}"),
                # The command's first word is bash in each task.
                label=shlex.quote(label),
            )
        task["run"]["command"] = ["bash", "-c", text, "io-benchmark", program.argument, *words]
        artifact = {"type": "directory", "name": ARTIFACT, "path": f"{ARTIFACTS_PATH}/io-benchmark"}
        task["worker"].setdefault("artifacts", []).append(artifact)
        yield task


transforms = TransformSequence([_wrap])
