# SPDX-License-Identifier: MPL-2.0
"""The files of a run, and the folder that fetch fills with them."""

import json
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
    """The second is refused, and a record without a result replaces nothing."""
    before = RunStore(tmp_path)
    for record in earlier:
        before._write(record, None)
    first, second = (RunStore(tmp_path) for _ in range(2))
    first.accept(LAST, RUN, DATA)
    with pytest.raises(ResultError, match="cannot be written"):
        second.accept(LAST, RUN, DATA)
    with pytest.raises(ResultError, match="cannot be written"):
        second._write(LOST, None)
    assert (first.fetched, second.fetched) == (1, 0)
    (folder,) = tmp_path.iterdir()
    assert run_files.read_run(folder).task == RECORD
    assert (folder / run_files.RESULT_NAME).read_bytes() == DATA


def test_the_folder_of_another_run(tmp_path: Path) -> None:
    """It is not taken for a run that was fetched before."""
    RunStore(tmp_path).accept(LAST, RUN, DATA)
    (folder,) = tmp_path.iterdir()
    folder.rename(run_files.run_folder(tmp_path, RECORD.task_id, 5))
    with pytest.raises(ResultError, match="does not describe this run"):
        RunStore(tmp_path).has_run(RECORD.task_id, 5)
