# SPDX-License-Identifier: MPL-2.0
"""Read workers at addresses, and the shared defaults of readings."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from io_benchmark.analysis.intake import worker_of
from io_benchmark.analysis.model import Worker
from io_benchmark.sources.budget import Budget
from io_benchmark.sources.gather import Gathered, gather
from io_benchmark.sources.protocol import ReadProgress
from io_benchmark.sources.run_results import RunResult

# The project in the index whose pushes are read unless another one is named.
PROJECT = "io-benchmark"

Progress = Callable[[ReadProgress], None]
Environment = Mapping[str, str]


def read_workers(
    addresses: Sequence[str],
    environment: Environment,
    progress: Progress,
    side: Callable[[RunResult], str] = lambda measured: measured.pool,
    budget: Budget | None = None,
) -> Gathered[Worker]:
    """Read the workers at all addresses, each on its side."""
    return gather(
        addresses,
        environment,
        progress,
        lambda measured: worker_of(measured, side(measured)),
        budget=budget,
    )


def in_order(workers: Iterable[Worker]) -> list[Worker]:
    """Return workers in the order of a report, however their results were read."""
    return sorted(workers, key=lambda worker: (worker.side, worker.task_id, worker.run_id or 0))


def unlimited_memory() -> Budget:
    """Return a budget for readings that keep only a few figures per result."""
    return Budget(kept_bytes=math.inf, most_subjects=math.inf)
