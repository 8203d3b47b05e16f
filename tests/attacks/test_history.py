# SPDX-License-Identifier: MPL-2.0
"""What one hostile result may put into a history is bounded, and what was cut is said."""

import json
from typing import Any

import msgspec
import past
import workload_entries
from seed_case import outcome

from io_benchmark.analysis.history import readings
from io_benchmark.analysis.history.readings import readings_of
from io_benchmark.analysis.history.series import history
from io_benchmark.report.formats import output
from io_benchmark.results import parse
from io_benchmark.sources.run_results import RunResult

MOST_BYTES = 1_100_000
LONG = "ж" * 4_000
SAMPLES = 20


def many_places(count: int) -> list[dict[str, Any]]:
    made = []
    for at in range(count):
        (entry,) = workload_entries.entries(only=("spawn",), place=f"place-{at:06d}")
        entry["samples"] = {name: some[:SAMPLES] for name, some in entry["samples"].items()}
        made.append(entry)
    return made


def rendered(document: dict[str, Any], push: past.Push, **record: str) -> tuple[str, str, str]:
    result = parse(json.dumps(document, ensure_ascii=False).encode(), "document")
    task = msgspec.structs.replace(past.record(push, document), **record)
    measured = RunResult(result, task, "somewhere")
    readings, left_out = readings_of(measured)
    found = history("amd-16", readings, left_out=left_out)
    text, comment, page = (output.rendered(found, form) for form in ("json", "markdown", "html"))
    return text, comment, page


def cut(document: str) -> str:
    """What is said to have been cut."""
    reasons = [left_out["reason"]["text"] for left_out in json.loads(document)["left_out"]]
    (reason,) = [text for text in reasons if "cut:" in text]
    return str(reason)


def test_measurements() -> None:
    """Hundreds of places, each with texts as long as they may be."""
    count = 300
    (push,) = past.pushes(1, retrieves=60)
    (document,) = push.documents
    document["workloads"] += many_places(count)
    for entry in document["workloads"][1:]:
        entry["observed"]["method"] = LONG
        entry["observed"]["python"] = LONG
    made = rendered(document, push)
    assert max(len(one.encode()) for one in made) < MOST_BYTES
    beyond = count + 1 - readings.MEASUREMENTS
    assert f"{beyond:,} of {count + 1:,} measurements" in cut(made[0])


def test_facts() -> None:
    """Hundreds of virtual memory settings and tools."""
    (push,) = past.pushes(1, retrieves=60)
    (document,) = push.documents
    document["host"]["vm"] = {f"{LONG[:500]}{at}": at for at in range(400)}
    made = rendered(document, push)
    assert max(len(one.encode()) for one in made) < MOST_BYTES
    assert "facts about its worker" in cut(made[0])


def test_what_is_left_out() -> None:
    """Hundreds of measurements that failed, each with a reason of its own."""
    (push,) = past.pushes(1, retrieves=60)
    (document,) = push.documents
    failed = many_places(300)
    for at, entry in enumerate(failed):
        entry |= {"outcome": outcome("failed", f"{at} {LONG}")}
    document["workloads"] += failed
    made = rendered(document, push)
    assert max(len(one.encode()) for one in made) < MOST_BYTES
    assert "lines about what was left out" in cut(made[0])


def test_names() -> None:
    """A record with a revision, a group and a worker of a megabyte each."""
    (push,) = past.pushes(1, retrieves=60)
    long = "x" * 1_000_000
    made = rendered(push.documents[0], push, revision=long, task_group_id=long, worker_id=long)
    assert max(len(one.encode()) for one in made) < MOST_BYTES
    (series,) = json.loads(made[0])["series"]
    assert max(map(len, (series["points"][0]["revision"], series["points"][0]["group"]))) == (
        readings.IDENTIFIER
    )


def test_what_differs_stays_different() -> None:
    """Two long texts that differ at their ends are two conditions still."""
    one, other = (readings._shorten(LONG + end, readings.VALUE) for end in "ab")
    assert one != other
    assert len(one) == len(other) == readings.VALUE
