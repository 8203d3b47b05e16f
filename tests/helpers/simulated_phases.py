# SPDX-License-Identifier: MPL-2.0
"""Phases of runs on simulated pools, of which it is known what differs."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from io_benchmark.analysis.phases.phase_model import PhaseName, RunPhases, Span

NS = 1_000_000_000
MIB = 1024 * 1024
# Seconds of each phase in an ordinary run, in its order.
USUAL_S = {
    PhaseName.CACHES: 1.0,
    PhaseName.IMAGE_DOWNLOAD: 12.0,
    PhaseName.IMAGE_LOAD: 30.0,
    PhaseName.CONTAINER_START: 0.6,
    PhaseName.CHECKOUT: 40.0,
    PhaseName.DOWNLOAD: 20.0,
    PhaseName.UNPACK: 25.0,
    PhaseName.PACKAGES: 4.0,
    PhaseName.OWN_WORK: 600.0,
    PhaseName.ARTIFACTS: 6.0,
    PhaseName.OTHER: 1.5,
}
# What the log gives bytes of, at a rate per second.
RATES = {
    PhaseName.IMAGE_DOWNLOAD: 40 * MIB,
    PhaseName.DOWNLOAD: 50 * MIB,
    PhaseName.UNPACK: 60 * MIB,
}
# A worker's network serves all downloads, and its disks both phases that write most.
RESOURCES = {
    PhaseName.IMAGE_DOWNLOAD: "network",
    PhaseName.DOWNLOAD: "network",
    PhaseName.IMAGE_LOAD: "disks",
    PhaseName.UNPACK: "disks",
}
OF_IMAGES = (PhaseName.IMAGE_DOWNLOAD, PhaseName.IMAGE_LOAD)


def run_phases(
    pool: str,
    seconds: Mapping[PhaseName, float],
    sizes: Mapping[PhaseName, float] | None = None,
    *,
    worker: str = "g/1",
    label: str = "build",
    run_id: int = 0,
) -> RunPhases:
    """Return a run with phases of so many seconds, one after another, and what they moved."""
    spans, end_ns = [], 0
    for phase, phase_s in seconds.items():
        size = (sizes or {}).get(phase)
        moved = None if size is None else round(size)
        spans.append(Span(phase, end_ns, round(phase_s * NS), moved))
        end_ns += round(phase_s * NS)
    return RunPhases(
        label=label,
        pool=pool,
        task_id=f"{pool}-{worker}-{label}-{run_id}",
        run_id=run_id,
        worker=worker,
        started="2026-11-20T10:00:00.000Z",
        run_ns=end_ns,
        spans=tuple(spans),
    )


@dataclass(frozen=True)
class PhasedPools:
    """Two pools: `a` is compared with `b`."""

    workers: tuple[int, int] = (6, 6)  # of a, b
    runs: tuple[int, int] = (3, 10)  # per worker: at least, at most
    labels: int = 4
    evenness: float = 0.7  # of the mixes; small numbers give mixes of few labels each
    factors: Mapping[PhaseName, float] = field(default_factory=dict)  # times on a, divided by b's
    sizes: Mapping[PhaseName, float] = field(default_factory=dict)  # bytes on a, divided by b's
    cached: tuple[float, float] = (0.4, 0.4)  # share of runs whose image is there, of a, b
    between: float = 0.15  # how far workers differ
    noise: float = 0.10  # of runs
    with_resources: bool = True  # a worker's disks are as slow in each phase that uses them

    def make(self, dice: np.random.Generator) -> dict[str, Sequence[RunPhases]]:
        """Return the runs of both pools."""
        scales: dict[PhaseName, np.ndarray] = {
            phase: np.exp(dice.normal(0, 0.5, self.labels))
            for phase in USUAL_S
            if phase not in (*OF_IMAGES, PhaseName.CACHES, PhaseName.CONTAINER_START)
        }
        return {
            "a": self._runs_of("a", dice, scales),
            "b": self._runs_of("b", dice, scales),
        }

    def _runs_of(
        self, pool: str, dice: np.random.Generator, scales: Mapping[PhaseName, np.ndarray]
    ) -> Sequence[RunPhases]:
        is_first = pool == "a"
        count = self.workers[0] if is_first else self.workers[1]
        cached = self.cached[0] if is_first else self.cached[1]
        mix = dice.dirichlet(np.full(self.labels, self.evenness))
        runs = []
        for worker in range(count):
            slowness = self._slowness(dice)
            labels = dice.choice(self.labels, dice.integers(self.runs[0], self.runs[1] + 1), p=mix)
            for number, label in enumerate(labels):
                is_cached = dice.random() < cached
                seconds, sizes = {}, {}
                for phase, usual_s in USUAL_S.items():
                    if is_cached and phase in OF_IMAGES:
                        seconds[phase] = 0.02
                        continue
                    scale = float(scales[phase][label]) if phase in scales else 1.0
                    scale *= self.sizes.get(phase, 1.0) if is_first else 1.0
                    if phase in RATES:
                        sizes[phase] = usual_s * scale * RATES[phase]
                    log = slowness[phase] + dice.normal(0, self.noise)
                    factor = self.factors.get(phase, 1.0) if is_first else 1.0
                    seconds[phase] = usual_s * scale * factor * math.exp(log)
                run = run_phases(
                    pool,
                    seconds,
                    sizes,
                    worker=f"g/{worker}",
                    label=f"task-{label}",
                    run_id=number,
                )
                runs.append(run)
        return runs

    def _slowness(self, dice: np.random.Generator) -> Mapping[PhaseName, float]:
        """Return how much slower than usual a worker is in each phase, as a logarithm."""
        of_resource = {name: float(dice.normal(0, self.between)) for name in ("network", "disks")}
        alone = {phase: float(dice.normal(0, self.between)) for phase in USUAL_S}
        if not self.with_resources:
            return alone
        return {
            phase: of_resource[RESOURCES[phase]] if phase in RESOURCES else alone[phase]
            for phase in USUAL_S
        }
