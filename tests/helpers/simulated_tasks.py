# SPDX-License-Identifier: MPL-2.0
"""Runs of tasks whose truth is known: labels of different length, mixes that differ, workers that vary."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from msgspec.structs import replace
from sample_tasks import compared, completed

from io_benchmark.analysis.tasks.task_model import TaskComparison
from io_benchmark.costs.worker_time import Price
from io_benchmark.sources.task_runs import TaskRun

# ln of what a run takes, apart from its label and its worker.
Noise = Callable[[np.random.Generator], float]
NOISES: dict[str, Noise] = {
    "normal": lambda dice: float(dice.normal(0, 0.05)),
    "heavy-tailed": lambda dice: float(0.05 * dice.standard_t(3)),
    "noisy": lambda dice: float(dice.normal(0, 0.5)),
    # One run of ten takes up to several times as long.
    "outliers": lambda dice: float(
        dice.exponential(0.5) if dice.random() < 0.1 else dice.normal(0, 0.05)
    ),
}
PRICES = {"a": Price(0.4, "USD"), "b": Price(0.5, "USD")}


@dataclass(frozen=True)
class Tasks:
    """Two pools: `a` is compared with `b`."""

    labels: int
    workers: tuple[int, int]  # of a, b
    runs: int  # per worker
    ratio: float = 1.0
    noise: str = "normal"
    between: float = 0.05  # between workers
    by_label: float = 0.0  # how far labels differ in their ratio
    # How differently the pools mix labels: small numbers give mixes of few labels each.
    evenness: float = 0.7
    preempted: tuple[float, float] = (0.0, 0.0)  # runs that are lost, of a, b

    def runs_of(self, dice: np.random.Generator) -> tuple[list[TaskRun], dict[str, float]]:
        """Return runs, and the true ratio of each label."""
        seconds = np.exp(dice.normal(6.5, 1.2, self.labels))
        ratios = self.ratio * np.exp(dice.normal(0, self.by_label, self.labels))
        runs = []
        for pool, workers, lost in zip("ab", self.workers, self.preempted, strict=True):
            mix = dice.dirichlet(np.full(self.labels, self.evenness))
            for worker in range(workers):
                factor = dice.normal(0, self.between)
                for number, label in enumerate(dice.choice(self.labels, self.runs, p=mix)):
                    log = math.log(seconds[label]) + factor + NOISES[self.noise](dice)
                    log += math.log(ratios[label]) if pool == "a" else 0.0
                    minutes = math.exp(log) / 60
                    names = {"worker": f"{pool}{worker}", "label": f"task-{label}"}
                    if dice.random() < lost:
                        part = max(dice.random() * minutes, 0.01)
                        run = completed(pool, part, **names, run_id=2 * number)
                        runs.append(replace(run, state="exception", reason="worker-shutdown"))
                    runs.append(completed(pool, minutes, **names, run_id=2 * number + 1))
        return runs, {f"task-{label}": float(ratio) for label, ratio in enumerate(ratios)}

    def compare(
        self, dice: np.random.Generator
    ) -> tuple[TaskComparison | None, dict[str, float], float]:
        """Return the comparison, the true ratios by label, and the ratio without regard to labels."""
        runs, ratios = self.runs_of(dice)
        report = compared(runs, prices=PRICES)
        done = [
            [
                run.resolved_ms - run.started_ms
                for run in runs
                if run.pool == pool and run.state == "completed"
            ]
            for pool in "ab"
        ]
        regardless = float(np.mean(done[0]) / np.mean(done[1]))
        return (report.comparisons[0] if report.comparisons else None), ratios, regardless


def true_ratio(made: TaskComparison, ratios: dict[str, float]) -> float:
    """Return the ratio of the time that the mix takes; shares are means of both sides."""
    return math.exp(math.fsum(row.share * math.log(ratios[row.label]) for row in made.labels))
