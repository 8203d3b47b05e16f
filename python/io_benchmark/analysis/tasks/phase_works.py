# SPDX-License-Identifier: MPL-2.0
"""What each run did in one phase: its time, its bytes, and whether a cache spared it the work."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from io_benchmark.analysis.phases.phase_model import PhaseName, RunPhases
from io_benchmark.analysis.tasks.common_ratio import Kind
from io_benchmark.results.parts import NS_PER_S

# What took less had the image already, where the log has no bytes. Chosen: to load one takes
# longer, and one that is there takes milliseconds.
LEAST_WORK_S = 1.0
_OF_IMAGES = (PhaseName.IMAGE_DOWNLOAD, PhaseName.IMAGE_LOAD, PhaseName.IMAGE_PULL)
# Phases without the bytes of which nothing was moved, where other runs have bytes.
_OF_CACHES = (*_OF_IMAGES, PhaseName.CACHES, PhaseName.CHECKOUT, PhaseName.DOWNLOAD)
_RUNS_OF_BOTH = 2  # chosen, see tests/simulation/test_phases.py
_CLONE = "clone"  # of what a checkout's program measured

Mix = Mapping[str, float]  # how often each label counts


class Work(NamedTuple):
    """What one run did in one phase."""

    label: str
    worker: str
    time_s: float
    size_bytes: int  # 0: not known
    is_done: bool  # else its product was there

    @property
    def kind(self) -> Kind:
        """Return what is the same work, but for the number of bytes."""
        return (self.label, self.is_done, self.size_bytes > 0)


class PhaseWorks(NamedTuple):
    """One phase in all runs of two sides."""

    phase: PhaseName
    candidate: Sequence[Work]
    baseline: Sequence[Work]
    # False: the logs do not say which checkouts were made anew.
    is_same_work: bool

    @property
    def works(self) -> Sequence[Work]:
        return [*self.candidate, *self.baseline]

    @classmethod
    def of(
        cls, phase: PhaseName, candidate: Sequence[RunPhases], baseline: Sequence[RunPhases]
    ) -> "PhaseWorks":
        """Read a phase of all runs."""
        sides = (candidate, baseline)
        # A kind of log without bytes does not show that nothing was moved.
        has_sizes = all(
            any(_size(run, phase) for run in side)
            or all(_time_s(run, phase) < LEAST_WORK_S for run in side)
            for side in sides
        )
        has_sizes = has_sizes and any(_size(run, phase) for side in sides for run in side)
        is_checkout = phase is PhaseName.CHECKOUT
        has_parts = is_checkout and all(any(run.parts for run in side) for side in sides)

        def work(run: RunPhases) -> Work:
            size_bytes, time_s = _size(run, phase) if has_sizes else 0, _time_s(run, phase)
            is_done = True
            if has_parts:
                is_done = size_bytes > 0 or any(part.name == _CLONE for part in run.parts)
            elif has_sizes and phase in _OF_CACHES:
                is_done = size_bytes > 0
            elif phase in _OF_IMAGES:
                is_done = time_s >= LEAST_WORK_S
            return Work(run.label, worker_of(run), time_s, size_bytes, is_done)

        is_same_work = not is_checkout or has_sizes or has_parts
        return cls(phase, [*map(work, candidate)], [*map(work, baseline)], is_same_work)

    def influences(self, mix: Mix) -> list[float]:
        """Return what each worker adds to the error of the difference of shares.

        The share of a label on a side is drawn to that on both sides by some runs more: those of
        few runs agree by chance.
        """
        usual = _done_by_label(self.works)
        influences: dict[str, float] = defaultdict(float)
        for side in (self.candidate, self.baseline):
            by_label = _done_by_label(side)
            expected = {
                label: (sum(done) + _RUNS_OF_BOTH * fmean(usual[label]))
                / (len(done) + _RUNS_OF_BOTH)
                for label, done in by_label.items()
            }
            for work in side:
                weight = mix[work.label] / math.fsum(mix.values()) / len(by_label[work.label])
                influences[work.worker] += weight * (work.is_done - expected[work.label])
        return list(influences.values())


def _done_by_label(works: Iterable[Work]) -> dict[str, list[bool]]:
    by_label: dict[str, list[bool]] = defaultdict(list)
    for work in works:
        by_label[work.label].append(work.is_done)
    return by_label


def worker_of(run: RunPhases) -> str:
    """Return the worker, by a name that no other pool's has; of an unknown one each run counts."""
    return f"{run.pool}/{run.worker}" if run.worker else f"\n{run.task_id} {run.run_id}"


def mean_of(works: Iterable[Work], mix: Mix, value_of: Callable[[Work], float]) -> float:
    """Return the mean in the mix of the labels; a worker counts once per label."""
    cells: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for work in works:
        cells[work.label][work.worker].append(value_of(work))
    total = math.fsum(mix[label] for label in cells)
    means = (mix[label] * fmean(map(fmean, workers.values())) for label, workers in cells.items())
    return math.fsum(means) / total if total else 0.0


def mean_s(works: Iterable[Work], mix: Mix) -> float:
    return mean_of(works, mix, lambda work: work.time_s)


def share_of(works: Iterable[Work], mix: Mix) -> float:
    return mean_of(works, mix, lambda work: float(work.is_done))


def rate_of(works: Iterable[Work]) -> float:
    """Return the bytes per second of all runs that have bytes; 0 where none has."""
    sized = [work for work in works if work.size_bytes and work.time_s]
    time_s = math.fsum(work.time_s for work in sized)
    return sum(work.size_bytes for work in sized) / time_s if time_s else 0.0


def _size(run: RunPhases, phase: PhaseName) -> int:
    return sum(max(0, span.size_bytes or 0) for span in run.spans if span.phase is phase)


def _time_s(run: RunPhases, phase: PhaseName) -> float:
    return max(0, run.duration_ns(phase)) / NS_PER_S
