# SPDX-License-Identifier: MPL-2.0
"""Results on this machine: good and bad ones, and folders as downloads leave them."""

import json
import os
import re
import shutil
from pathlib import Path

import pytest
import seed_case

from io_benchmark.errors import UsageError
from io_benchmark.sources import folder_source, run_files
from io_benchmark.sources.gather import Gathered, gather
from io_benchmark.sources.run_results import RunResult

GOOD = (Path(__file__).parents[1] / "fixtures" / "result-v2.json").read_bytes()
CUT = "ends too early: its upload or download was cut; download it again or measure again"
A, B, C = ("Prp_WjpGRx26VH-wA8fjTA", "MOdWcuTGQvm3BthmXbZHwg", "Qh77Ox1nTlqlkGLffMbrXg")


def add(parent: Path, task_id: str, run_id: int = 0) -> Path:
    """Add the folder of a run, as `fetch` writes it."""
    document = json.loads(GOOD)
    document["task"] |= {"task_id": task_id, "run_id": run_id}
    run_files.RunStore(parent)._write(seed_case.record(document), GOOD)
    return run_files.run_folder(parent, task_id, run_id)


def read(*paths: Path) -> Gathered[RunResult]:
    return gather([str(path) for path in paths], {}, lambda *_: None, lambda result: result)


def sources(gathered: Gathered[RunResult]) -> list[str]:
    return [run.source for run in gathered.results]


def test_bad_runs_stop_nothing(tmp_path: Path) -> None:
    """Each unreadable result has one line with its file and the reason; other files are ignored."""
    bad, torn, good = add(tmp_path, A), add(tmp_path, B), add(tmp_path, C)
    (bad / run_files.RESULT_NAME).write_text('{"version": 99}')
    (torn / run_files.TASK_NAME).write_text("{")
    empty, pipe, task_pipe, loop = (add(tmp_path, B, number) for number in range(1, 5))
    for folder in (empty, pipe, loop):
        (folder / run_files.RESULT_NAME).unlink()
    os.mkfifo(pipe / run_files.RESULT_NAME)
    (task_pipe / run_files.TASK_NAME).unlink()
    os.mkfifo(task_pipe / run_files.TASK_NAME)
    (loop / run_files.RESULT_NAME).symlink_to(run_files.RESULT_NAME)
    (tmp_path / "notes.txt").write_text("x")
    (tmp_path / "other").mkdir()
    (tmp_path / f".{A}.1-0badcafe").mkdir()
    gathered = read(tmp_path)
    assert sources(gathered) == [str(good)]
    newer = "$.version: 99 is newer than this program, which reads version 2: update io-benchmark"
    assert gathered.unreadable == (
        f"{torn}/task.json: {CUT}",
        f"{empty}/io-benchmark.json: does not exist: the run left no result",
        f"{pipe}/io-benchmark.json: is not a regular file",
        f"{task_pipe}/task.json: is not a regular file",
        f"{loop}/io-benchmark.json: Too many levels of symbolic links",
        f"{bad}/io-benchmark.json: {newer}",
    )


def test_a_run_counts_once(tmp_path: Path) -> None:
    """The first address of a run counts.

    A copy of a bare file, whose worker is not known, is the same.
    """
    folder = add(tmp_path / "results", A)
    copied = tmp_path / "copied"
    shutil.copytree(folder, copied / folder.name)
    bare, again = tmp_path / "bare.json", tmp_path / "again.json"
    shutil.copy(folder / run_files.RESULT_NAME, bare)
    shutil.copy(bare, again)
    gathered = read(folder, copied, bare, again, bare)
    assert sources(gathered) == [str(folder)]
    assert gathered.remarks == tuple(
        f"{other}: the same run as {folder}, and counted once"
        for other in (copied / folder.name, bare, again, bare)
    )
    (measured,) = read(bare, again).results
    assert (measured.source, measured.task, measured.pool) == (str(bare), None, "intel")
    # In the other order the run is counted with its record.
    gathered = read(bare, folder)
    assert [run.task is not None for run in gathered.results] == [True]
    assert gathered.remarks == (f"{bare}: the same run as {folder}, and counted once",)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("none", "none: no such file or folder; check the"),
        (A, f"{A}: no such file or folder; is task:{A} or group:{A} meant?"),
        (f"{A}.0", f"is task:{A}.0 meant?"),
        (".", "has no results; name a folder that contains"),
    ],
)
def test_mistakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, message: str) -> None:
    """A mistake in an address is a usage error that says what may be meant."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=re.escape(message)):
        read(Path(name))


@pytest.mark.parametrize("name", ["io-benchmark-amd-{}", "io-benchmark-amd-16-v2.{}"])
def test_downloads_are_read_unchanged(tmp_path: Path, name: str) -> None:
    """A folder per artifact, whose name may be of the form TASKID.RUNID, and other files."""
    for number in range(2):
        document = json.loads(GOOD) | {"duration_ns": number}
        (folder := tmp_path / name.format(number) / "io-benchmark").mkdir(parents=True)
        (folder / "io-benchmark.json").write_text(json.dumps(document))
    (tmp_path / "README.txt").write_text("x")
    (tmp_path / "report" / f"{A}.0").mkdir(parents=True)
    gathered = read(tmp_path)
    assert [run.result.duration_ns for run in gathered.results] == [0, 1]
    assert (gathered.unreadable, gathered.remarks) == ((), ())


def test_zip_files_are_named(tmp_path: Path) -> None:
    """They may hold results, so nobody must take a comparison without them for a whole one."""
    for name in ("amd-0.zip", "amd-1.zip"):
        (tmp_path / name).write_bytes(b"PK\x03\x04")
    with pytest.raises(UsageError, match="has no results; unpack its zip files"):
        read(tmp_path)
    (tmp_path / "io-benchmark.json").write_bytes(GOOD)
    first = tmp_path / "amd-0.zip"
    remark = "is a zip file and was not read; unpack it, like 1 more"
    assert read(tmp_path).remarks == (f"{first}: {remark}",)
    assert read(first).unreadable == (f"{first}: is a zip file; unpack it",)


def test_links(tmp_path: Path) -> None:
    """A link to a run's folder is read; links are not searched, as they may lead in circles."""
    (run := tmp_path / "elsewhere").mkdir()
    (run / "io-benchmark.json").write_bytes(GOOD)
    results = tmp_path / "results"
    (results / "a").mkdir(parents=True)
    (results / "a" / "run").symlink_to(run)
    (results / "a" / "up").symlink_to(results)
    (results / "all").symlink_to(tmp_path)
    (results / "loop").symlink_to("loop")
    (results / "gone").symlink_to("nowhere")
    gathered = read(results)
    assert sources(gathered) == [str(results / "a" / "run")]
    assert (gathered.unreadable, gathered.remarks) == ((), ())


def test_depth(tmp_path: Path) -> None:
    """Ten folders are searched; what is deeper is named and no error."""
    tenth = tmp_path.joinpath(*"abcdefghij")
    (tenth / "k").mkdir(parents=True)
    (tenth / "l").mkdir()
    (tenth / "io-benchmark.json").write_bytes(GOOD)
    (tenth / "k/io-benchmark.json").write_bytes(GOOD)
    gathered = read(tmp_path)
    assert sources(gathered) == [str(tenth)]
    remark = f"{tenth}/k: is more than 10 folders deep and was not searched, like 1 more"
    assert gathered.remarks == (remark,)


def test_a_folder_with_too_many_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The search ends, and says what to do."""
    monkeypatch.setattr(folder_source, "_MAXIMUM_FILES", 20)
    (tmp_path / "io-benchmark.json").write_bytes(GOOD)
    for number in range(19):
        (tmp_path / str(number)).touch()
    assert len(read(tmp_path).results) == 1
    (tmp_path / "one-more").touch()
    with pytest.raises(UsageError, match="has more than 20 files and folders; name a folder that"):
        read(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may search every folder")
def test_a_folder_that_may_not_be_searched(tmp_path: Path) -> None:
    """It may hold a result, so it is a problem, and the others are read."""
    (tmp_path / "io-benchmark.json").write_bytes(GOOD)
    (closed := tmp_path / "closed").mkdir(mode=0)
    gathered = read(tmp_path)
    assert len(gathered.results) == 1
    assert gathered.unreadable == (f"{closed}: cannot be searched (Permission denied)",)


def test_folders_from_fetch_are_not_mixed(tmp_path: Path) -> None:
    """A folder of fetched folders is several pushes, also with artifacts next to them."""
    seed_case.write(tmp_path / "before", pools=("intel",))
    seed_case.write(tmp_path / "after", pools=("intel",))
    (tmp_path / "artifact").mkdir()
    (tmp_path / "artifact/io-benchmark.json").write_bytes(GOOD)
    newest = f"has several folders of results; name one, such as {tmp_path / 'before'}"
    with pytest.raises(UsageError, match=re.escape(newest)):
        read(tmp_path)
