# SPDX-License-Identifier: MPL-2.0
"""Simulation: how often a fleet's table has two pools in the right order, and how sure it is.

60 pools are measured every week of a year by one to four workers, which vary by 5 %; weeks vary by
3 %, and resemble the weeks before. A fifth of the pools change by 15 % to 50 % at some time. Pools
are on ten levels, of which each is 10 % above the one below. The bars: of pools on two levels that
are next to each other, 95 % are in the right order; of all pools on different levels, 1 % at most
have ranks that say the opposite for certain.
"""

import math
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from itertools import combinations

import numpy as np
import pytest

from io_benchmark.analysis.fleet.fleet import fleet
from io_benchmark.analysis.fleet.fleet_model import FleetPool, WorkerReading
from io_benchmark.analysis.reading.machines import MachineMarks

POOLS, LEVELS, WEEKS = 60, 10, 52
STEP = 0.10  # from level to level
WORKERS, WEEK, LIKE_BEFORE = 0.05, 0.03, 0.4
CHANGED = 12  # pools
START = datetime(2026, 1, 5, 3, tzinfo=UTC)
AS_OF = date(2026, 12, 31)
RIGHT, OPPOSITE = 0.95, 0.01
# Fleets; each has 324 pairs of pools on neighbouring levels.
SHORT, LONG = 2, 100


def drawn(generator: np.random.Generator) -> tuple[list[WorkerReading], dict[str, int]]:
    """Return the readings of a fleet, and the level of each pool at the end."""
    changing = set(generator.permutation(POOLS)[:CHANGED].tolist())
    readings: list[WorkerReading] = []
    levels: dict[str, int] = {}
    for number in range(POOLS):
        level = number % LEVELS
        pool = f"pool {number}"
        levels[pool] = level
        change, week = 0.0, WEEKS
        if number in changing:
            change = float(generator.choice([-1, 1]) * math.log(generator.uniform(1.15, 1.5)))
            week = int(generator.integers(10, WEEKS - 3))
        log = math.log(500) + level * math.log(1 + STEP)
        readings += _weekly(generator, pool, log, change, week)
    return readings, levels


def _weekly(
    generator: np.random.Generator, pool: str, log: float, change: float, changed_week: int
) -> Iterator[WorkerReading]:
    """Yield a pool's readings: it has another level before it changes to that of `log`."""
    of_week = 0.0
    for week in range(WEEKS):
        fresh = math.sqrt(1 - LIKE_BEFORE**2) * generator.normal(0, WEEK)
        of_week = LIKE_BEFORE * of_week + fresh
        before = change if week < changed_week < WEEKS else 0.0
        for worker in range(int(generator.integers(1, 5))):
            value = math.exp(log + before + of_week + generator.normal(0, WORKERS))
            name = f"{pool} {week} {worker}"
            yield WorkerReading(
                pool=pool,
                time=START + timedelta(weeks=week),
                group=f"push {week}",
                task_id=name,
                marks=MachineMarks(name, (), (), pool),
                values={"write": value},
            )


@pytest.fixture
def fleets(request: pytest.FixtureRequest) -> int:
    return LONG if request.config.getoption("--long") else SHORT


def test_ranks(fleets: int, record_property: Callable[[str, object], None]) -> None:
    """Pools that differ by 10 % are in the right order, and no rank is surely wrong."""
    generator = np.random.default_rng(4)
    right, opposite, certain = [], [], []
    for _ in range(fleets):
        readings, levels = drawn(generator)
        made = fleet(readings, as_of=AS_OF, by="write", margin_ratio=0.05)
        for ahead, behind in combinations(made.pools, 2):
            difference = levels[ahead.pool] - levels[behind.pool]
            if abs(difference) == 1:
                right.append(difference > 0)
                certain.append(_is_apart(ahead, behind))
            if difference:
                opposite.append(difference < 0 and _is_apart(ahead, behind))
    text = f"right {np.mean(right):.2%}, opposite {np.mean(opposite):.2%}"
    record_property("rates", f"{text}, ranks apart {np.mean(certain):.2%}")
    assert np.mean(right) >= RIGHT
    assert np.mean(opposite) <= OPPOSITE


def _is_apart(ahead: FleetPool, behind: FleetPool) -> bool:
    """Return whether the ranks have nothing in common."""
    worst, best = ahead.cells["write"].worst_rank, behind.cells["write"].best_rank
    assert worst is not None
    assert best is not None
    return worst < best
