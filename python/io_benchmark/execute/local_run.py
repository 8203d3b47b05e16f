# SPDX-License-Identifier: MPL-2.0
"""One run of a task on this machine: its payload as plain values, its folder, and its outcome.

The folder has the log, and the artifacts as a worker would have uploaded them. A worker uploads only regular
files. Anything else, such as a missing file or a symlink, becomes an *error artifact*, and the task still
completes. Here it is named in the outcome and in the log.
"""

import posixpath
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from msgspec import Struct, field

from io_benchmark.errors import ExecutionError
from io_benchmark.process import hold_interrupts
from io_benchmark.sources.run_results import queue_time

# `.invalid` is reserved (RFC 2606), so a rehearsal cannot send requests to a real deployment.
ROOT_URL = "https://taskcluster.invalid"
# Where a worker's tasks put their artifacts.
_WORKER_ARTIFACTS = PurePosixPath("/builds/worker/artifacts")
LIVE_LOG = "live.log"
_WRITTEN_BY_THE_CALLER = "task.json"


class RunOutcome(Struct, frozen=True):
    """The outcome of a run, as a worker would have resolved it."""

    exit_code: int
    started: str
    resolved: str
    # Artifact names that a worker would have uploaded as error artifacts.
    missing_artifacts: tuple[str, ...]

    @property
    def state(self) -> str:
        """Return the state as the queue names it."""
        return "failed" if self.exit_code else "completed"


class LocalRun(Struct, frozen=True):
    """One run of a task on this machine."""

    task_id: str
    run_id: int
    label: str
    pool: str
    # The task as the queue would get it; it may still contain `<…>` references.
    definition: Mapping[str, Any]
    # An existing folder to use as the pool's workspace volume; the caller empties it.
    workspace: Path
    # The folder TASKID.RUNID that is filled with what a worker would have uploaded.
    output: Path
    # The sizes: "full", "twentieth" or "quick".
    profile: str

    def command(self) -> tuple[str, ...]:
        """Return the payload's whole command."""
        return tuple(map(_word, self.definition["payload"].get("command") or ()))

    def command_after_run_task(self) -> tuple[str, ...]:
        """Return the command that run-task would run; its options make no difference here."""
        words = self.command()
        is_run_task = words and posixpath.basename(words[0]).startswith("run-task")
        if not is_run_task or "--" not in words:
            raise ExecutionError(
                f"{self.label}: its command is not `run-task … -- …`; select a task that uses run-task"
            )
        return words[words.index("--") + 1 :]

    def environment(self) -> dict[str, str]:
        """Return the payload's variables and those that every worker adds."""
        variables = self.definition["payload"].get("env") or {}
        return {
            **{name: _word(value) for name, value in variables.items()},
            "TASK_ID": self.task_id,
            "RUN_ID": str(self.run_id),
            "TASK_GROUP_ID": str(self.definition.get("taskGroupId") or self.task_id),
            "TASKCLUSTER_ROOT_URL": ROOT_URL,
            "IO_BENCHMARK_PROFILE": self.profile,
        }


def _word(value: object) -> str:
    """Return a text; references stay as written, because the tasks that they name do not exist here."""
    return str(next(iter(value.values())) if isinstance(value, Mapping) else value)


class RunOutput(Struct, frozen=True):
    """The output folder of a run."""

    run: LocalRun
    stream: BinaryIO
    started: datetime = field(default_factory=lambda: datetime.now(UTC))

    @classmethod
    @contextmanager
    def new(cls, run: LocalRun) -> Iterator["RunOutput"]:
        """Make the folder and its log; half of a run would look like a complete one, and is removed."""
        folder = run.output
        try:
            folder.mkdir(parents=True)
        except OSError as error:
            raise ExecutionError(
                f"{folder}: {error.strerror}; name another output folder"
            ) from error
        try:
            with (folder / LIVE_LOG).open("xb") as stream:
                yield cls(run, stream)
        except BaseException:
            with hold_interrupts():
                _remove(folder)
            raise

    def finish(self, exit_code: int, artifacts: Path) -> RunOutcome:
        """Take the artifacts, which the folder `artifacts` has as a worker does, and return the outcome."""
        missing = []
        for artifact, entry in (self.run.definition["payload"].get("artifacts") or {}).items():
            for name, source, target in _files(artifact, entry, artifacts):
                if source.is_symlink() or not source.is_file():
                    missing.append(name)
                    problem = "it does not exist or is not a regular file"
                    line = f"[taskcluster:error] Could not upload artifact {name}: {problem}"
                    self._write(line.encode())
                else:
                    _copy(name, source, self.run.output / target)
        started, resolved = queue_time(self.started), queue_time(datetime.now(UTC))
        return RunOutcome(exit_code, started, resolved, tuple(missing))

    def write_task(self, line: bytes) -> None:
        """Write a line of the command's output, prefixed as run-task does."""
        time = datetime.now(UTC).isoformat(timespec="milliseconds")
        self._write(b"[task %s] %s" % (time.encode("ascii"), line))

    def _write(self, line: bytes) -> None:
        """Write a line that has its prefix already. A terminal's line ends become plain ones."""
        content = line.rstrip(b"\r\n")
        try:
            self.stream.write(content + b"\n")
            self.stream.flush()
        except OSError as error:
            raise ExecutionError(f"{self.stream.name}: {error.strerror}") from error


@contextmanager
def new_folder(parent: Path, prefix: str) -> Iterator[Path]:
    """Make an empty folder in another; it is gone after the block."""
    folder: Path | None = None
    try:
        with hold_interrupts():
            folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent.resolve()))
        yield folder
    except OSError as error:
        if folder is not None:
            raise
        raise ExecutionError(
            f"{parent}: cannot create a folder: {error.strerror}; name another folder"
        ) from error
    finally:
        if folder is not None:
            with hold_interrupts():
                _remove(folder)


def _remove(folder: Path) -> None:
    try:
        shutil.rmtree(folder)
    except OSError as error:
        raise ExecutionError(
            f"{folder}: cannot be removed: {error.strerror}; remove it by hand"
        ) from error


def _files(
    artifact: str, entry: Mapping[str, str], artifacts: Path
) -> Iterator[tuple[str, Path, str]]:
    """Yield name, place and target of every file; what is no such artifact has a place without a file.

    A folder's files keep their place below the folder: public/io-benchmark/x.json becomes x.json.
    """
    place, nothing = PurePosixPath(entry["path"]), artifacts / "nothing"
    is_inside = place.is_relative_to(_WORKER_ARTIFACTS)
    source = artifacts / place.relative_to(_WORKER_ARTIFACTS) if is_inside else nothing
    if entry["type"] == "file":
        yield artifact, source, artifact.rpartition("/")[2]
        return
    if source.is_symlink() or not source.is_dir():
        yield artifact, nothing, ""
        return
    for path in sorted(source.rglob("*")):
        if path.is_symlink() or not path.is_dir():
            inside = path.relative_to(source).as_posix()
            yield f"{artifact}/{inside}", path, inside


def _copy(name: str, source: Path, target: Path) -> None:
    if target.exists() or target.name == _WRITTEN_BY_THE_CALLER:
        raise ExecutionError(
            f"artifact {name}: a file {target.name} already exists; "
            "give the artifact another name in kind.yml"
        )
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
    except OSError as error:
        raise ExecutionError(
            f"{target}: {error.strerror}; the run is incomplete, run it again"
        ) from error
