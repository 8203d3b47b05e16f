# SPDX-License-Identifier: MPL-2.0
"""One run of a task on this machine: its process, and the folder that it fills.

The process is the command after run-task's `--`. It gets the payload's variables and a separate
session, so a Ctrl-C in the terminal reaches only this program. Its output is logged line by line,
with stderr merged, and is not interpreted.

The folder has the log, and the artifacts as a worker would have uploaded them. A worker uploads
only regular files. Anything else, such as a missing file or a symlink, becomes an *error artifact*,
and the task still completes. Here it is a failure, and named in the log.
"""

import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from msgspec import Struct

from io_benchmark.errors import IoBenchmarkError
from io_benchmark.execute.artifact_files import artifact_files
from io_benchmark.execute.native_worker import task_user, write_mounts
from io_benchmark.graph.generate import GeneratedTask
from io_benchmark.paths import explain_refusal
from io_benchmark.process import hold_interrupts
from io_benchmark.sources.run_files import TASK_NAME
from io_benchmark.sources.run_results import NATIVE, TaskRecord, engine_of, queue_time
from io_benchmark_taskgraph.generation import NO_ROOT_URL
from io_benchmark_taskgraph.payloads import after_run_task

_PLACE_VARIABLE = re.compile("IO_BENCHMARK_(WORKSPACE|PLACE_[A-Z0-9_]+)")
# A place that the command names with its path on a worker as the default.
_PLACE = re.compile(r"\$\{(IO_BENCHMARK_PLACE_([A-Z0-9_]+)):-[^}]*\}")
# run-task reads these and does not pass them on.
_RUN_TASK_VARIABLES = ("TASKCLUSTER_CACHES", "TASKCLUSTER_UNTRUSTED_CACHES", "TASKCLUSTER_VOLUMES")
# After SIGINT the script writes its result file and empties its work place.
_GRACE_S = 10
_DOWNLOAD_VARIABLE = "IO_BENCHMARK_DOWNLOAD_URL"
# A command that never ends its line must not fill this program's memory.
_LINE_LIMIT_BYTES = 1 << 20


class LocalRun(Struct, frozen=True):
    task: GeneratedTask  # its definition may still contain `<…>` references
    task_id: str
    group_id: str
    parent: Path  # an existing folder, in which the pool's workspace volume is made
    output: Path  # the folder TASKID.RUNID of what a worker would have uploaded
    profile: str  # the sizes: "full", "twentieth" or "quick"

    @property
    def _payload(self) -> Mapping[str, Any]:
        payload: Mapping[str, Any] = self.task.definition["payload"]
        return payload

    @property
    def _is_native(self) -> bool:
        return engine_of(self._payload.get("image"), self._payload.get("command")) == NATIVE

    def environment(self) -> dict[str, str]:
        """Return the payload's variables and those that every worker adds."""
        variables = {**(self._payload.get("env") or {})}
        if any(_DOWNLOAD_VARIABLE in word for word in self.command()):
            # No deployment has the image of a task that was never created.
            variables[_DOWNLOAD_VARIABLE] = "loopback"
        return {
            **{name: _word(value) for name, value in variables.items()},
            "TASK_ID": self.task_id,
            "RUN_ID": "0",
            "TASK_GROUP_ID": self.group_id,
            "TASKCLUSTER_ROOT_URL": NO_ROOT_URL,
            "IO_BENCHMARK_PROFILE": self.profile,
        }

    def run(self, environment: Mapping[str, str]) -> tuple[TaskRecord, list[str]]:
        """Run the command to its end or a Ctrl-C.

        Return the run as a queue would, and a line per failure. `environment` is that of this user,
        of which a worker has little.
        """
        task = self.task
        with ExitStack() as stack:
            workspace = stack.enter_context(_new_folder(self.parent, f"io-benchmark-{task.pool}-"))
            command = self.command()
            log = stack.enter_context(_new_log(self.output / "live.log"))
            started = queue_time(datetime.now(UTC))
            # Folders that replace a worker's paths.
            base = stack.enter_context(_new_folder(self.output, ".run-"))
            artifacts, script, work = (base / name for name in ("artifacts", "script", "work"))
            for folder in (artifacts, script, work):
                folder.mkdir()
            variables = {
                "HOME": environment.get("HOME", "/"),
                "PATH": environment.get("PATH", os.defpath),
                "LANG": "C.UTF-8",
                **self.environment(),
                "TASK_WORKDIR": str(work),
                "IO_BENCHMARK_WORKSPACE": str(workspace),
                "IO_BENCHMARK_ARTIFACTS": str(artifacts),
                "TMPDIR": str(script),
            }
            for name in _RUN_TASK_VARIABLES:
                variables.pop(name, None)
            places = {match for word in command for match in _PLACE.findall(word)}
            for variable, name in sorted(places):
                # Next to the workspace, on its disk: this machine has no overlay to use instead.
                place = _new_folder(self.parent, f"{workspace.name}-{name.lower()}-")
                variables[variable] = str(stack.enter_context(place))
            user = self._prepared_user(base, variables, log) if self._is_native else {}
            _write_task(log, b"executing %r\n" % list(command))
            try:
                exit_code = _execute(command, work, variables, log, user)
            except FileNotFoundError as error:
                raise IoBenchmarkError(
                    f"{task.label}: cannot start {command[0]}: {error.strerror}; install it"
                ) from error
            missing = self._take_artifacts(work, artifacts, log)
            # A native worker fails a task that lacks an artifact, and docker's does not.
            is_failed = exit_code != 0 or (self._is_native and bool(missing))
            record = self._record(is_failed, started)
            record.write(self.output / TASK_NAME)
        failures = []
        if exit_code:
            failures.append(f"failed, exit code {exit_code}")
        if missing:
            failures.append(f"missing artifacts: {', '.join(missing)}")
        return record, [f"{task.label}: {line}; its log is {log.name}" for line in failures]

    def command(self) -> tuple[str, ...]:
        """Return the command that run-task would run; its options make no difference here."""
        command = after_run_task(self._payload)
        if command is None:
            raise IoBenchmarkError(
                f"{self.task.label}: its command is not `run-task … -- …`; select a task that uses "
                "run-task"
            )
        return tuple(map(_word, command))

    def _prepared_user(
        self, base: Path, variables: dict[str, str], log: BinaryIO
    ) -> Mapping[str, Any]:
        """Prepare the folder `work` of a native worker's task; return its user for Popen."""
        work = base / "work"
        write_mounts(self._payload, work, self.task.label)
        # The artifacts are below the task's folder.
        del variables["IO_BENCHMARK_ARTIFACTS"]
        variables["HOME"] = str(work)
        places = [Path(variables[name]) for name in variables if _PLACE_VARIABLE.fullmatch(name)]
        # Another user may go through it, and put nothing else in the place of what is in it.
        base.chmod(0o711)
        user = task_user([work, base / "script", *places], variables)
        _write(log, f"[taskcluster] {self.task.label} {user.remark}".encode())
        return user.keywords

    def _take_artifacts(self, work: Path, artifacts: Path, log: BinaryIO) -> list[str]:
        """Take the artifacts as a worker does; return those that are missing."""
        missing = []
        for name, source, target in artifact_files(self._payload, work, artifacts):
            if source.is_symlink() or not source.is_file():
                missing.append(name)
                problem = "it does not exist or is not a regular file"
                line = f"[taskcluster:error] Could not upload artifact {name}: {problem}"
                _write(log, line.encode())
                continue
            copy = self.output / target
            if copy.exists() or copy.name == TASK_NAME:
                raise IoBenchmarkError(
                    f"artifact {name}: a file {copy.name} already exists; give the artifact "
                    "another name in kind.yml"
                )
            with explain_refusal(str(copy), "the run is incomplete, run it again"):
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, copy)
        return missing

    def _record(self, is_failed: bool, started: str) -> TaskRecord:
        definition = self.task.definition
        return TaskRecord(
            task_id=self.task_id,
            run_id=0,
            label=self.task.label,
            pool=self.task.pool,
            task_queue=f"{definition['provisionerId']}/{definition['workerType']}",
            worker_group="rehearsal",
            worker_id=socket.gethostname(),
            state="failed" if is_failed else "completed",
            image=self.task.image,
            engine=NATIVE,  # here nothing runs in a container of its own
            started=started,
            resolved=queue_time(datetime.now(UTC)),
            baseline=definition.get("extra", {}).get("io-benchmark", {}).get("baseline"),
        )


def _word(value: object) -> str:
    """Return a text; references stay as written, because they name tasks that do not exist here."""
    return str(next(iter(value.values())) if isinstance(value, Mapping) else value)


@contextmanager
def _new_log(path: Path) -> Iterator[BinaryIO]:
    """Make the log, and its folder; remove them after an error: half a run would look complete."""
    with explain_refusal(str(path.parent), "name another output folder"):
        path.parent.mkdir(parents=True)
    with ExitStack() as undo:
        undo.callback(_remove, path.parent)
        with path.open("xb") as stream:
            yield stream
        undo.pop_all()


def _write_task(log: BinaryIO, line: bytes) -> None:
    """Write a line of the command's output, prefixed as run-task does."""
    time = datetime.now(UTC).isoformat(timespec="milliseconds")
    _write(log, b"[task %s] %s" % (time.encode("ascii"), line))


def _write(log: BinaryIO, line: bytes) -> None:
    """Write a line that has its prefix already. A terminal's line ends become plain ones."""
    try:
        log.write(line.rstrip(b"\r\n") + b"\n")
        log.flush()
    except OSError as error:
        raise IoBenchmarkError(f"{log.name}: {error.strerror}") from error


@contextmanager
def _new_folder(parent: Path, prefix: str) -> Iterator[Path]:
    """Make an empty folder in another; it is gone after the block."""
    with ExitStack() as cleanup:
        refused = explain_refusal(f"{parent}: cannot create a folder", "name another folder")
        with refused, hold_interrupts():
            folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent.resolve()))
            cleanup.callback(_remove, folder)
        yield folder


def _remove(folder: Path) -> None:
    with explain_refusal(f"{folder}: cannot be removed", "remove it by hand"), hold_interrupts():
        shutil.rmtree(folder)


def _execute(
    command: Sequence[str],
    folder: Path,
    variables: Mapping[str, str],
    log: BinaryIO,
    user: Mapping[str, Any],
) -> int:
    """Return the exit code as run-task would pass it on; leave nothing of the process group."""
    process: subprocess.Popen[bytes] | None = None
    try:
        # Otherwise a Ctrl-C during the start would leave a process that cannot be ended.
        with hold_interrupts():
            process = subprocess.Popen(
                command,
                cwd=folder,
                env=variables,
                start_new_session=True,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                **user,
            )
        output = cast("IO[bytes]", process.stdout)
        # To the end of the output, as run-task does.
        for line in iter(partial(output.readline, _LINE_LIMIT_BYTES), b""):
            _write_task(log, line)
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
