# SPDX-License-Identifier: MPL-2.0
"""What a worker recorded of an operation's time, in parts that add up to its mean."""

import json

import pytest
import seed_case
from msgspec.structs import replace

from io_benchmark import results
from io_benchmark.analysis.model.time_parts import Kind, Part, Phase
from io_benchmark.analysis.reading.intake import (
    _parts_of_batches,
    _parts_of_retrieves,
    worker_of,
)
from io_benchmark.results.parts import BatchColumns, ProcessTimes
from io_benchmark.results.workloads.cache_retrieve import RetrieveColumns
from io_benchmark.sources.run_results import RunResult


def shares(parts: dict[Part, float]) -> dict[Kind, float]:
    assert {part.phase for part in parts} == {Phase.OPERATION}
    return {part.kind: value for part, value in parts.items()}


# 100 ns for 10 operations: the mean is 10.
BATCHES = BatchColumns(start_ns=[0, 50], duration_ns=[60, 40], operations=[4, 6])


KINDS = (Kind.USER, Kind.KERNEL, Kind.WAITING, Kind.BLOCKED)


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        pytest.param((100, 20, 30, 10), (2, 3, 1, 4), id="one process"),
        pytest.param((800, 160, 240, 80), (2, 3, 1, 4), id="eight at once"),
        pytest.param((100, 120, 80, 50), (6, 4, 0, 0), id="more CPU time than there was"),
        pytest.param((100, 20, 30, 90), (2, 3, 5, 0), id="more waiting than is left"),
        pytest.param((100, 0, 0, 0), (0, 0, 0, 10), id="blocked throughout"),
        pytest.param((1, 10**16, 10**16, 10**16), (5, 5, 0, 0), id="hostile"),
    ],
)
def test_parts_of_batches(times, expected):
    """The shares of the processes' time, of the mean; together they are the mean."""
    parts = shares(_parts_of_batches(BATCHES, ProcessTimes(*times), 0.0))
    assert parts == pytest.approx(dict(zip(KINDS, expected, strict=True)))


def test_parts_of_batches_that_are_unknown() -> None:
    """What was not recorded is one part; without an operation there is none."""
    assert shares(_parts_of_batches(BATCHES, None, 0.0)) == {Kind.UNEXPLAINED: 10.0}
    parts = shares(_parts_of_batches(BATCHES, ProcessTimes(100, 20, 30, None), 0.0))
    assert parts == {Kind.USER: 2.0, Kind.KERNEL: 3.0, Kind.UNEXPLAINED: 5.0}
    nothing = BatchColumns(start_ns=[], duration_ns=[], operations=[])
    assert _parts_of_batches(nothing, None, 0.0) == {}


def retrieves(**spent: list[int] | None) -> RetrieveColumns:
    return RetrieveColumns(
        file_index=[0, 1], start_ns=[0, 9], lookup_ns=[4, 6], copy_ns=[40, 60], **spent
    )


def test_parts_of_retrieves() -> None:
    """Each phase is divided as far as the worker recorded it."""
    columns = retrieves(
        lookup_user_ns=[1, 2],
        lookup_kernel_ns=[1, 0],
        lookup_waiting_ns=[0, 1],
        copy_user_ns=[0, 10],
        copy_kernel_ns=[10, 20],
    )
    assert _parts_of_retrieves(columns, 0.0) == {
        Part(Phase.LOOKUP, Kind.USER): 1.5,
        Part(Phase.LOOKUP, Kind.KERNEL): 0.5,
        Part(Phase.LOOKUP, Kind.WAITING): 0.5,
        Part(Phase.LOOKUP, Kind.BLOCKED): 2.5,
        Part(Phase.COPY, Kind.USER): 5.0,
        Part(Phase.COPY, Kind.KERNEL): 15.0,
        Part(Phase.COPY, Kind.UNEXPLAINED): 30.0,
    }


@pytest.mark.parametrize(
    ("engine", "image", "container", "expected"),
    [
        # The definition counts, and not what the worker wrote.
        ("native", None, True, "native"),
        ("docker", "x", False, "docker"),
        # A record of 1.0.0 has no engine.
        (None, "x", False, "docker"),
        (None, None, True, "docker"),
        (None, None, False, "native"),
    ],
)
def test_engine(engine, image, container, expected):
    """What ran a task is what its definition says; without one, what the worker saw."""
    (document,) = seed_case.documents(pools=("intel",))
    if not container:
        document["host"]["container"] = None
    result = results.parse(json.dumps(document).encode(), "document")
    task = replace(seed_case.record(document), engine=engine, image=image)
    assert worker_of(RunResult(result=result, task=task), "intel").engine == expected
