# SPDX-License-Identifier: MPL-2.0
"""Runs of tasks on the machines of a pool, some of which are slow: the truth is known."""

from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from io_benchmark.analysis.tasks.machines.machine_runs import PoolRuns
from io_benchmark.sources.run_results import queue_time

START_MS = 1_774_000_000_000
DAY_MS = 86_400_000
Numbers = NDArray[np.float64]


class SimulatedPool(Struct, frozen=True, kw_only=True):
    """A pool of named machines that run tasks of several labels every day."""

    nodes: int = 200
    slow: tuple[float, ...] = (1.15, 1.22, 1.29, 1.36, 1.43, 1.5)  # of the first machines
    since: float = 0.0  # these are slow from this part of the time on
    between: float = 0.025  # how far equal machines differ
    tails: float = 0.0  # degrees of freedom of that; 0: normal
    labels: int = 40
    noise: float = 0.12  # of a run
    outliers: float = 0.03  # the share of runs that take about three times as long
    between_days: float = 0.02  # a machine's own days differ
    kept: float = 0.0  # how much of a day is left on the next
    days: int = 28
    runs_per_day: float = 8.0  # of each machine
    usage: float = 0.0  # how far machines differ in that: the deviation of its logarithm
    mix: float = 1.0  # how far the machines' mixes of labels differ; 0: not at all
    drift: float = 0.0  # labels change by this on some day
    rounding_ms: int = 1  # of the times in the table
    heavy_labels: bool = False  # the second half of the machines runs labels that grow slower

    def runs(self, dice: np.random.Generator) -> "NodeRuns":
        """Return the runs, and which machines are slow."""
        nodes, days = self.nodes, self.days
        usage = self.runs_per_day * np.exp(dice.normal(0, self.usage, nodes) - self.usage**2 / 2)
        counts = dice.poisson(np.repeat(usage, days))
        machine = np.repeat(np.repeat(np.arange(nodes), days), counts)
        day = np.repeat(np.tile(np.arange(days), nodes), counts)
        label = self._labels(dice, machine)
        base = dice.normal(6.5, 0.8, self.labels)
        spread = self.noise * np.exp(dice.normal(0, 0.4, self.labels))
        usual = dice.standard_t(self.tails, nodes) if self.tails else dice.normal(0, 1, nodes)
        logs = base[label] + self.between * usual[machine]
        logs += dice.normal(0, 1, len(machine)) * spread[label]
        logs += np.log(3) * (dice.random(len(machine)) < self.outliers) * dice.random(len(machine))
        logs += self._days(dice)[machine, day]
        if self.drift:
            changes = dice.normal(0, self.drift, self.labels)
            logs += changes[label] * (day >= dice.integers(1, days, self.labels)[label])
        factors = np.ones(nodes)
        factors[: len(self.slow)] = self.slow
        is_slow = day >= self.since * days
        logs += np.log(factors)[machine] * is_slow
        # One run after the other: runs of a day begin at even distances.
        turn = np.arange(len(machine)) - np.repeat(np.cumsum(counts) - counts, counts)
        moment = (turn + 0.1 * dice.random(len(machine))) / np.repeat(counts, counts)
        started_ms = START_MS + day * DAY_MS + (moment * DAY_MS).astype(int)
        order = dice.permutation(len(machine))
        runs = PoolRuns(
            pool="hw/linux",
            machines=tuple(f"mdc1/node-{number:03}" for number in range(nodes)),
            labels=tuple(f"test-{number:02}" for number in range(self.labels)),
            machine=machine[order],
            label=label[order],
            started_ms=started_ms[order],
            time_ms=self._rounded(1000 * np.exp(logs[order])),
            ending=np.zeros(len(machine), dtype=np.int64),
        )
        truth = {runs.machines[number]: factor for number, factor in enumerate(self.slow)}
        return NodeRuns(runs, truth, self.between * usual)

    def _rounded(self, times_ms: Numbers) -> NDArray[np.int64]:
        steps = np.maximum(1, np.round(times_ms / self.rounding_ms))
        rounded: NDArray[np.int64] = (self.rounding_ms * steps).astype(np.int64)
        return rounded

    def _labels(self, dice: np.random.Generator, machine: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return a label for each run, by the mix of its machine."""
        shares = np.exp(dice.normal(0, 1, self.labels))
        mixes = shares * np.exp(dice.normal(0, self.mix, (self.nodes, self.labels)))
        if self.heavy_labels:
            half = self.labels // 2
            mixes[: self.nodes // 2, half:] *= 0.1
            mixes[self.nodes // 2 :, :half] *= 0.1
        ends = np.cumsum(mixes / mixes.sum(axis=1, keepdims=True), axis=1)
        above = dice.random(len(machine))[:, None] > ends[machine]
        chosen: NDArray[np.int64] = np.minimum(above.sum(axis=1), self.labels - 1)
        return chosen

    def _days(self, dice: np.random.Generator) -> Numbers:
        """Return what each day of each machine differs by."""
        steps = dice.normal(0, self.between_days, (self.nodes, self.days))
        for day in range(1, self.days):
            fresh = np.sqrt(1 - self.kept**2)
            steps[:, day] = self.kept * steps[:, day - 1] + fresh * steps[:, day]
        return steps


def _moment(time_ms: float) -> str:
    return queue_time(datetime.fromtimestamp(time_ms / 1000, UTC))


class NodeRuns(NamedTuple):
    """Runs whose truth is known."""

    runs: PoolRuns
    slow: dict[str, float]
    usual_logs: Numbers  # what each machine differs by from the others, besides being slow

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of a table."""
        runs = self.runs
        return [
            {
                "label": runs.labels[label],
                "pool": runs.pool,
                "worker": runs.machines[machine],
                "task_id": f"T{number:021}",
                "run_id": 0,
                "state": "completed",
                "started": _moment(started),
                "resolved": _moment(started + time),
            }
            for number, (label, machine, started, time) in enumerate(
                zip(runs.label, runs.machine, runs.started_ms, runs.time_ms, strict=True)
            )
        ]
