# SPDX-License-Identifier: MPL-2.0
"""Tables of task runs: every form gives the same runs, and nothing in a file is trusted."""

import json
import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from io_benchmark.errors import ResultError, UsageError
from io_benchmark.sources import protocol, run_table
from io_benchmark.sources.gather import gather_task_runs
from io_benchmark.sources.protocol import RunQuery
from io_benchmark.sources.run_results import TaskRun
from io_benchmark.sources.run_table import read_run_table

RUN = TaskRun(
    label="build",
    pool="gecko-1/b-linux",
    task_id="YJJe4a0CRIqbAmcCo8n63w",
    run_id=1,
    worker="us-central1-b/77",
    state="exception",
    reason="worker-shutdown",
    scheduled_ms=1_709_510_400_000,
    started_ms=1_709_510_405_432,
    resolved_ms=1_709_510_465_432,
    cost=0.012244,
    currency="USD",
)
HEAD = "label,pool,worker,state,started,resolved"
ROW = "build,b,w,completed,2026-03-24T10:00:00Z,2026-03-24T10:39:00Z"
EXPORT: dict[str, Any] = {
    "metadata": {"date": "2024-03-04", "taskCount": 2},
    "tables": {
        "labels": ["test", "build"],
        "taskQueueIds": ["gecko-1/b-linux"],
        "resolutions": ["completed", "exception - worker-shutdown"],
        "workerGroups": ["us-central1-a", "us-central1-b"],
        "workerIds": ["76", "77"],
    },
    "tasks": {
        "scheduled": [1_709_510_399_850, 150],
        "started": [None, 5432],
        "resolved": [3_600_000, 65432],
        "resolutionIds": [0, 1],
        "taskIds": ["XPPf5b1DRJrcBndDp9o74x", "YJJe4a0CRIqbAmcCo8n63w.1"],
        "labelIds": [0, 1],
        "taskQueueIdIds": [0, 0],
        "workerIdIds": [None, 1],
        "runCosts": [0, 0.012244],
    },
    "workerInfo": {"workerGroupIds": [0, 1]},
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "runs"


def read(path: Path, text: str | bytes, **wanted: Any) -> tuple[list[TaskRun], list[str]]:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    query = RunQuery({}, **wanted)
    lines = read_run_table(path, query, 0)
    return [run for _, run in query.runs], [line.removeprefix(f"{path}: ") for line in lines]


AS_OBJECT = {
    "task_id": RUN.task_id,
    "run_id": 1,
    "label": "build",
    "pool": RUN.pool,
    "worker": RUN.worker,
    "state": "exception",
    "reason": "worker-shutdown",
    "scheduled": "2024-03-04T00:00:00Z",
    "started": 1_709_510_405_432,
    "resolved": "2024-03-04 00:01:05.432",
    "cost": "0.012244",
    "other": {"nested": []},
}
FORMS = {
    "export": json.dumps(EXPORT),
    "list": json.dumps([AS_OBJECT]),
    "csv": "label,pool, extra,task_id,worker,run_id,state,reason,cost,scheduled,started,"
    "resolved\n\n"
    f"build,gecko-1/b-linux,x,{RUN.task_id},us-central1-b/77, 1,exception,worker-shutdown,0.012244,"
    "1709510400,1709510405.432,1709510465432,beyond\n",
}


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
def test_forms(file, text):
    """The same run in each form."""
    assert read(file, text, label=re.compile("build")) == ([RUN], [])


def test_the_system(file):
    """A column that a table may have."""
    runs, _ = read(file, f"{HEAD},os\n{ROW},windows\n")
    assert [run.system for run in runs] == ["windows"]


def test_the_export_has_times_as_differences(file):
    """The first row is absolute, the others follow.

    Null has never started, a cost of 0 is not known.
    """
    (first, _), _ = read(file, json.dumps(EXPORT))
    names = ("test", RUN.pool, "XPPf5b1DRJrcBndDp9o74x", 0, "", "completed", "completed")
    assert first == TaskRun(*names, scheduled_ms=1_709_510_399_850, resolved_ms=1_709_513_999_850)


@pytest.mark.parametrize(
    ("wanted", "count"),
    [
        ({}, 1),
        ({"pools": ("b",)}, 1),
        ({"pools": ("c",)}, 0),
        ({"label": re.compile("^uild")}, 0),
        ({"since": date(2026, 3, 24)}, 1),
        ({"since": date(2026, 3, 25)}, 0),
    ],
)
def test_selection(file, wanted, count):
    """By label, pool and the day of the start."""
    runs, _ = read(file, f"{HEAD}\n{ROW}\n", **wanted)
    assert len(runs) == count


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"started": "yesterday"}, "started: 'yesterday' is not a time"),
        ({"started": "1e400"}, "started: '1e400' is not a time"),
        ({"started": "9999-12-31T23:59:59-12:00"}, "is not a time"),
        ({"label": ""}, "row 1: label: is missing; the row is left out"),
        ({"label": "x" * 201}, "Expected `str` of length <= 200"),
        ({"state": "done"}, "state: 'done' is none of"),
        ({"run_id": "x"}, "run_id: 'x': Expected `int`"),
        ({"cost": "1e7"}, "cost: '1e7': Expected `float` <= 1000000.0"),
        ({"cost": "9.9e-10"}, "cost: '9.9e-10' is less than 0.000000001; write 0 if it is not kn"),
        ({"cost": 5e-324}, "cost: 5e-324 is less than 0.000000001; write 0 if it is not known"),
        ({"currency": "euro"}, "currency: 'euro': Expected `str` matching"),
    ],
)
def test_bad_rows_are_left_out_and_named(file, change, message):
    """The others are used."""
    runs, (line,) = read(file, json.dumps([{**AS_OBJECT, **change}, AS_OBJECT]))
    assert runs == [RUN]
    assert line.startswith("row 1: ")
    assert message in line
    assert line.endswith("; the row is left out")


@pytest.mark.parametrize("column", ["label", "run_id", "started", "own_ended", "cost"])
@pytest.mark.parametrize("number", [10**400, -(10**400), 1e308], ids=["long", "negative", "float"])
def test_numbers_of_any_size(file, column, number):
    """A row with one in any column is left out, or used."""
    runs, lines = read(file, json.dumps([{**AS_OBJECT, column: number}, AS_OBJECT]))
    assert len(runs) + len(lines) == 2


def changed(part: str, key: str, value: object) -> str:
    """Return the export with another value."""
    return json.dumps({**EXPORT, part: {**EXPORT[part], key: value}})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("label,pool\nx,y\n", "has no column state, started, resolved; the columns are label"),
        ("{", "cannot be read as JSON: ends too early: its upload"),
        ("[1]", "row 1 is not an object"),
        ("{}", "is neither a list of runs nor"),
        ("[" * 100_000, "cannot be read as JSON: is nested"),
        ("[" * 1_500_001, "has too many values"),
        ("[" + "," * 8_000_001, "has too many values"),
        (b"label,pool,state,started,resolved\n\xff\n", "is not text in UTF-8"),
        (f'{HEAD}\n"{"x" * 200_000}"\n', "is not CSV"),
        (f'{HEAD}\n"a"b,c\n', "is not CSV"),
        ('{"tasks": {}, "tables": {}}', "tasks has no scheduled, started, resolved, label"),
        (json.dumps({**EXPORT, "tables": 1}), "is neither a list of runs"),
        (changed("tasks", "started", [1]), "differ in length"),
        (changed("tasks", "scheduled", ["x", 1]), "'x' is not a number of milliseconds"),
        (changed("tasks", "scheduled", [1_709_510_399_850, "x"]), "'x' is not a number"),
        (changed("tasks", "scheduled", [10**400, 1]), "is not a number"),
    ],
)
def test_bad_files(file, text, message):
    """One line that says what is wrong, and none of the file's runs; those of other files stay."""
    runs = [RUN]
    with pytest.raises(ResultError, match=re.escape(message)) as caught:
        read(file, text, runs=runs)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600
    assert runs == [RUN]


def test_the_longest_name_and_the_highest_cost(file, monkeypatch):
    """The limits themselves are allowed, also that of the file's size."""
    text = json.dumps([{**AS_OBJECT, "label": "x" * 200, "cost": 1e6}])
    for limit in ("_MOST_BYTES", "_MOST_JSON_BYTES"):
        monkeypatch.setattr(run_table, limit, len(text))
    ((run,), _) = read(file, text)
    assert (run.label, run.cost) == ("x" * 200, 1e6)
    monkeypatch.setattr(run_table, "_MOST_JSON_BYTES", len(text) - 1)
    with pytest.raises(ResultError, match=r"is JSON larger than .*; split it"):
        read(file, text)


def test_limits(file, tmp_path, monkeypatch):
    """Bad rows after the third are counted.

    Too much, a folder and a missing file are one line each.
    """
    _, lines = read(file, "\n".join([HEAD, *["build,b,w,x,,"] * 10]))
    assert (len(lines), lines[-1]) == (4, "7 more rows left out")
    monkeypatch.setattr(run_table, "_MOST_BYTES", 10)
    with pytest.raises(ResultError, match="is larger than"):
        read(file, f"{HEAD}\n{ROW}\n")
    monkeypatch.undo()
    monkeypatch.setattr(protocol, "MOST_RUNS", 1)
    with pytest.raises(UsageError, match="more than 1 runs; select fewer"):
        read(file, f"{HEAD}\n{ROW}\n{ROW}\n")
    for path in (tmp_path, tmp_path / "missing"):
        with pytest.raises(ResultError, match="is not a file"):
            read_run_table(path, RunQuery({}), 0)


def test_a_run_in_two_tables(tmp_path: Path) -> None:
    """It counts once, by the record that has a cost."""
    for name, cost in (("a", ""), ("b", "0.012244"), ("c", "")):
        (tmp_path / f"{name}.json").write_text(json.dumps([{**AS_OBJECT, "cost": cost}]))
    gathered = gather_task_runs([str(tmp_path / f"{name}.json") for name in "abc"], RunQuery({}))
    assert gathered.results == (RUN,)
    assert gathered.remarks == ("runs that were read more than once: 2; each counts once",)
