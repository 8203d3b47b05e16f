# SPDX-License-Identifier: MPL-2.0
"""The limits of all results of one command."""

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from io_benchmark.sources import run_files
from io_benchmark.sources.budget import Budget
from io_benchmark.sources.gather import gather
from io_benchmark.sources.run_results import _weight_bytes

GOOD = Path(__file__).parents[1] / "fixtures" / "result-v2.json"


@pytest.fixture
def measured():
    return replace(run_files.read_run(GOOD), source="first")


def test_what_does_not_fit_is_named_once(measured):
    """One line names all; an equally large result is not even read."""
    budget = Budget(kept_bytes=2 * measured.weight_bytes)
    assert [budget.keep(replace(measured, source="r")) for _ in range(2)] == [True, True]
    assert budget.take_left_out() == []
    kept = [budget.keep(replace(measured, source=f"r{number}")) for number in range(1, 5)]
    assert kept == [False] * 4
    assert not budget.allows_reading("r5", measured.size_bytes)
    assert budget.allows_reading("small", measured.size_bytes - 1)
    (line,) = budget.take_left_out()
    assert line == (
        "left out 5 results: one command reads at most 320 MB into memory; give fewer tasks or "
        "folders at once. Left out: r1, r2, r3 and 2 more"
    )
    assert budget.take_left_out() == []


def test_an_invalid_file_is_counted(tmp_path):
    """Its bytes were read; the next file is left out."""
    invalid, valid = tmp_path / "a.json", tmp_path / "b.json"
    invalid.write_text("{" + " " * 99)
    valid.write_text(GOOD.read_text())
    addresses, budget = (str(invalid), str(valid)), Budget(read_bytes=100)
    gathered = gather(addresses, {}, lambda *_: None, lambda run: run, budget)
    assert gathered.results == ()
    assert gathered.unreadable[0].startswith(f"{invalid}: ")
    assert gathered.unreadable[1].endswith(f" Left out: {valid}")


def test_measurements_are_counted_by_pool(measured):
    """A measurement of a pool counts once; a result takes at most half of what is left."""
    budget = Budget(most_subjects=4)
    task = measured.result.task
    of_pools = [replace(measured.result, task=replace(task, pool=pool)) for pool in "aabcda"]
    kept = [budget.keep(replace(measured, result=result)) for result in of_pools]
    assert kept == [True, True, True, True, False, True]


def test_the_weight(measured):
    """Bytes per sample, per value of the timeline, per second of a plot, by parts of the text."""
    document = json.loads(GOOD.read_bytes())
    tables = [document["timeline"]["columns"], *document["timeline"]["devices"].values()]
    rows = len(tables[0]["time_ns"])
    values = rows * sum(map(len, tables))
    samples = sum(
        len(column) for entry in document["workloads"] for column in entry["samples"].values()
    )
    numbers = samples * (14 - 40) + values * (10 - 40) + rows * 40
    assert _weight_bytes(measured.result, b"") == numbers
    text = b'{"a": {}, "b": [[1, 2, 3]]}'
    expected = numbers + 2 * 160 + 4 * 32 + 2 * 100 + 3 * 40
    assert _weight_bytes(measured.result, text) == expected
    assert measured.size_bytes < measured.weight_bytes < 10 * measured.size_bytes
