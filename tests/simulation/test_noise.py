# SPDX-License-Identifier: MPL-2.0
"""Simulation: equal pools are seldom called different, whatever makes their workers noisy.

Each noise is judged through `compare`, with 1 to 12 workers per pool, looked at once and by schedules.
"""

import zlib

import numpy as np
import pytest
from simulation import RUN_NOISES, Bursts, Noise, Push, Zone

from io_benchmark.analysis.inference.looks import Schedule
from io_benchmark.analysis.model import DIFFERENT, Comparison

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
# More than 5 %: what one worker does not show of its pool, and three workers hardly.
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
    counts = [count for count in COUNTS if count <= most_workers]
    for _ in range(rates.repetitions):
        push = Push.draw(NOISES[name], most_workers, generator)
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
