# SPDX-License-Identifier: MPL-2.0
"""Workers whose truth is known: what a right interval must cover as often as it says."""

import math
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import seed_workers
import workload_entries

from io_benchmark.analysis.inference.comparisons import judge
from io_benchmark.analysis.inference.estimates import Estimate, SideData
from io_benchmark.analysis.inference.looks import SINGLE
from io_benchmark.analysis.model import Entry, Interval, Subject, Verdict

SIZES = (80, 60, 5)
NS_PER_SIZE = 1_000_000
WINDOW_NS = 200_000_000
SUBJECT = Subject("cache-retrieve", "workspace", "overwrite", "seed")
MARGIN = 0.05
ASSUMED = 0.05

# What one worker's retrieves do apart from their sizes: factors around 1, in the order of time.
Shape = Callable[[np.random.Generator, int], np.ndarray]


def clinging(generator: np.random.Generator, count: int) -> np.ndarray:
    """First-order autoregression with rho = 0.9."""
    from scipy.signal import lfilter  # takes a second

    noise: np.ndarray = lfilter([1.0], [1.0, -0.9], generator.normal(0, 1, count))
    return 1 + 0.05 * noise


def bursty(generator: np.random.Generator, count: int) -> np.ndarray:
    """Now and then thirty retrieves in a row take three times as long."""
    factors = np.ones(count)
    for start in np.flatnonzero(generator.random(count) < 1 / 200):
        factors[start : start + 30] = 3
    return factors * (1 + 0.05 * generator.normal(0, 1, count))


def drifting(generator: np.random.Generator, count: int) -> np.ndarray:
    """A separate slope over the whole run."""
    slope = generator.normal(0, 0.1)
    return 1 + slope * np.linspace(-0.5, 0.5, count) + 0.05 * generator.normal(0, 1, count)


def bimodal(generator: np.random.Generator, count: int) -> np.ndarray:
    """Half of the retrieves take one and a half times as long."""
    return np.where(generator.random(count) < 0.5, 0.8, 1.2) + 0.02 * generator.normal(0, 1, count)


def heavy_tailed(generator: np.random.Generator, count: int) -> np.ndarray:
    """A few retrieves take very long: Pareto with exponent 2.5."""
    return 0.6 + 0.6 * generator.pareto(2.5, count)


SHAPES: dict[str, Shape] = {
    "clinging": clinging,
    "bursty": bursty,
    "drifting": drifting,
    "bimodal": bimodal,
    "heavy-tailed": heavy_tailed,
}


@cache
def _facts(name: str) -> Any:
    """Return what an entry of a workload has apart from its samples."""
    change = {"intel": {"workloads": lambda entries: [*entries, *workload_entries.entries()]}}
    (worker,) = seed_workers.workers(1, pools=("intel",), change=change)
    return next(entry.facts for entry in worker.entries if entry.subject.workload == name)


def column(values: np.ndarray) -> "array[int]":
    """A column as the reader has it."""
    return array("q", values.astype(np.int64).tobytes())


def entry(times_ns: np.ndarray, files: np.ndarray | None = None) -> Entry:
    """An entry with these times; lookups take nothing."""
    count = len(times_ns)
    nothing = np.zeros(count, dtype=np.int64)
    files = nothing if files is None else files
    return Entry(
        subject=SUBJECT,
        facts=_facts("cache-retrieve"),
        start_ns=column(np.arange(count)),
        total_ns=column(times_ns),
        operations=column(np.ones(count)),
        size_bytes=column(np.array(SIZES)[files]),
        planned=count,
        lookup_ns=column(nothing),
    )


def windows(operations: np.ndarray, window_ns: int) -> Entry:
    """An entry of another workload: so much was done in each window of the same length."""
    count = len(operations)
    return Entry(
        subject=Subject("random-io", "workspace", variant="read-depth-32"),
        facts=_facts("random-io"),
        start_ns=column(np.arange(count) * window_ns),
        total_ns=column(np.full(count, window_ns)),
        operations=column(operations),
        size_bytes=column(np.zeros(count)),
        planned=count,
    )


@dataclass(frozen=True)
class Pool:
    """How a pool's workers come about."""

    ratio: float = 1.0
    variation: float = 0.05
    shape: Shape = clinging
    retrieves: int = 200


def worker(pool: Pool, files: np.ndarray, generator: np.random.Generator) -> Entry:
    """One worker: its own speed, the shared sequence of files, its own noise."""
    speed = pool.ratio * math.exp(generator.normal(0, pool.variation))
    sizes = np.array(SIZES)[files] * NS_PER_SIZE
    factors = np.maximum(pool.shape(generator, len(files)), 0.05)
    return entry(sizes * speed * factors, files)


def worker_by_windows(pool: Pool, count: int, generator: np.random.Generator) -> Entry:
    """One worker of which it is counted how much it does in each window."""
    speed = pool.ratio * math.exp(generator.normal(0, pool.variation))
    factors = np.maximum(pool.shape(generator, count), 0.05)
    return windows(np.maximum(1, np.rint(1000 / (speed * factors))), WINDOW_NS)


def side(pool: Pool, workers: int, files: np.ndarray, generator: np.random.Generator) -> SideData:
    entries = tuple(worker(pool, files, generator) for _ in range(workers))
    return SideData(
        tuple(math.log(one.mean_ns) for one in entries), tuple((one,) for one in entries)
    )


def machine(
    pool: Pool,
    runs: int,
    run_variation: float,
    files: np.ndarray,
    generator: np.random.Generator,
) -> SideData:
    """One worker with a separate speed, each of its runs with a further one."""
    speed = math.exp(generator.normal(0, pool.variation))
    made = tuple(
        worker(
            Pool(pool.ratio * speed, run_variation, pool.shape, pool.retrieves), files, generator
        )
        for _ in range(runs)
    )
    logs = [math.log(one.mean_ns) for one in made]
    return SideData((math.fsum(logs) / runs,), (made,))


def sequence(count: int, generator: np.random.Generator) -> np.ndarray:
    return generator.integers(0, len(SIZES), count)


def judged(found: Estimate) -> tuple[Interval, Verdict]:
    (judgement,) = judge([found], [SINGLE], MARGIN)
    return judgement.interval, judgement.verdict
