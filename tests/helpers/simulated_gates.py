# SPDX-License-Identifier: MPL-2.0
"""Gates whose truth is known: two pools, of which some workers may be on their boot disk.

A worker's facts are those of a simulated machine; its times are drawn. Workers differ by a part
that is the same in all measurements, and by one of each measurement.
"""

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import msgspec
import numpy as np
import seed_workers
from simulated_machine import Disk
from simulated_results import Pool, measure_one
from situations import BASE

from io_benchmark.analysis.gate.judging import Evidence, Judgement
from io_benchmark.analysis.model.looks import SINGLE, Look, Schedule
from io_benchmark.analysis.model.measurement import ComparedSides
from io_benchmark.analysis.model.run import Worker
from io_benchmark.analysis.model.side import Side
from io_benchmark.analysis.model.subject import Subject
from io_benchmark.analysis.statistics import variations
from io_benchmark.analysis.statistics.gate_sizes import workers_for_margin

MARGIN = 0.10
CANDIDATE, BASELINE = "alpha", "production"
BOOT_DISK = replace(BASE, disks=(Disk(130, 130),), is_boot_disk=True)
_SHARED_PART = 0.5  # of a worker's variance, that all of its measurements share
_TIME_NS = 1e8


@dataclass(frozen=True)
class Truth:
    """What two pools are really like."""

    variation: float = 0.05  # standard deviation of ln of workers' means
    measurements: int = 1
    ratio: float = 1.0  # of the candidate's usual workers to the baseline's
    workers: tuple[int, int] | None = None  # None: as many as are proposed
    degrees: float = math.inf  # of Student's distribution of workers; 3: heavy tails
    neighbours: float = 0.0  # share of workers, of both pools, that have a noisy one
    neighbour_factor: float = 1.0  # of their times
    boot_disks: tuple[int, int] = (0, 0)  # workers of each pool
    boot_disk_factor: float = 1.0
    shows_disks: bool = True  # the results say what the disks are

    @property
    def counts(self) -> tuple[int, int]:
        if self.workers is not None:
            return self.workers
        of_neighbours = math.sqrt(self.neighbours * (1 - self.neighbours))
        of_neighbours *= math.log(self.neighbour_factor)
        variation = math.hypot(self.variation, of_neighbours)
        proposed = workers_for_margin(MARGIN, variation, self.measurements)
        assert proposed is not None
        return proposed, proposed


@cache
def _worker_of(*, is_on_boot_disk: bool) -> Worker:
    """Return a worker of a simulated machine, for its facts."""
    machine = BOOT_DISK if is_on_boot_disk else BASE
    return seed_workers.worker(measure_one(Pool("intel", machine, 1), 0, 1, retrieves=1).document)


def _subjects(count: int) -> list[Subject]:
    return [Subject("cache-retrieve", "workspace", "overwrite", f"{at}") for at in range(count)]


def worker_of_logs(
    name: str, number: int, logs: Sequence[float], *, is_on_boot_disk: bool
) -> Worker:
    template = _worker_of(is_on_boot_disk=is_on_boot_disk)
    (run,) = template.runs
    runs = [
        msgspec.structs.replace(
            run, subject=subject, total_ns=array("q", [round(_TIME_NS * math.exp(log))])
        )
        for subject, log in zip(_subjects(len(logs)), logs, strict=True)
    ]
    machine = f"{name}/{number}"
    return msgspec.structs.replace(
        template, side=name, pool=name, machine=machine, task_id=machine, runs=tuple(runs)
    )


def _logs(truth: Truth, count: int, generator: np.random.Generator) -> np.ndarray:
    """Return ln of the time of each worker, by measurement."""

    def draw(*shape: int) -> np.ndarray:
        if math.isinf(truth.degrees):
            return generator.normal(0, 1, shape)
        deviation = math.sqrt(truth.degrees / (truth.degrees - 2))
        return generator.standard_t(truth.degrees, shape) / deviation

    shared = math.sqrt(_SHARED_PART) * draw(1, count)
    own = math.sqrt(1 - _SHARED_PART) * draw(truth.measurements, count)
    logs = truth.variation * (shared + own if truth.measurements > 1 else draw(1, count))
    has_neighbour = generator.random(count) < truth.neighbours
    logs += has_neighbour * math.log(truth.neighbour_factor)
    return logs


def draw_workers(truth: Truth, generator: np.random.Generator) -> dict[str, list[Worker]]:
    """Return the workers of both pools."""
    pools = {}
    names = (CANDIDATE, BASELINE)
    for name, count, boot_disks in zip(names, truth.counts, truth.boot_disks, strict=True):
        logs = _logs(truth, count, generator)
        logs[:, :boot_disks] += math.log(truth.boot_disk_factor)
        logs += math.log(truth.ratio) if name == CANDIDATE else 0.0
        pools[name] = [
            worker_of_logs(
                name,
                number,
                logs[:, number].tolist(),
                is_on_boot_disk=truth.shows_disks and number < boot_disks,
            )
            for number in range(count)
        ]
    return pools


def judge(
    candidate: Sequence[Worker], baseline: Sequence[Worker], look: Look = SINGLE
) -> Judgement:
    """Judge the gate by these workers."""
    pairs = {}
    for subject in [run.subject for run in candidate[0].runs]:
        pairs[subject] = ComparedSides(
            Side.of_workers(candidate, subject),
            Side.of_workers(baseline, subject),
            variations.DEFAULT,
            look,
            Schedule(),
            None,
        )
    return Evidence.of(MARGIN, pairs).judge()


def judged(truth: Truth, generator: np.random.Generator) -> Judgement:
    pools = draw_workers(truth, generator)
    return judge(pools[CANDIDATE], pools[BASELINE])
