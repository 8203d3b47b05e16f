# SPDX-License-Identifier: MPL-2.0
"""Read workers at addresses, and the shared defaults of readings."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from io_benchmark.analysis.intake import worker_of
from io_benchmark.analysis.model import Worker
from io_benchmark.context import Context
from io_benchmark.sources.budget import Budget
from io_benchmark.sources.gather import Gathered, gather, read_history
from io_benchmark.sources.protocol import HistoryLog, HistoryQuery, ReadRequest
from io_benchmark.sources.run_results import RunResult

T = TypeVar("T")

# The project in the index whose pushes are read unless another one is named.
PROJECT = "io-benchmark"


def read_results(
    addresses: Sequence[str],
    context: Context,
    convert: Callable[[RunResult], T],
    budget: Budget | None = None,
) -> Gathered[T]:
    """Read the results at all addresses, and show how far that is."""
    with context.progress() as progress:
        return gather(addresses, context.environment, progress, convert, budget=budget)


def read_workers(
    addresses: Sequence[str],
    context: Context,
    side: Callable[[RunResult], str] = lambda measured: measured.pool,
    budget: Budget | None = None,
) -> Gathered[Worker]:
    """Read the workers at all addresses, each on its side."""
    return read_results(
        addresses, context, lambda measured: worker_of(measured, side(measured)), budget
    )


def read_index(
    query: HistoryQuery, context: Context, accept: Callable[[RunResult], None], budget: Budget
) -> HistoryLog:
    """Give the results of a pool in the index to `accept`."""
    with context.progress() as progress:
        request = ReadRequest(
            context.environment,
            lambda _position, measured, _data: accept(measured),
            progress,
            budget=budget,
        )
        return read_history(query, request)


def in_order(workers: Iterable[Worker]) -> list[Worker]:
    """Return workers in the order of a report, however their results were read."""
    return sorted(workers, key=lambda worker: (worker.side, worker.task_id, worker.run_id or 0))


def unlimited_memory() -> Budget:
    """Return a budget for readings that keep only a few figures per result."""
    return Budget(kept_bytes=math.inf, most_subjects=math.inf)
