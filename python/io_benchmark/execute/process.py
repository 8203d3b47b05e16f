# SPDX-License-Identifier: MPL-2.0
"""Run a task's command as a process of this machine, without run-task.

The process is the command after run-task's `--`. It gets the payload's variables and a separate process
group. Its output is logged line by line, with stderr merged, and is not interpreted.
"""

import errno
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

from msgspec import Struct

from io_benchmark.errors import ExecutionError
from io_benchmark.execute.child import Child, StartError, hold_interrupts
from io_benchmark.execute.local_run import Artifact, LocalRun, RunOutcome
from io_benchmark.execute.run_folder import RunOutput, remove

# Where a worker's tasks put their artifacts.
WORKER_ARTIFACTS = PurePosixPath("/builds/worker/artifacts")

# A place that the command names with its path on a worker as the default.
PLACE = re.compile(r"\$\{IO_BENCHMARK_PLACE_([A-Z0-9_]+):-[^}]*\}")

# Where Python finds this program.
PACKAGES = Path(__file__).resolve().parents[2]

# run-task reads these and does not pass them on.
RUN_TASK_VARIABLES = ("TASKCLUSTER_CACHES", "TASKCLUSTER_UNTRUSTED_CACHES", "TASKCLUSTER_VOLUMES")


class _Folders(Struct, frozen=True):
    """Folders that replace a worker's paths, for one run."""

    artifacts: Path
    script: Path
    work: Path
    places: Mapping[str, Path]


def run(
    local_run: LocalRun, on_line: Callable[[str], None], *, environment: Mapping[str, str]
) -> RunOutcome:
    """Run the command to its end, its maxRunTime or a Ctrl-C, and collect its artifacts."""
    command = local_run.command_after_run_task()
    if not local_run.workspace.is_dir():
        raise ExecutionError(f"{local_run.workspace}: no such folder; create it or name another")
    with (
        RunOutput.in_folder(local_run.output, on_line) as output,
        _folders(local_run, command) as folders,
    ):
        began = datetime.now(UTC)
        exit_code, explanation = _execute(local_run, command, folders, output, environment)
        missing = _collect(local_run, folders, output)
        return local_run.outcome(exit_code, explanation, began, missing)


@contextmanager
def _folders(local_run: LocalRun, command: Sequence[str]) -> Iterator[_Folders]:
    made: list[Path] = []

    def make(parent: Path, prefix: str) -> Path:
        try:
            made.append(Path(tempfile.mkdtemp(prefix=prefix, dir=parent.resolve())))
        except OSError as error:
            raise ExecutionError(
                f"{parent}: cannot create a folder: {error.strerror}; name another folder"
            ) from error
        return made[-1]

    try:
        base = make(local_run.output, ".run-")
        folders = _Folders(
            artifacts=base / "artifacts",
            script=base / "script",
            work=base / "work",
            # Next to the workspace, on its disk: this machine has no overlay to use instead.
            places={
                name: make(
                    local_run.workspace.parent, f"{local_run.workspace.name}-{name.lower()}-"
                )
                for name in sorted({name for word in command for name in PLACE.findall(word)})
            },
        )
        for folder in (folders.artifacts, folders.script, folders.work):
            folder.mkdir()
        yield folders
    finally:
        with hold_interrupts():
            for path in made:
                remove(path)


def _environment(
    local_run: LocalRun, folders: _Folders, environment: Mapping[str, str]
) -> dict[str, str]:
    """Return the task's variables without this user's, which a worker does not have."""
    task = local_run.environment()
    return {
        "HOME": environment.get("HOME", "/"),
        "PATH": environment.get("PATH", os.defpath),
        "LANG": "C.UTF-8",
        **{name: value for name, value in task.items() if name not in RUN_TASK_VARIABLES},
        "TASK_WORKDIR": str(folders.work),
        "IO_BENCHMARK_WORKSPACE": str(local_run.workspace.resolve()),
        "IO_BENCHMARK_ARTIFACTS": str(folders.artifacts),
        "TMPDIR": str(folders.script),
        "IO_BENCHMARK_PROFILE": local_run.profile,
        **{f"IO_BENCHMARK_PLACE_{name}": str(path) for name, path in folders.places.items()},
        **_for_a_report(local_run),
    }


def _for_a_report(local_run: LocalRun) -> dict[str, str]:
    """Return the variables that give the report's task local results and this program."""
    if local_run.results is None:
        return {}
    environment = {
        "IO_BENCHMARK_REPORT_OF": str(local_run.results.resolve()),
        "IO_BENCHMARK_REPORT_PYTHON": sys.executable,
    }
    if PACKAGES.name not in ("site-packages", "dist-packages"):
        # A checkout. Installed packages are found without this, and must not come before the
        # standard library.
        environment["PYTHONPATH"] = str(PACKAGES)
    return environment


def _execute(
    local_run: LocalRun,
    command: Sequence[str],
    folders: _Folders,
    output: RunOutput,
    environment: Mapping[str, str],
) -> tuple[int, str]:
    """Return the exit code as run-task would pass it on, and why the run was stopped, if so."""
    limit_s = local_run.max_run_time_s()
    deadline_s = time.monotonic() + limit_s
    output.task(b"executing %r\n" % list(command))
    variables = _environment(local_run, folders, environment)
    try:
        with Child.started(command, folder=folders.work, environment=variables) as child:
            ended = _follow(child, output, deadline_s)
            # At its time limit a worker removes the container without a signal to the script.
            exit_code = child.kill() % 256
    except StartError as error:
        raise _cannot_start(local_run, command, error) from error
    return exit_code, "" if ended else output.time_limit_exceeded(limit_s)


def _cannot_start(local_run: LocalRun, command: Sequence[str], error: StartError) -> ExecutionError:
    advice = (
        "a worker would refuse it too; make the script smaller"
        if error.errno == errno.E2BIG
        else "install it, or run the task with --container"
    )
    return ExecutionError(
        f"{local_run.label}: cannot start {command[0]}: {error.strerror}; {advice}"
    )


def _follow(child: Child, output: RunOutput, deadline_s: float) -> bool:
    """Log until the output ends, as run-task does, and the process too; False at the deadline."""
    try:
        for line in child.lines(deadline_s):
            output.task(line)
    except TimeoutError:
        return False
    return child.exits_before(deadline_s)


def _collect(local_run: LocalRun, folders: _Folders, output: RunOutput) -> tuple[str, ...]:
    def locate(artifact: Artifact) -> Path | None:
        path = PurePosixPath(artifact.path)
        if not path.is_relative_to(WORKER_ARTIFACTS) or ".." in path.parts:
            return None
        return folders.artifacts / path.relative_to(WORKER_ARTIFACTS)

    return output.collect(local_run.artifacts(), locate)
