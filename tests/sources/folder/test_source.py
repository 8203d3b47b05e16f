# SPDX-License-Identifier: MPL-2.0
"""Results on this machine, good ones next to every kind of bad one."""

import os
import re
import shutil
from pathlib import Path

import pytest

from io_benchmark.errors import UsageError
from io_benchmark.sources.folder import run_files
from io_benchmark.sources.gather import gather
from io_benchmark.sources.run_results import TaskRecord

GOOD = Path(__file__).parents[2] / "fixtures" / "result-v2.json"
CUT = "ends too early: its upload or download was cut; download it again or measure again"
A, B, C = ("Prp_WjpGRx26VH-wA8fjTA", "MOdWcuTGQvm3BthmXbZHwg", "Qh77Ox1nTlqlkGLffMbrXg")


def add(parent, task_id, run_id=0, pool="amd-16"):
    folder = run_files.run_folder(parent, task_id, run_id)
    folder.mkdir(parents=True)
    shutil.copy(GOOD, folder / run_files.RESULT_NAME)
    record = TaskRecord(
        task_id=task_id,
        run_id=run_id,
        label=f"io-benchmark-{pool}",
        pool=pool,
        task_queue="proj-misc/x",
        worker_group="g",
        worker_id="w",
        state="completed",
        image=None,
        started="",
        resolved="",
    )
    run_files.write_task_record(folder, record)
    return folder


def read(*paths):
    return gather([str(path) for path in paths], {}, lambda _progress: None, lambda result: result)


def sources(gathered):
    return [one.source for one in gathered.results]


def test_a_folder_of_runs(tmp_path):
    """Runs come in the order of their names; other files and unfinished runs are ignored."""
    folders = [add(tmp_path, task_id) for task_id in (A, B, C)]
    (tmp_path / "notes.txt").write_text("x")
    (tmp_path / "other").mkdir()
    (tmp_path / f".{A}.1-0badcafe").mkdir()
    gathered = read(tmp_path)
    assert sources(gathered) == sorted(str(folder) for folder in folders)
    assert (gathered.unreadable, gathered.remarks) == ((), ())


def test_a_bare_file(tmp_path):
    """Its worker is unknown, whatever the names of file and folder."""
    other_name = tmp_path / "a result.json"
    shutil.copy(GOOD, other_name)
    folder = add(tmp_path, A)
    (folder / run_files.TASK_NAME).unlink()
    gathered = read(other_name)
    assert [(one.task, one.pool) for one in gathered.results] == [(None, "intel")]
    assert [one.task for one in read(folder).results] == [None]
    assert [one.task for one in read(folder / run_files.RESULT_NAME).results] == [None]


def test_bad_ones_stop_nothing(tmp_path):
    """Each unreadable result has one line with its file and the reason."""
    bad = add(tmp_path, A)
    (bad / run_files.RESULT_NAME).write_text('{"version": 99}')
    torn = add(tmp_path, B)
    (torn / run_files.TASK_NAME).write_text("{")
    empty = add(tmp_path, B, 1)
    (empty / run_files.RESULT_NAME).unlink()
    deep = add(tmp_path, B, 2)
    (deep / run_files.TASK_NAME).write_text('{"x": ' + "[" * 100_000)
    pipe = add(tmp_path, B, 3)
    (pipe / run_files.RESULT_NAME).unlink()
    os.mkfifo(pipe / run_files.RESULT_NAME)
    task_pipe = add(tmp_path, B, 4)
    (task_pipe / run_files.TASK_NAME).unlink()
    os.mkfifo(task_pipe / run_files.TASK_NAME)
    loop = add(tmp_path, B, 5)
    (loop / run_files.RESULT_NAME).unlink()
    (loop / run_files.RESULT_NAME).symlink_to(run_files.RESULT_NAME)
    good = add(tmp_path, C)
    gathered = read(tmp_path)
    assert sources(gathered) == [str(good)]
    assert gathered.unreadable == (
        f"{torn}/task.json: {CUT}",
        f"{empty}/io-benchmark.json: does not exist: the run left no result",
        f"{deep}/task.json: is nested too deeply",
        f"{pipe}/io-benchmark.json: is not a regular file",
        f"{task_pipe}/task.json: is not a regular file",
        f"{loop}/io-benchmark.json: Too many levels of symbolic links",
        (
            f"{bad}/io-benchmark.json: $.version: 99 is newer than this program, which reads version 2: "
            "update io-benchmark"
        ),
    )


def test_a_run_counts_once(tmp_path):
    """The first address of a run counts; a copy of a bare file is the same run."""
    folder = add(tmp_path / "results", A)
    copied = tmp_path / "copied"
    shutil.copytree(folder, copied / folder.name)
    bare, again = tmp_path / "bare.json", tmp_path / "again.json"
    shutil.copy(GOOD, bare)
    shutil.copy(GOOD, again)
    gathered = read(folder, copied, bare, again, bare)
    assert sources(gathered) == [str(folder)]
    others = (copied / folder.name, bare, again, bare)
    assert gathered.remarks == tuple(
        f"{other}: the same run as {folder}, and counted once" for other in others
    )
    without_task = read(bare, again)
    assert sources(without_task) == [str(bare)]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        pytest.param(
            lambda path: path / "none", "/none: no such file or folder; give a", id="nothing"
        ),
        pytest.param(lambda _path: Path(A), f"is task:{A} or group:{A} meant?", id="bare-id"),
        pytest.param(lambda _path: Path(f"{A}.0"), f"is task:{A}.0 meant?", id="bare-run"),
        pytest.param(lambda path: path, "has no results; name a folder that contains", id="empty"),
        pytest.param(
            lambda path: add(path / "fetch-2", A).parents[1],
            "has several folders of results; name one, such as ",
            id="one-too-high",
        ),
    ],
)
def test_mistakes(tmp_path, make, message):
    """A mistake in an address is a usage error that says what may be meant."""
    with pytest.raises(UsageError, match=re.escape(message)):
        read(make(tmp_path))
