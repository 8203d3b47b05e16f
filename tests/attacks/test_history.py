# SPDX-License-Identifier: MPL-2.0
"""What one hostile result may put into a history is bounded, and what was cut is said."""

import json
from typing import Any

import msgspec
import past
import pytest
import workload_entries
from seed_case import outcome

from io_benchmark.analysis.history import bounds, readings
from io_benchmark.analysis.history.readings import readings_of
from io_benchmark.analysis.history.series import history
from io_benchmark.report.formats import rendered
from io_benchmark.results import parse
from io_benchmark.sources.run_results import RunResult

MOST_BYTES = 1_100_000
LONG = "ж" * 4_000
SAMPLES = 20
COUNT = 300


def many_places(count: int) -> list[dict[str, Any]]:
    made = []
    for number in range(count):
        (entry,) = workload_entries.entries(only=("spawn",), place=f"place-{number:06d}")
        entry["samples"] = {name: values[:SAMPLES] for name, values in entry["samples"].items()}
        made.append(entry)
    return made


def long_measurements(document):
    """Hundreds of places, each with texts as long as they may be."""
    document["workloads"] += many_places(COUNT)
    for entry in document["workloads"][1:]:
        entry["observed"] |= {"method": LONG, "python": LONG}


def many_facts(document):
    """Hundreds of virtual memory settings."""
    document["host"]["vm"] = {f"{LONG[:500]}{number}": number for number in range(400)}


def failed_measurements(document):
    """Hundreds of measurements that failed, each with a reason of its own."""
    failed = many_places(COUNT)
    for number, entry in enumerate(failed):
        entry |= {"outcome": outcome("failed", f"{number} {LONG}")}
    document["workloads"] += failed


@pytest.mark.parametrize(
    ("change", "cut"),
    [
        (long_measurements, f"{COUNT + 1 - readings.MEASUREMENTS:,} of {COUNT + 1:,} measurements"),
        (many_facts, "facts about its worker"),
        (failed_measurements, "lines about what was left out"),
    ],
)
def test_what_is_cut_is_said(change, cut):
    """The history of one hostile result stays small in each format."""
    (push,) = past.pushes(1, retrieves=60)
    document = push.documents[0]
    # With names of a megabyte, where the rest is small.
    name = "x" * (1_000_000 if change is many_facts else 1)
    change(document)
    result = parse(json.dumps(document, ensure_ascii=False).encode(), "document")
    record = msgspec.structs.replace(
        past.record(push, document), revision=name, task_group_id=name, worker_id=name
    )
    points, left_out = readings_of(RunResult(result, record, "somewhere"))
    report = history("amd-16", points, left_out=left_out)
    formats = {form: rendered(report, form) for form in ("json", "markdown", "html")}
    assert max(len(content.encode()) for content in formats.values()) < MOST_BYTES
    made = json.loads(formats["json"])
    reasons = [entry["reason"]["text"] for entry in made["left_out"]]
    (reason,) = [sentence for sentence in reasons if "cut:" in sentence]
    assert cut in reason
    # Fifty lines, and this one.
    assert len(reasons) <= 51
    for series in made["series"]:
        names = (series["points"][0]["revision"], series["points"][0]["group"])
        assert max(map(len, names)) == min(len(name), bounds.IDENTIFIER)
