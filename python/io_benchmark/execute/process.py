# SPDX-License-Identifier: MPL-2.0
"""Run a task's command on this machine as a process.

The process is the command after run-task's `--`. It gets the payload's variables and a separate session, so
a Ctrl-C in the terminal reaches only this program. Its output is logged line by line, with stderr merged,
and is not interpreted.
"""

import os
import re
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import IO, cast

from io_benchmark.errors import ExecutionError
from io_benchmark.execute.local_run import LocalRun, RunOutcome, RunOutput, new_folder
from io_benchmark.process import hold_interrupts

# A place that the command names with its path on a worker as the default.
PLACE = re.compile(r"\$\{(IO_BENCHMARK_PLACE_([A-Z0-9_]+)):-[^}]*\}")

# run-task reads these and does not pass them on.
RUN_TASK_VARIABLES = ("TASKCLUSTER_CACHES", "TASKCLUSTER_UNTRUSTED_CACHES", "TASKCLUSTER_VOLUMES")

# After SIGINT the script writes its result file and empties its work place.
_GRACE_S = 10
# A command that never ends its line must not fill this program's memory.
_LINE_LIMIT_BYTES = 1 << 20


def run(local_run: LocalRun, environment: Mapping[str, str]) -> RunOutcome:
    """Run the command to its end or a Ctrl-C, and take its artifacts."""
    command = local_run.command_after_run_task()
    workspace = local_run.workspace
    with ExitStack() as stack:
        output = stack.enter_context(RunOutput.new(local_run))
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
        output.write_task(b"executing %r\n" % list(command))
        try:
            exit_code = _execute(command, work, variables, output.write_task)
        except FileNotFoundError as error:
            raise ExecutionError(
                f"{local_run.label}: cannot start {command[0]}: {error.strerror}; install it"
            ) from error
        return output.finish(exit_code, artifacts)


def _task_variables(local_run: LocalRun, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the task's variables without this user's, which a worker does not have."""
    variables = {
        "HOME": environment.get("HOME", "/"),
        "PATH": environment.get("PATH", os.defpath),
        "LANG": "C.UTF-8",
        **local_run.environment(),
    }
    return {name: value for name, value in variables.items() if name not in RUN_TASK_VARIABLES}


def _execute(
    command: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    on_line: Callable[[bytes], None],
) -> int:
    """Return the exit code as run-task would pass it on. Nothing of the process group stays behind."""
    process: subprocess.Popen[bytes] | None = None
    try:
        # Otherwise a Ctrl-C during the start would leave a process that cannot be ended.
        with hold_interrupts():
            process = subprocess.Popen(
                command,
                cwd=folder,
                env=environment,
                start_new_session=True,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )
        output = cast("IO[bytes]", process.stdout)
        # To the end of the output, as run-task does.
        for line in iter(partial(output.readline, _LINE_LIMIT_BYTES), b""):
            on_line(line)
        return process.wait() % 256
    except BaseException:
        if process is not None:
            _signal_group(process, signal.SIGINT)
            # What it still says is read, because a full pipe would hold it up.
            with suppress(subprocess.TimeoutExpired):
                process.communicate(timeout=_GRACE_S)
        raise
    finally:
        if process is not None:
            _signal_group(process, signal.SIGKILL)
            process.wait()
            cast("IO[bytes]", process.stdout).close()


def _signal_group(process: "subprocess.Popen[bytes]", number: int) -> None:
    """Send a signal to the group, which has the leader's number even after its end."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
