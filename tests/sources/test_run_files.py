# SPDX-License-Identifier: MPL-2.0
"""The files of a run, and the folder that fetch fills with them."""

import errno
import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import msgspec
import pytest
import seed_case
from msgspec.structs import replace

from io_benchmark import results
from io_benchmark.errors import ResultError
from io_benchmark.sources import run_files
from io_benchmark.sources.protocol import LAST
from io_benchmark.sources.run_files import RunStore
from io_benchmark.sources.run_results import RunResult, TaskRecord

DOCUMENT = seed_case.documents(1)[0]
DATA = msgspec.json.encode(DOCUMENT)
RECORD = seed_case.record(DOCUMENT)
HELPERS = str(Path(seed_case.__file__).parent)
LOST = replace(RECORD, problem="is still pending")
RUN = RunResult(results.parse(DATA, "a result"), RECORD)


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    """The queue's record comes back unchanged, and its pool comes before the file's.

    Older records lack some keys.
    """
    folder = run_files.run_folder(tmp_path, RECORD.task_id, 0)
    record = replace(RECORD, pool="another", reason_resolved=None, revision=None)
    RunStore(tmp_path)._write(record, DATA)
    measured = run_files.read_run(folder)
    assert (measured.task, measured.pool) == (record, "another")
    assert folder.name == f"{RECORD.task_id}.0"
    written = json.loads((folder / run_files.TASK_NAME).read_text())
    del written["reason_resolved"], written["revision"]
    (folder / run_files.TASK_NAME).write_text(json.dumps(written))
    assert run_files.read_run(folder).task == record


@pytest.mark.parametrize(
    ("task_id", "run_id"), [("../../etc", 0), ("a" * 21, 0), ("a" * 22, -1), ("a" * 21 + "/", 0)]
)
def test_only_a_task_id_names_a_folder(tmp_path: Path, task_id: str, run_id: int) -> None:
    """An id from outside never becomes another path."""
    with pytest.raises(ResultError, match=r"is not of the form TASKID\.RUNID"):
        run_files.run_folder(tmp_path, task_id, run_id)


@pytest.mark.parametrize("earlier", [[], [LOST]], ids=["new", "without-result-before"])
def test_two_fetches_get_the_same_run(tmp_path: Path, earlier: list[TaskRecord]) -> None:
    """What the first one wrote was fetched before; a record without a result replaces nothing."""
    before = RunStore(tmp_path)
    for record in earlier:
        before._write(record, None)
    first, second = (RunStore(tmp_path) for _ in range(2))
    first.accept(LAST, RUN, DATA)
    second.accept(LAST, RUN, DATA)
    assert second._write(LOST, None) is False
    assert (first.fetched, first.skipped) == (1, 0)
    assert (second.fetched, second.skipped) == (0, 1)
    (folder,) = tmp_path.iterdir()
    assert run_files.read_run(folder).task == RECORD
    assert (folder / run_files.RESULT_NAME).read_bytes() == DATA


def test_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a file system has none, what another process has just made counts as fetched before."""
    first, second = (RunStore(tmp_path) for _ in range(2))
    rename = Path.rename

    def late(unfinished: Path, target: Path) -> Path:
        monkeypatch.undo()
        first.accept(LAST, RUN, DATA)
        return rename(unfinished, target)

    monkeypatch.setattr(fcntl, "flock", refuse_lock)
    monkeypatch.setattr(Path, "rename", late)
    second.accept(LAST, RUN, DATA)
    assert (first.fetched, second.fetched, second.skipped) == (1, 0, 1)
    assert [path.name for path in tmp_path.iterdir()] == [f"{RECORD.task_id}.0"]


def refuse_lock(_number: int, _operation: int) -> None:
    raise OSError(errno.EBADF, "Bad file descriptor")


KILLED = """
import os, pathlib, signal, sys
sys.path.insert(0, sys.argv[2])
import test_run_files as runs
def kill(*_): os.kill(os.getpid(), signal.SIGKILL)
setattr(pathlib.Path, sys.argv[3], kill)
runs.RunStore(pathlib.Path(sys.argv[1])).accept(runs.LAST, runs.RUN, runs.DATA)
"""


@pytest.mark.parametrize(
    ("step", "left"),
    [
        ("rename", [f".{RECORD.task_id}.0-"]),  # before the run is moved to its place
        ("rmdir", [f"{RECORD.task_id}.0"]),  # while an earlier record is removed
    ],
)
def test_a_killed_fetch(tmp_path: Path, step: str, left: list[str]) -> None:
    """Only whole runs are left once the same command has been run again."""
    RunStore(tmp_path)._write(LOST, None)
    command = [sys.executable, "-c", KILLED, str(tmp_path), str(Path(__file__).parent), step]
    done = subprocess.run(command, check=False, env={**os.environ, "PYTHONPATH": HELPERS})
    assert done.returncode == -signal.SIGKILL
    assert [path.name[: len(left[0])] for path in tmp_path.iterdir()] == left
    resumed = RunStore(tmp_path)
    assert not resumed.has_run(RECORD.task_id, 0)
    resumed.accept(LAST, RUN, DATA)
    assert [path.name for path in tmp_path.iterdir()] == [f"{RECORD.task_id}.0"]
    assert RunStore(tmp_path).has_run(RECORD.task_id, 0)


def test_what_another_process_writes_stays(tmp_path: Path) -> None:
    """A process that is still writing keeps its hidden folder: the next one waits for it."""
    hidden = tmp_path / f".{RECORD.task_id}.0-x"
    hidden.mkdir()
    opened = threading.Thread(target=RunStore, args=(tmp_path,))
    with run_files._locked(tmp_path):
        opened.start()
        opened.join(0.2)
        assert hidden.exists()
    opened.join(10)
    assert not hidden.exists()


@pytest.mark.parametrize("run_id", [-1, 10**9, 10**400])
def test_a_record_whose_number_no_queue_gives(tmp_path: Path, run_id: int) -> None:
    """It is refused in one line, and has no result, so that it stops nothing."""
    RunStore(tmp_path).accept(LAST, RUN, DATA)
    (folder,) = tmp_path.iterdir()
    record = json.loads((folder / run_files.TASK_NAME).read_text()) | {"run_id": run_id}
    (folder / run_files.TASK_NAME).write_text(json.dumps(record))
    with pytest.raises(ResultError, match=r"task\.json: .*`\$\.run_id`"):
        run_files.read_run(folder)


def test_the_folder_of_another_run(tmp_path: Path) -> None:
    """It is not taken for a run that was fetched before."""
    RunStore(tmp_path).accept(LAST, RUN, DATA)
    (folder,) = tmp_path.iterdir()
    folder.rename(run_files.run_folder(tmp_path, RECORD.task_id, 5))
    with pytest.raises(ResultError, match="does not describe this run"):
        RunStore(tmp_path).has_run(RECORD.task_id, 5)
