# SPDX-License-Identifier: MPL-2.0
"""Simulation: sides with one or two workers, and how far their pools and pushes are assumed to vary.

The bars: 5 % false calls, coverage of 93 %, and 80 % of the decisions that are promised where the
variation is known. Log means are drawn from the normal distribution.
"""

import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
import simulation

from io_benchmark.analysis.history.history_model import HistoryReading, Origin
from io_benchmark.analysis.history.readings import _between_workers
from io_benchmark.analysis.history.series import history
from io_benchmark.analysis.inference import variations
from io_benchmark.analysis.inference.comparisons import judge
from io_benchmark.analysis.inference.estimates import Estimate
from io_benchmark.analysis.inference.looks import SINGLE
from io_benchmark.analysis.inference.variations import PushVariation
from io_benchmark.analysis.model import DIFFERENT, WorkerVariation
from io_benchmark.analysis.observed.machines import MachineMarks
from io_benchmark.analysis.observed.sides import SideData
from io_benchmark.analysis.statements import statement
from io_benchmark.analysis.variances import ASSUMED_VARIATION_DEGREES, MeanVariance

FALSE_CALLS, COVERAGE, FOUND = 0.05, 0.93, 0.80
NANOSECONDS = 1_000_000
NOTHING = simulation.entry(np.full(40, NANOSECONDS))
PAIR = ("pool 0", "pool 1")
# There are many cases; and histories are tested by permutations, which take long.
MOST_REPETITIONS, MOST_HISTORIES = 2000, 100

Groups = Sequence[tuple[int, float]]  # workers and variation of each pool


@pytest.fixture
def draws(repetitions: int) -> int:
    return min(repetitions, MOST_REPETITIONS)


@pytest.fixture
def error(draws: int) -> float:
    """Three standard errors of a rate near 5 %."""
    return 3 * math.sqrt(0.05 * 0.95 / draws)


class Pools:
    """Equal pools, the first two of which are compared."""

    def __init__(self, groups: Groups) -> None:
        self._generator = np.random.default_rng(1)
        self._groups = groups
        self.called = self.covered = 0

    def draw(self, past: Sequence[WorkerVariation] = ()) -> None:
        """Draw the workers of all pools, and compare the first two."""
        logs = {
            f"pool {number}": tuple(self._generator.normal(0, variation, workers).tolist())
            for number, (workers, variation) in enumerate(self._groups)
        }
        variation = variations.of_pair(PAIR, logs, past)
        candidate, baseline = (_side(logs[name]) for name in PAIR)
        estimate = Estimate.of_sides(candidate, baseline, variation.ratio)
        (judgement,) = judge([estimate], [SINGLE], simulation.MARGIN)
        self.called += judgement.verdict in DIFFERENT
        self.covered += not estimate.interval(0.95).excludes(1.0)


def _side(logs: Sequence[float]) -> SideData:
    """Workers whose retrieves all take the same time; only of a single one the times are compared."""
    if len(logs) > 1:
        return SideData(tuple(logs), ((NOTHING,),) * len(logs))
    times = np.full(40, NANOSECONDS * math.exp(logs[0]))
    return SideData(tuple(logs), ((simulation.entry(times),),))


def past_of(generator: np.random.Generator, workers: int, variation: float) -> WorkerVariation:
    """What earlier workers of a pool show, without changes from day to day."""
    seen = variation**2 * generator.chisquare(workers - 1) / (workers - 1)
    return variations.of_history(
        MeanVariance(seen, workers - 1.0), workers, statement("earlier workers")
    )


@pytest.mark.parametrize(
    "groups",
    [
        pytest.param([(1, 0.12), (5, 0.05)], id="noisy-one-against-five"),
        pytest.param([(1, 0.12), (2, 0.12)], id="noisy-one-against-noisy-two"),
        pytest.param([(1, 0.12), (1, 0.12), (5, 0.05)], id="two-of-three-pools"),
        pytest.param([(2, 0.05), (2, 0.05), (10, 0.05)], id="two-each-and-ten"),
    ],
)
def test_other_pools_are_known(groups, draws, error):
    """The interval covers the truth also if the single worker's pool varies more than the others."""
    pools = Pools(groups)
    for _ in range(draws):
        pools.draw()
    assert pools.called / draws <= FALSE_CALLS + error
    assert pools.covered / draws >= COVERAGE - error


@pytest.mark.parametrize("workers", [3, 5, 10, 30])
@pytest.mark.parametrize(
    "groups",
    [
        pytest.param([(1, 0.12), (1, 0.12)], id="one-each"),
        pytest.param([(1, 0.12), (5, 0.05)], id="one-against-five"),
        pytest.param([(2, 0.12), (3, 0.05)], id="noisy-two-against-three"),
    ],
)
def test_earlier_workers_are_known(groups, workers, draws, error):
    """By the past of the pools, however few workers it has."""
    pools = Pools(groups)
    generator = np.random.default_rng(workers)
    few = [variation for count, variation in groups if count <= 2]
    for _ in range(draws):
        pools.draw([past_of(generator, workers, variation) for variation in few])
    assert pools.called / draws <= FALSE_CALLS + error
    assert pools.covered / draws >= COVERAGE - error


def readings(generator, pushes, workers, *, day, step):
    """A push a week, whose workers vary by 5 %; the level changes in the middle."""
    first = datetime(2026, 1, 5, tzinfo=UTC)
    made = []
    for push in range(pushes):
        level = generator.normal(0, day) + (math.log(step) if push >= pushes // 2 else 0.0)
        for worker in range(workers):
            name, time = f"{push}-{worker}", first + timedelta(weeks=push)
            marks = MachineMarks(name)
            origin = Origin(f"group {push}", time, None, name, 0, "here", marks)
            log_mean = level + generator.normal(0, 0.05)
            made.append(HistoryReading(origin, simulation.SUBJECT, (), log_mean, ()))
    return made


@pytest.mark.parametrize(
    ("pushes", "workers", "day", "step", "least", "most"),
    [
        pytest.param(30, 1, 0.0, 1.92, 0.048, 0.051, id="a-step"),
        pytest.param(30, 1, 0.03, 1.0, 0.055, 0.060, id="days-differ"),
        pytest.param(4, 4, 0.03, 1.0, 0.047, 0.051, id="days-differ-in-a-few-pushes"),
        pytest.param(20, 3, 0.03, 1.92, 0.055, 0.060, id="several-workers"),
    ],
)
def test_steps_do_not_count_and_days_do(pushes, workers, day, step, least, most, repetitions):
    """A step is left out; what a history does not tell apart from workers counts as theirs."""
    generator = np.random.default_rng(pushes)
    count = min(repetitions // 10, MOST_HISTORIES)
    seen = []
    for _ in range(count):
        (series,) = history("pool", readings(generator, pushes, workers, day=day, step=step)).series
        known = _between_workers(series)
        assert known is not None
        seen.append(known.variance)
    uncertain = 3 * float(np.std(seen)) / math.sqrt(count)
    assert least**2 - uncertain <= np.mean(seen) <= most**2 + uncertain


WORKERS = 6


def called(generator, day, ratio=1.0, past=0):
    """Return whether six workers before and six after, a push each, are called different."""
    after, before = [
        SideData(
            tuple(
                level
                + day * generator.normal()
                + simulation.ASSUMED * generator.normal(size=WORKERS)
            ),
            (),
        )
        for level in (math.log(ratio), 0.0)
    ]
    known, degrees = MeanVariance(0.05**2, 4.0), ASSUMED_VARIATION_DEGREES
    if past:
        errors = math.hypot(day, simulation.ASSUMED / math.sqrt(WORKERS))
        known = MeanVariance.of_values((errors * generator.normal(size=past)).tolist())
        degrees = known.degrees
    pushes = PushVariation(math.sqrt(known.variance), degrees, past, 2.0)
    estimate = Estimate.of_sides(after, before, simulation.ASSUMED).with_further(pushes.variance)
    (judgement,) = judge([estimate], [SINGLE], 0.05)
    return judgement.verdict in DIFFERENT


@pytest.mark.parametrize(("day", "past"), [(0.0, 0), (0.03, 0), (0.05, 0), (0.03, 12), (0.08, 12)])
def test_a_day_is_no_change(day, past, repetitions, tolerance):
    """At most 5 of 100 equal pools, where 24 and 42 were by their workers alone; 8 % by a history of 12."""
    generator = np.random.default_rng(1)
    calls = sum(called(generator, day, past=past) for _ in range(repetitions))
    assert calls / repetitions <= FALSE_CALLS + tolerance


def test_a_history_shows_smaller_changes(repetitions, tolerance):
    """Where the past shows that pushes vary by 1 %, a change of 15 % is found as within one push."""
    generator = np.random.default_rng(2)
    calls = sum(called(generator, 0.01, ratio=1.15, past=12) for _ in range(repetitions))
    assert calls / repetitions >= FOUND - tolerance
