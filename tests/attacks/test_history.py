# SPDX-License-Identifier: MPL-2.0
"""What one hostile result may put into a history is bounded, and what was cut is said."""

import json
from collections.abc import Callable
from typing import Any

import msgspec
import past
import pytest
import workload_entries
from seed_case import outcome

from io_benchmark.analysis.history import readings
from io_benchmark.analysis.history.readings import readings_of
from io_benchmark.analysis.history.series import history
from io_benchmark.report.formats import rendered as rendered_as
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


def rendered(document: dict[str, Any], push: past.Push, **record: str) -> dict[str, Any]:
    """Return the history as data, after a look at the size of each format."""
    result = parse(json.dumps(document, ensure_ascii=False).encode(), "document")
    task = msgspec.structs.replace(past.record(push, document), **record)
    measured = RunResult(result, task, "somewhere")
    points, left_out = readings_of(measured)
    report = history("amd-16", points, left_out=left_out)
    formats = {form: rendered_as(report, form) for form in ("json", "markdown", "html")}
    assert max(len(content.encode()) for content in formats.values()) < MOST_BYTES
    made: dict[str, Any] = json.loads(formats["json"])
    return made


def long_measurements(document: dict[str, Any]) -> None:
    """Hundreds of places, each with texts as long as they may be."""
    document["workloads"] += many_places(COUNT)
    for entry in document["workloads"][1:]:
        entry["observed"] |= {"method": LONG, "python": LONG}


def many_facts(document: dict[str, Any]) -> None:
    """Hundreds of virtual memory settings."""
    document["host"]["vm"] = {f"{LONG[:500]}{number}": number for number in range(400)}


def failed_measurements(document: dict[str, Any]) -> None:
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
def test_what_is_cut_is_said(change: Callable[[dict[str, Any]], None], cut: str) -> None:
    """The history of one hostile result stays small in each format."""
    (push,) = past.pushes(1, retrieves=60)
    change(push.documents[0])
    reasons = [entry["reason"]["text"] for entry in rendered(push.documents[0], push)["left_out"]]
    (reason,) = [sentence for sentence in reasons if "cut:" in sentence]
    assert cut in reason
    # Fifty lines, and this one.
    assert len(reasons) <= 51


def test_names() -> None:
    """A record with a revision, a group and a worker of a megabyte each."""
    (push,) = past.pushes(1, retrieves=60)
    long = "x" * 1_000_000
    made = rendered(push.documents[0], push, revision=long, task_group_id=long, worker_id=long)
    (series,) = made["series"]
    assert max(map(len, (series["points"][0]["revision"], series["points"][0]["group"]))) == (
        readings.IDENTIFIER
    )
