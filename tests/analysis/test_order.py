# SPDX-License-Identifier: MPL-2.0
"""Nothing that is reported depends on the order in which results come, or on their tasks' names."""

import json
import random
from functools import cache
from typing import Any

import past
import seed_case
import seed_workers
from hypothesis import given, settings
from hypothesis import strategies as st

from io_benchmark.analysis.compare import compare
from io_benchmark.analysis.comparing.pairs import Options
from io_benchmark.analysis.history.history_model import HistoryReading
from io_benchmark.analysis.history.readings import readings_of
from io_benchmark.analysis.history.series import history
from io_benchmark.analysis.model.run import Worker
from io_benchmark.report.formats import rendered as rendered_as
from io_benchmark.results import parse
from io_benchmark.sources.run_results import RunResult

BOOTS = ("4514e179-e9e1-4620-b051-b51d93f6b9cd", "0a1b2c3d-e9e1-4620-b051-b51d93f6b9cd")
RUNS = 3
MEASUREMENTS = (
    "random-io/read-depth-32",
    "spawn",
    "sync-write/append-fsync",
    "metadata/stat",
    "metadata/visibility",
    "exec",
    "upload/connection-each",
    "upload/keep-alive",
    "unpack/warm",
)
FORMATS = ("json", "text", "markdown", "html", "perfherder")


@cache
def documents(shared: bool) -> tuple[dict[str, Any], ...]:
    """Runs of two pools with each workload; with `shared` on one machine a pool."""
    made = []
    for boot, pool in zip(BOOTS, ("intel", "amd-16"), strict=True):
        change = {pool: seed_workers.measured(seed=BOOTS.index(boot), only=MEASUREMENTS)}
        for document in seed_case.documents(RUNS, between=0.1, pools=(pool,), change=change):
            document["host"]["boot_id"] = boot if shared else None
            made.append(document)
    return tuple(made)


@cache
def workers(shared: bool) -> tuple[Worker, ...]:
    return tuple(map(seed_workers.worker, documents(shared)))


def rendered(measured: list[Worker]) -> dict[str, str]:
    plan = seed_workers.plan_of(("intel", "amd-16"))
    report = compare(plan, measured, Options(), unreadable=("b", "a"))
    return {form: rendered_as(report, form) for form in FORMATS}


@cache
def expected(shared: bool) -> dict[str, str]:
    return rendered(list(workers(shared)))


@settings(max_examples=4, deadline=None)
@given(order=st.permutations(range(2 * RUNS)), shared=st.booleans())
def test_reports_are_the_same_bytes(order: list[int], shared: bool) -> None:
    """In every format, whether runs are of one machine or of several."""
    assert rendered([workers(shared)[number] for number in order]) == expected(shared)


@cache
def readings() -> tuple[HistoryReading, ...]:
    """Twelve pushes of three runs, two of them on one machine that only its boot id tells."""
    made: list[HistoryReading] = []
    for push in past.pushes(12, workers=3, change_at=6, retrieves=60):
        for number, document in enumerate(push.documents):
            document["host"]["boot_id"] = BOOTS[number // 2]
            result = parse(json.dumps(document).encode(), "document")
            made += readings_of(RunResult(result, None, f"{push.at}-{number}"))[0]
    return tuple(made)


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 1000))
def test_histories_are_the_same_bytes(seed: int) -> None:
    """A machine counts once in each point, whatever comes first."""
    shuffled = list(readings())
    random.Random(seed).shuffle(shuffled)
    made = history("amd-16", shuffled, unreadable=("b", "a"))
    again = history("amd-16", readings(), unreadable=("a", "b"))
    assert rendered_as(made, "json") == rendered_as(again, "json")
    assert {len(point.workers) for point in made.series[0].points} == {2}
