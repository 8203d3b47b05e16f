# SPDX-License-Identifier: MPL-2.0
"""The folder that fetch fills, with two fetches at the same time."""

from pathlib import Path

import pytest
import seed_case
from msgspec import json
from msgspec.structs import replace

from io_benchmark import results
from io_benchmark.sources.folder import run_files
from io_benchmark.sources.folder.run_files import RunStore
from io_benchmark.sources.protocol import LAST
from io_benchmark.sources.run_results import RunResult, TaskRecord

DOCUMENT = seed_case.documents(1)[0]
DATA = json.encode(DOCUMENT)
RECORD = seed_case.record(DOCUMENT)
LOST = replace(RECORD, problem="is still pending")
RUN = RunResult(results.parse(DATA, "a result"), RECORD)


@pytest.mark.parametrize("earlier", [[], [LOST]], ids=["new", "without-result-before"])
def test_two_fetches_get_the_same_run(tmp_path: Path, earlier: list[TaskRecord]) -> None:
    """The second keeps what the first wrote, and a record without a result replaces nothing."""
    before = RunStore(tmp_path)
    for record in earlier:
        before._write(record, None)
    first, second, third = (RunStore(tmp_path) for _ in range(3))
    first.accept(LAST, RUN, DATA)
    second.accept(LAST, RUN, DATA)
    third.runs += first.runs
    third.add_without_result([LOST])
    assert [store.runs for store in (first, second)] == [[RECORD], [None]]
    (folder,) = tmp_path.iterdir()
    assert run_files.read_run(folder).task == RECORD
    assert (folder / run_files.RESULT_NAME).read_bytes() == DATA
