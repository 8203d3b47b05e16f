# SPDX-License-Identifier: MPL-2.0
"""Simulation: equal pools are seldom called different, whatever makes their workers noisy.

Each noise is judged with 1 to 12 workers per pool, looked at once and by schedules.
"""

import zlib

import numpy as np
import pytest
from msgspec.structs import replace
from simulation import ASSUMED, RUN_NOISES, Bursts, Noise, judged, run_of, sequence

from io_benchmark.analysis.model.comparison import DIFFERENT
from io_benchmark.analysis.model.looks import SINGLE, Schedule
from io_benchmark.analysis.statistics.levels import SINGLE_WORKER_VARIATION
from io_benchmark.analysis.statistics.ratios import Estimate

FALSE_CALLS = 0.05
COUNTS = (2, 3, 6, 12)
RETRIEVES, FILES = 400, 100
ASSUMED_LOOKS, DECLARED = Schedule(), Schedule((3, 6, 12), is_declared=True)

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
    "two-zones": Noise(slow_machines=0.5, slow_factor=1.2),
}
# More than 5 %: what one worker does not show of its pool, and three workers hardly.
DOCUMENTED = {
    "two-kinds-of-machines": {"1": 0.18, DECLARED_LOOKS: 0.065},
    "few-slow-machines": {"1": 0.20},
    "two-zones": {DECLARED_LOOKS: 0.06},
}


@pytest.mark.parametrize("name", NOISES)
def test_equal_pools(name, rates):
    """5 % of pushes at most have a false call, at one look and at all looks of a schedule."""
    noise, generator = NOISES[name], np.random.default_rng(zlib.crc32(name.encode()))
    for _ in range(rates.repetitions):
        files = sequence(RETRIEVES, FILES, generator)
        firsts = frozenset(np.unique(files, return_index=True)[1].tolist())
        pools = [
            [
                [replace(run_of(noise, files, generator, speed), first_reads=firsts)]
                for speed in noise.draw_speeds(generator, COUNTS[-1])
            ]
            for _ in range(2)
        ]

        def is_called(count, look, pools=pools):
            candidate, baseline = (machines[:count] for machines in pools)
            assumed = ASSUMED if count > 1 else SINGLE_WORKER_VARIATION
            estimate = Estimate.of_workers(candidate, baseline, assumed, look)
            return judged(estimate, look)[1] in DIFFERENT

        for count in (1, *COUNTS):
            rates.add(str(count), is_called(count, SINGLE))
        for name_of_looks, schedule, counts in (
            (ANY_LOOKS, ASSUMED_LOOKS, COUNTS),
            (DECLARED_LOOKS, DECLARED, DECLARED.looks),
        ):
            called = any(is_called(count, schedule.look(count)) for count in counts)
            rates.add(name_of_looks, called)
    bars = dict.fromkeys(rates.hits, FALSE_CALLS) | DOCUMENTED.get(name, {})
    assert [each for each, bar in bars.items() if not rates.keeps(each, bar)] == []
