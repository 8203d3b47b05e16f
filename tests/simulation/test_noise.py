# SPDX-License-Identifier: MPL-2.0
"""Simulation: equal pools are seldom called different, whatever makes their workers noisy.

Each noise is judged through `compare`, with 1 to 12 workers per pool, looked at once and by schedules.
"""

import zlib
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from simulation import (
    ASSUMED,
    RUN_NOISES,
    Bursts,
    Noise,
    Pool,
    Push,
    Rates,
    Zone,
    judged,
    sequence,
    side_of,
)

from io_benchmark.analysis.inference.estimates import Estimate
from io_benchmark.analysis.inference.looks import Schedule
from io_benchmark.analysis.model import DIFFERENT, Comparison, Entry
from io_benchmark.results.parts import OutcomeState

FALSE_CALLS = 0.05
COUNTS = (2, 3, 6, 12)
DECLARED = Schedule((3, 6, 12), is_declared=True)

ANY_LOOKS, DECLARED_LOOKS = "any looks", "declared looks"

NOISES = {
    "even": Noise(),
    "bursts": RUN_NOISES["bursts"],
    "two-modes-of-retrieves": Noise(bursts=Bursts(1.5, on=150, off=150)),
    "heavy-tails-of-retrieves": RUN_NOISES["heavy-tails"],
    "heavy-tails-of-machines": Noise(degrees=3),
    "two-kinds-of-machines": Noise(slow_machines=0.5, slow_factor=1.3),
    "few-slow-machines": Noise(slow_machines=0.1, slow_factor=1.5),
    "cold-cache": Noise(cold_factor=4.0),
    "burst-credit": Noise(credit=150, without_credit=2.0),
    "two-zones": Noise(zones=(Zone("b", 0.5, 1.0), Zone("f", 0.5, 1.2))),
}
# Of pushes with unequal shares of zones that differ by 1.2×; 40 % of them have a false call.
NOT_WARNED = 0.08
# More than 5 %: what one worker does not show of its pool, and three workers hardly. comparing.md has
# these rates, too.
DOCUMENTED = {
    "two-kinds-of-machines": {"1": 0.18, DECLARED_LOOKS: 0.065},
    "few-slow-machines": {"1": 0.20},
    "two-zones": {DECLARED_LOOKS: 0.06},
}


def once(count: int) -> Schedule:
    return Schedule((count,), is_declared=True)


@pytest.mark.parametrize("name", NOISES)
def test_equal_pools(name, most_workers, rates):
    """5 % of pushes at most have a false call, at one look and at all looks of a schedule."""
    generator = np.random.default_rng(zlib.crc32(name.encode()))
    pools = [Pool(pool, NOISES[name]) for pool in ("a", "b")]
    counts = [count for count in COUNTS if count <= most_workers]
    for _ in range(rates.repetitions):
        push = Push.draw(pools, (most_workers,) * 2, generator)
        rates.add("1", is_called(push.comparison(1)))
        for count in counts:
            rates.add(str(count), is_called(push.comparison(count, once(count))))
        at_any = [push.comparison(count) for count in counts]
        rates.add(ANY_LOOKS, any(map(is_called, at_any)))
        declared = [push.comparison(count, DECLARED) for count in counts if count in DECLARED.looks]
        rates.add(DECLARED_LOOKS, any(map(is_called, declared)))
    bars = dict.fromkeys(rates.hits, FALSE_CALLS) | DOCUMENTED.get(name, {})
    assert [each for each, bar in bars.items() if not rates.keeps(each, bar)] == []


def is_called(comparison: Comparison) -> bool:
    return comparison.verdict in DIFFERENT


def test_unequal_shares_of_zones(rates: Rates) -> None:
    """Zones that differ by 1.2×, 80 % of one pool and 20 % of the other in the slow one: it is said."""
    generator = np.random.default_rng(5)
    pools = [
        Pool(name, Noise(zones=(Zone("b", share, 1.0), Zone("f", 1 - share, 1.2))))
        for name, share in (("a", 0.2), ("b", 0.8))
    ]
    for _ in range(rates.repetitions):
        report = Push.draw(pools, (6, 6), generator).report(schedule=once(6))
        called = is_called(report.subjects[0].comparisons[0])
        warned = any(problem.rule == "zones" for problem in report.problems)
        rates.add("called", called)
        rates.add("called without a warning", called and not warned)
    assert rates.keeps("called without a warning", NOT_WARNED)


# --- runs of different length, and plans that lost a task ---

MISSED, LONG_RUN = 0.07, 2000


def planned(pools: Sequence[Pool], counts: Sequence[int]) -> list[Pool]:
    """Name each pool, and let its tasks name how many they are; the last pool is the baseline."""
    return [
        replace(pool, name=f"pool-{at}", planned=str(count) if count > 1 else None)
        for at, (pool, count) in enumerate(zip(pools, counts, strict=True))
    ]


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize(
    ("noise", "files", "length", "ended_by"),
    [
        (Noise(cold_factor=2.0), 300, 1000, OutcomeState.TIME_BUDGET),
        (Noise(credit=600, without_credit=2.0), 100, 1000, OutcomeState.TIME_BUDGET),
        (Noise(cold_factor=4.0), 300, 500, OutcomeState.COMPLETED),
    ],
    ids=["cold-start-by-2", "credit-of-600", "precision-cold-by-4"],
)
def test_a_candidate_cut_short(noise, files, length, ended_by, workers, rates):
    """By its time budget, or as released versions could by --precision: the pools are equal over what both have."""
    generator = np.random.default_rng(length)
    counts = (workers, workers)
    pools = [Pool("", noise, retrieves=length, ended_by=ended_by), Pool("", noise)]
    for _ in range(rates.repetitions):
        push = Push.draw(planned(pools, counts), counts, generator, retrieves=LONG_RUN, files=files)
        comparison = push.comparison()
        rates.add("false calls", is_called(comparison))
        rates.add("missed truths", not push.holds(comparison))
    assert rates.keeps("false calls", FALSE_CALLS)


@pytest.mark.parametrize("ratio", [1.0, 1.1])
def test_a_plan_that_lost_a_task(ratio: float, rates: Rates) -> None:
    """Five of six workers, and a sixth that is created in its place: the first look is the plan's."""
    generator = np.random.default_rng(6)
    pools = planned([Pool("", ratio=ratio), Pool("")], (6, 6))
    lost = [pools[0].name]
    for _ in range(rates.repetitions):
        push = Push.draw(pools, (6, 6), generator)
        five = replace(push, workers=(push.workers[0][:5], push.workers[1]))
        is_first = is_called(five.comparison(lost=lost))
        rates.add("six of six", is_called(push.comparison()))
        rates.add("five, one lost", is_first)
        rates.add("five, one to come", is_called(five.comparison()))
        rates.add("five, one lost and replaced", is_first or is_called(push.comparison(lost=lost)))
    if ratio == 1.0:
        assert [each for each in rates.hits if not rates.keeps(each, FALSE_CALLS)] == []
    else:
        assert rates.reaches("five, one lost", 0.70)


# --- first reads from a cold disk: the baseline's disk is slow and its page cache fast ---

WIDEST, COVERAGE = 2.0, 0.93
SLOW, FAST = Pool("slow", Noise(cold_factor=1.3), ratio=9.8), Pool("fast", Noise(cold_factor=21.0))
WAVES = Pool("equal", Noise(cold_factor=4.0, waves=0.3))


def estimate(*entries: Entry) -> Estimate:
    candidate, baseline = (side_of([each]) for each in entries)
    return Estimate.of_sides(candidate, baseline, ASSUMED)


def measured(pool: Pool, files: np.ndarray, generator: np.random.Generator) -> Entry:
    ((entry,),) = (worker.entries for worker in pool.measure(1, files, generator))
    return entry


@pytest.mark.parametrize(("retrieves", "files"), [(100, 20), (200, 20), (200, 100), (2000, 100)])
def test_a_cold_start_is_no_wave(retrieves: int, files: int) -> None:
    """The interval holds the truth, and is within a factor of 2 of the ratio half of the time."""
    generator, rates = np.random.default_rng(retrieves + files), Rates(100)
    for _ in range(rates.repetitions):
        order = sequence(retrieves, files, generator)
        found = estimate(*(measured(pool, order, generator) for pool in (SLOW, FAST)))
        interval, _ = judged(found)
        rates.add("covered", not interval.excludes(SLOW.true_ratio(FAST, order)))
        rates.add("narrow", interval.high_ratio / found.ratio <= WIDEST)
        equal = estimate(*(measured(WAVES, order, generator) for _ in range(2)))
        rates.add("called", judged(equal)[0].excludes(1.0))
    assert rates.reaches("covered", COVERAGE)
    assert rates.reaches("narrow", 0.5)
    assert rates.keeps("called", FALSE_CALLS)
