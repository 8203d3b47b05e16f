# SPDX-License-Identifier: MPL-2.0
"""Run a task's command as a process of this machine, without run-task.

The process is the command after run-task's `--`. It gets the payload's variables and a separate process
group. Its output is logged line by line, with stderr merged, and is not interpreted.
"""

import errno
import os
import re
import sys
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path, PurePosixPath

from io_benchmark.errors import ExecutionError
from io_benchmark.execute.child import Child, StartError
from io_benchmark.execute.local_run import Artifact, LocalRun, RunOutcome
from io_benchmark.execute.run_folder import RunOutput, new_folder

# Where a worker's tasks put their artifacts.
WORKER_ARTIFACTS = PurePosixPath("/builds/worker/artifacts")

# A place that the command names with its path on a worker as the default.
PLACE = re.compile(r"\$\{(IO_BENCHMARK_PLACE_([A-Z0-9_]+)):-[^}]*\}")

# Where Python finds this program.
PACKAGES = Path(__file__).resolve().parents[2]

# run-task reads these and does not pass them on.
RUN_TASK_VARIABLES = ("TASKCLUSTER_CACHES", "TASKCLUSTER_UNTRUSTED_CACHES", "TASKCLUSTER_VOLUMES")


def run(local_run: LocalRun, environment: Mapping[str, str]) -> RunOutcome:
    """Run the command to its end, its maxRunTime or a Ctrl-C, and take its artifacts."""
    command = local_run.command_after_run_task()
    workspace = local_run.workspace
    if not workspace.is_dir():
        raise ExecutionError(f"{workspace}: no such folder; create it or name another")
    with ExitStack() as stack:
        output = stack.enter_context(RunOutput.started(local_run))
        # Folders that replace a worker's paths.
        base = stack.enter_context(new_folder(local_run.output, ".run-"))
        artifacts, script, work = (base / name for name in ("artifacts", "script", "work"))
        for folder in (artifacts, script, work):
            folder.mkdir()
        variables = {
            **_task_variables(local_run, environment),
            "TASK_WORKDIR": str(work),
            "IO_BENCHMARK_WORKSPACE": str(workspace.resolve()),
            "IO_BENCHMARK_ARTIFACTS": str(artifacts),
            "TMPDIR": str(script),
        }
        for variable, name in sorted({match for word in command for match in PLACE.findall(word)}):
            # Next to the workspace, on its disk: this machine has no overlay to use instead.
            place = new_folder(workspace.parent, f"{workspace.name}-{name.lower()}-")
            variables[variable] = str(stack.enter_context(place))

        def locate(artifact: Artifact) -> Path | None:
            path = PurePosixPath(artifact.path)
            if not path.is_relative_to(WORKER_ARTIFACTS):
                return None
            return artifacts / path.relative_to(WORKER_ARTIFACTS)

        deadline_s = time.monotonic() + local_run.max_run_time_s()
        output.write_task(b"executing %r\n" % list(command))
        try:
            with Child.started(command, folder=work, environment=variables) as child:
                is_late = not _follow(child, output, deadline_s)
                # At its time limit a worker removes the container without a signal to the script.
                exit_code = child.kill() % 256  # as run-task would pass it on
        except StartError as error:
            raise _cannot_start(local_run, command[0], error) from error
        return output.finish(exit_code, locate, is_late=is_late)


def _task_variables(local_run: LocalRun, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the task's variables without this user's, which a worker does not have."""
    variables = {
        "HOME": environment.get("HOME", "/"),
        "PATH": environment.get("PATH", os.defpath),
        "LANG": "C.UTF-8",
        **local_run.environment(),
    }
    if local_run.results is not None:
        # The report's task reads local results, by this program.
        variables["IO_BENCHMARK_REPORT_OF"] = str(local_run.results.resolve())
        variables["IO_BENCHMARK_REPORT_PYTHON"] = sys.executable
        if PACKAGES.name not in ("site-packages", "dist-packages"):
            # A checkout. Installed packages are found without this, and must not come before the
            # standard library.
            variables["PYTHONPATH"] = str(PACKAGES)
    return {name: value for name, value in variables.items() if name not in RUN_TASK_VARIABLES}


def _follow(child: Child, output: RunOutput, deadline_s: float) -> bool:
    """Log until the output ends, as run-task does, and the process too; False at the deadline."""
    try:
        for line in child.lines(deadline_s):
            output.write_task(line)
    except TimeoutError:
        return False
    return child.exits_before(deadline_s)


def _cannot_start(local_run: LocalRun, program: str, error: StartError) -> ExecutionError:
    advice = (
        "a worker would refuse it too; make the script smaller"
        if error.errno == errno.E2BIG
        else "install it"
    )
    return ExecutionError(f"{local_run.label}: cannot start {program}: {error.strerror}; {advice}")
