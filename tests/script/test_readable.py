# SPDX-License-Identifier: MPL-2.0
"""Whatever the environment holds, the reader accepts what the script writes."""

import os
import shutil
from typing import Any, get_args, get_type_hints

import pytest
import settings
from msgspec import Meta
from result import files
from worker import WORKLOADS

from io_benchmark.results.format import MAXIMUM_ENTRIES
from io_benchmark.results.parts import MAXIMUM_SAMPLES, Name, Text
from io_benchmark.results.reader import MAXIMUM_PARTS
from io_benchmark.results.workloads.cache_retrieve import CacheRetrieveEntry, RetrieveColumns

NOT_UTF8 = os.fsdecode(b"d\xe9p\xf4t")


def meta(annotated: Any) -> Meta:
    (found,) = (part for part in get_args(annotated) if isinstance(part, Meta))
    return found


def test_the_limits_are_the_readers() -> None:
    """What the script lets through is read."""
    assert meta(Text).max_length == files.TEXT_LENGTH
    assert settings.RETRIEVES_AT_MOST <= MAXIMUM_SAMPLES
    # Half of the commas for the samples' columns, the rest for the timeline beside them.
    commas = {character: most for character, most, _ in MAXIMUM_PARTS}[b","]
    assert settings.RETRIEVES_AT_MOST * len(RetrieveColumns.__struct_fields__) <= commas / 2
    hints = get_type_hints(CacheRetrieveEntry, include_extras=True)
    assert meta(hints["file_sizes_bytes"]).max_length == settings.FILES_AT_MOST
    assert f"^{settings.POOL}$" == meta(Name).pattern


def test_the_most_places_and_destinations_fit(worker):
    """All workloads in as many places as can be given: no more entries than are read."""
    worker.workloads = WORKLOADS
    worker.environment["TASK_ID"] = "Prp_WjpGRx26VH-wA8fjTA"  # elsewhere places must exist
    places = [f"--place=p{at}=/no/where/{at}" for at in range(settings.PLACES_AT_MOST)]
    destinations = [f"--destination={name}" for name in settings.DESTINATIONS]
    code, output = worker.run("--place", "p=/no/where", *places[1:], *destinations)
    assert code == 1
    assert 200 < len(worker.document()["workloads"]) <= MAXIMUM_ENTRIES, output
    worker.result()


ENVIRONMENT = {
    "IO_BENCHMARK_LONG": "x" * 100_000,
    "IO_BENCHMARK_" + "X" * 20_000: "1",
    "IO_BENCHMARK_BYTES": NOT_UTF8,
    "IO_BENCHMARK_ESCAPES": "a\nb\x1b[2J",
    "TASKCLUSTER_ROOT_URL": NOT_UTF8,
    "RUN_ID": "9" * 5000,
    "LC_ALL": NOT_UTF8,
}
LOCATIONS = (
    "[" * 60_000,
    '{"a": "\\udcff"}',
    '{"a": ' + "[" * 900 + "]" * 900 + "}",
    '{"a": %s}' % ("9" * 5000),
)


# What opens files by their names or hands these on.
UPLOADS = ("upload",) if shutil.which("curl") else ()
RUNS = [(location, ()) for location in LOCATIONS[1:]]


@pytest.mark.parametrize(
    ("location", "others"), [(LOCATIONS[0], ("random-io", *UPLOADS)), *RUNS], ids=range(4)
)
def test_a_hostile_environment(worker, location, others):
    """The run succeeds, and its result is read.

    Each byte of a name that is not UTF-8 is a question mark.
    """
    worker.environment |= {**ENVIRONMENT, "TASKCLUSTER_WORKER_LOCATION": location}
    worker.workspace /= NOT_UTF8
    worker.workspace.mkdir()
    worker.artifacts /= NOT_UTF8
    worker.workloads += others
    entries = worker.measure("--retrieves", "20")
    assert all(entry["outcome"]["state"] == "completed" for entry in entries)
    result = worker.result()
    assert result.task.run_id is None
    assert result.storage.places[0].path.endswith("/d?p?t")


def test_only_texts_are_cut() -> None:
    """Columns stay the same objects: they may be long."""
    column = [None, 1, 2]
    document = {"a": "x" * 10_001, "b": [{"c" * 10_001: ["y" * 10_001]}], "d": column, "e": []}
    cut = files._readable(document)
    b = [{"c" * 10_000: ["y" * 10_000]}]
    assert cut == {"a": "x" * 10_000, "b": b, "d": column, "e": []}
    assert cut["d"] is column
