# SPDX-License-Identifier: MPL-2.0
"""Looks at pools of known truth, each by the program's own `compare`."""

from collections.abc import Sequence
from dataclasses import dataclass
from unittest import mock

import numpy as np
from simulated_noise import Files, Pool, sequence

from io_benchmark.analysis.compare import Options, compare
from io_benchmark.analysis.diagnosis import diagnoses
from io_benchmark.analysis.inference.looks import Schedule
from io_benchmark.analysis.model import Comparison, Worker
from io_benchmark.analysis.plan import Plan
from io_benchmark.analysis.report_model import Report

RETRIEVES, FILES = 400, 100


@dataclass(frozen=True)
class Push:
    """What all workers of some pools measured; the last pool is the baseline."""

    pools: tuple[Pool, ...]
    files: Files
    workers: tuple[Sequence[Worker], ...]

    @classmethod
    def draw(
        cls,
        pools: Sequence[Pool],
        counts: Sequence[int],
        generator: np.random.Generator,
        *,
        retrieves: int = RETRIEVES,
        files: int = FILES,
    ) -> "Push":
        """Measure so many workers of each pool."""
        taken = sequence(retrieves, files, generator)
        workers = [
            pool.measure(count, taken, generator) for pool, count in zip(pools, counts, strict=True)
        ]
        return cls(tuple(pools), taken, tuple(workers))

    def report(
        self,
        count: int | None = None,
        schedule: Schedule | None = None,
        lost: Sequence[str] = (),
    ) -> Report:
        """Compare the first workers of each pool, or all; `lost` are tasks without a result."""
        chosen = [worker for pool in self.workers for worker in pool[:count]]
        baseline = self.pools[-1].name
        plan = Plan.of_pools([pool.name for pool in self.pools], baseline)
        # Causes take most of the time, and are simulated elsewhere.
        with mock.patch.object(diagnoses, "diagnoses", return_value=()):
            return compare(plan, chosen, Options(schedule=schedule or Schedule()), lost=lost)

    def comparison(self, count: int | None = None, schedule: Schedule | None = None) -> Comparison:
        """Compare the first candidate with the baseline."""
        return self.report(count, schedule).subjects[0].comparisons[0]

    def holds(self, comparison: Comparison) -> bool:
        """Return whether the interval holds the true ratio."""
        candidate = next(pool for pool in self.pools if pool.name == comparison.candidate)
        return not comparison.interval.excludes(candidate.true_ratio(self.pools[-1], self.files))
