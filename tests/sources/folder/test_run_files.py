# SPDX-License-Identifier: MPL-2.0
"""The files of a run: TASKID.RUNID/io-benchmark.json and task.json."""

import json
import shutil
from pathlib import Path

import pytest

from io_benchmark.errors import ResultError
from io_benchmark.sources.folder import run_files
from io_benchmark.sources.run_results import TaskRecord

GOOD = Path(__file__).parents[2] / "fixtures" / "result-v2.json"
TASK_ID = "Prp_WjpGRx26VH-wA8fjTA"
RECORD = TaskRecord(
    task_id=TASK_ID,
    run_id=0,
    label="io-benchmark-amd-16",
    pool="amd-16",
    task_queue="proj-misc/b-linux-docker-amd",
    worker_group="local",
    worker_id="vm-amd16-1",
    state="completed",
    image=None,
    started="2026-11-21T08:38:22.384Z",
    resolved="2026-11-21T08:38:24.725Z",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = run_files.run_folder(tmp_path, TASK_ID, 0)
    made.mkdir()
    shutil.copy(GOOD, made / run_files.RESULT_NAME)
    return made


def test_what_is_written_is_read_back(folder: Path) -> None:
    """The queue's record comes back unchanged; its pool has precedence over the file's."""
    run_files.write_task_record(folder, RECORD)
    measured = run_files.read_run(folder)
    assert measured.task == RECORD
    assert (measured.pool, measured.result.task.pool) == ("amd-16", "intel")
    assert folder.name == f"{TASK_ID}.0"


def test_an_older_record(folder: Path) -> None:
    """Older records, without group and revision, are read as well."""
    run_files.write_task_record(folder, RECORD)
    written = json.loads((folder / run_files.TASK_NAME).read_text())
    for name in ("reason_resolved", "task_group_id", "revision"):
        del written[name]
    (folder / run_files.TASK_NAME).write_text(json.dumps(written))
    assert run_files.read_run(folder).task == RECORD


@pytest.mark.parametrize(
    ("task_id", "run_id"),
    [
        pytest.param("../../etc", 0, id="path"),
        pytest.param("a" * 21, 0, id="short"),
        pytest.param("a" * 22, -1, id="negative-run"),
        pytest.param("a" * 21 + "/", 0, id="slash"),
    ],
)
def test_only_a_task_id_names_a_folder(tmp_path: Path, task_id: str, run_id: int) -> None:
    """An id from outside never becomes another path."""
    with pytest.raises(ResultError, match=r"is not of the form TASKID\.RUNID"):
        run_files.run_folder(tmp_path, task_id, run_id)
