# SPDX-License-Identifier: MPL-2.0
"""Workers whose truth is known: what a right interval must cover as often as it says.

Their noise has physical reasons, and their truth follows from its parameters. Nothing is normalised
away: what a run met of bursts, of a cold cache or of its host is in its mean. The truth is the
expectation over the parameters and never that of the sample that was drawn.
"""

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import seed_workers
from msgspec.structs import replace
from numpy.typing import NDArray

from io_benchmark.analysis.model.comparison import DIFFERENT, Interval, Verdict
from io_benchmark.analysis.model.looks import SINGLE, Look, Schedule
from io_benchmark.analysis.model.run import Run
from io_benchmark.analysis.model.side import Side
from io_benchmark.analysis.model.subject import Subject
from io_benchmark.analysis.statistics.ratios import Estimate
from io_benchmark.analysis.statistics.verdicts import adjust, verdict_of

Factors = NDArray[np.float64]
Files = NDArray[np.int64]

SIZES = (80, 60, 5)
SUBJECT = Subject("cache-retrieve", "workspace", "overwrite", "seed")
MARGIN = 0.05
ASSUMED = 0.05
VARIATION = 0.05  # of workers, where log means are drawn
_WINDOW_NS = 200_000_000
# Two of five files are of each of the two larger sizes.
_KINDS_OF_FIVE = (0, 0, 1, 1, 2)
_NS = np.array(SIZES) * 1_000_000
# Writeback comes in waves of up to so many retrieves.
_WAVE = 20
# A program that just keeps its bar fails one test of so many.
_FALSE_FAILURES = 1e-4


@cache
def _facts(name: str) -> Any:
    """Return what an entry of a workload has apart from its samples."""
    change = {"intel": seed_workers.measured()}
    (worker,) = seed_workers.workers(1, pools=("intel",), change=change)
    return next(entry.facts for entry in worker.runs if entry.subject.workload == name)


def column(values: np.ndarray) -> "array[int]":
    """A column as the reader has it."""
    return array("q", values.astype(np.int64).tobytes())


def entry(times_ns: np.ndarray, files: np.ndarray | None = None) -> Run:
    """An entry with these times; lookups take nothing."""
    count = len(times_ns)
    nothing = np.zeros(count, dtype=np.int64)
    files = nothing if files is None else files
    return Run(
        subject=SUBJECT,
        facts=_facts("cache-retrieve"),
        start_ns=column(np.arange(count)),
        total_ns=column(times_ns),
        operations=column(np.ones(count)),
        size_bytes=column(np.array(SIZES)[files]),
        planned=count,
        lookup_ns=column(nothing),
    )


def run_on(
    machine: str, log_mean: float, side: str = "side", push: str = "", count: int = 1
) -> Run:
    """Return a run of retrieves that all took so many times 0.1 s, ln."""
    task = SimpleNamespace(group=push, task_group_id=push)
    worker: Any = SimpleNamespace(machine=machine, side=side, result=SimpleNamespace(task=task))
    return replace(entry(np.full(count, 1e8 * math.exp(log_mean))), worker=worker)


def judged(found: Estimate, look: Look = SINGLE) -> tuple[Interval, Verdict]:
    (adjusted,) = adjust([found], [look])
    verdict = verdict_of(found, look, adjusted.level, MARGIN)
    return found.interval(adjusted.level), verdict


@dataclass(frozen=True)
class Bursts:
    """A process that is on and off, such as another tenant.

    While it is on, retrieves take longer.
    """

    factor: float
    on: float  # retrieves, on average
    off: float

    def draw(self, generator: np.random.Generator, count: int) -> Factors:
        """Return the factor of each retrieve. The process did not begin with the run."""
        cycles = 2 + math.ceil(2 * count / (self.on + self.off))
        is_on = np.arange(2 * cycles) % 2 == int(
            generator.random() >= self.on / (self.on + self.off)
        )
        means, values = np.where(is_on, self.on, self.off), np.where(is_on, self.factor, 1.0)
        factors = np.empty(0)
        while len(factors) < count:
            lengths = np.rint(means * generator.exponential(1.0, 2 * cycles)).astype(np.int64)
            factors = np.append(factors, np.repeat(values, lengths))
        return factors[:count]


@dataclass(frozen=True)
class Noise:
    """What makes workers of one pool, and retrieves of one worker, differ."""

    variation: float = 0.05  # scale of ln of a machine's speed
    degrees: float = math.inf  # of Student's distribution of it; 3: heavy tails
    slow_machines: float = 0.0  # share of machines of another kind, in the same pool
    slow_factor: float = 1.0
    bursts: Bursts | None = None  # of one worker
    waves: float = 0.05
    tail: float = 0.0  # scale of ln of a single retrieve's time
    cold_factor: float = 1.0  # of the first retrieve of each file
    credit: int | None = None  # retrieves after which the disk has used up its burst credit
    without_credit: float = 1.0  # factor from then on

    def draw_speeds(self, generator: np.random.Generator, count: int) -> Factors:
        """Return the factors of machines."""
        if math.isinf(self.degrees):
            logs = generator.normal(0, 1, count)
        else:
            logs = generator.standard_t(self.degrees, count)
        is_slow = generator.random(count) < self.slow_machines
        return np.exp(self.variation * logs) * np.where(is_slow, self.slow_factor, 1.0)

    def draw_run(self, generator: np.random.Generator, files: Files) -> Factors:
        """Return the factor of each retrieve of one run."""
        count = len(files)
        noise = generator.normal(0, 1, count + _WAVE - 1)
        waves = np.convolve(noise, np.full(_WAVE, _WAVE**-0.5), mode="valid")
        factors = self._course(files) * np.maximum(1 + self.waves * waves, 0.05)
        if self.tail:
            factors *= np.exp(generator.normal(0, self.tail, count))
        if self.bursts:
            factors *= self.bursts.draw(generator, count)
        return factors

    def _course(self, files: Files) -> Factors:
        """Return what is the same in each run: the cold cache, and the end of the credit."""
        course = np.ones(len(files))
        course[np.unique(files, return_index=True)[1]] = self.cold_factor
        if self.credit is not None:
            course[self.credit :] *= self.without_credit
        return course


# Of one worker's retrieves.
RUN_NOISES = {
    "waves": Noise(waves=0.15),
    "bursts": Noise(bursts=Bursts(3.0, on=30, off=300)),
    "two-modes": Noise(bursts=Bursts(1.5, on=2, off=2)),
    "heavy-tails": Noise(tail=1.0),
}


def kinds(files: Files) -> Files:
    """Return which of the three sizes each file has."""
    return np.array(_KINDS_OF_FIVE)[files % len(_KINDS_OF_FIVE)]


def run_of(noise: Noise, files: Files, generator: np.random.Generator, speed: float = 1.0) -> Run:
    """Return one run of a worker that is so much slower than others.

    Its first reads are not marked.
    """
    return entry(_NS[kinds(files)] * speed * noise.draw_run(generator, files), kinds(files))


def windows_of(noise: Noise, count: int, generator: np.random.Generator, speed: float) -> Run:
    """Return one run of a worker of which it is counted how much it does in each window."""
    factors = speed * noise.draw_run(generator, np.zeros(count, dtype=np.int64))
    return Run(
        subject=Subject("random-io", "workspace", variant="read-depth-32"),
        facts=_facts("random-io"),
        start_ns=column(np.arange(count) * _WINDOW_NS),
        total_ns=column(np.full(count, _WINDOW_NS)),
        operations=column(np.maximum(1, np.rint(1000 / factors))),
        size_bytes=column(np.zeros(count)),
        planned=count,
    )


def sequence(retrieves: int, files: int, generator: np.random.Generator) -> Files:
    """Return the files in the order in which every worker of a push takes them."""
    return generator.integers(0, files, retrieves)


def side_of_logs(logs: Iterable[float], name: str = "side") -> Side:
    """Return a side whose workers have these log means and no noise."""
    return Side.of(run_on(f"{name} {at}", log, name, count=100) for at, log in enumerate(logs))


@dataclass
class Growing:
    """Two pools that get more workers until a look decides."""

    ratio: float
    schedule: Schedule = field(default_factory=Schedule)
    seed: int = 1

    def __post_init__(self) -> None:
        self._generator = np.random.default_rng(self.seed)

    def estimates(self, numbers: Sequence[int]) -> Iterator[tuple[int, Look, Estimate]]:
        """Draw two pools; yield what so many of their workers show."""
        candidate = self._generator.normal(math.log(self.ratio), VARIATION, numbers[-1])
        baseline = self._generator.normal(0, VARIATION, numbers[-1])
        for count in numbers:
            look = self.schedule.look(count)
            sides = candidate[:count].tolist(), baseline[:count].tolist()
            yield count, look, Estimate.of_means(*sides, ASSUMED, look)

    def until(
        self, numbers: Sequence[int], verdicts: Sequence[Verdict] = DIFFERENT
    ) -> tuple[bool, int]:
        """Return whether any look gave one of the verdicts, and the workers per pool until then."""
        for count, look, estimate in self.estimates(numbers):
            if judged(estimate, look)[1] in verdicts:
                return True, count
        return False, numbers[-1]


@dataclass
class Rates:
    """How often several things happened in so many repetitions."""

    repetitions: int
    hits: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        return "; ".join(f"{name} {self.text(name)}" for name in self.hits)

    def add(self, name: str, happened: bool) -> None:
        self.hits[name] += happened

    def keeps(self, name: str, bar: float) -> bool:
        """Return whether the rate is at most the bar, as far as so many repetitions tell."""
        from scipy.stats import binom  # takes a second

        return bool(self.hits[name] <= binom.isf(_FALSE_FAILURES, self.repetitions, bar))

    def reaches(self, name: str, bar: float) -> bool:
        """Return whether the rate is at least the bar, as far as so many repetitions tell."""
        from scipy.stats import binom

        return bool(self.hits[name] >= binom.ppf(_FALSE_FAILURES, self.repetitions, bar))

    def text(self, name: str) -> str:
        """Return '4.7 ± 0.5 %'."""
        rate = self.hits[name] / self.repetitions
        # Of none or all, the error is as of half a hit.
        inside = min(max(rate, 0.5 / self.repetitions), 1 - 0.5 / self.repetitions)
        error = math.sqrt(inside * (1 - inside) / self.repetitions)
        return f"{100 * rate:.1f} ± {100 * error:.1f} %"
