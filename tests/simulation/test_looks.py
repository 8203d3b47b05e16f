# SPDX-License-Identifier: MPL-2.0
"""Simulation: the error of several looks.

The bar: 5 % false calls at most over all looks together. Workers vary by 5 %, and log means are
drawn from the normal distribution. Before looks were adjusted, the schedules here had 10 to 14 %.
"""

import math

import numpy as np
import pytest
import simulation
from simulation import Growing, side_of_logs

from io_benchmark.analysis.comparing.comparisons import compare_sides
from io_benchmark.analysis.model.comparison import DIFFERENT, Verdict
from io_benchmark.analysis.model.looks import Schedule
from io_benchmark.analysis.model.measurement import ComparedSides
from io_benchmark.analysis.statistics import variations

FALSE_CALLS = 0.05
SCHEDULES = [(3, 6), (2, 3, 4, 5, 6, 7), (3, 6, 12, 24), (10, 20, 30, 40, 50, 60)]


FALSE = {
    **{f"different at {looks}": (Growing(1.0, seed=len(looks)), looks) for looks in SCHEDULES},
    **{f"equivalent at {looks}": (Growing(1.05, seed=len(looks)), looks) for looks in SCHEDULES},
}


@pytest.mark.parametrize("name", FALSE)
def test_any_looks(name, repetitions, tolerance):
    """However often somebody looks, a report says so falsely in 5 of 100 pushes at most."""
    pools, looks = FALSE[name]
    verdicts = (Verdict.EQUIVALENT,) if name.startswith("equivalent") else DIFFERENT
    called = sum(pools.until(looks, verdicts)[0] for _ in range(repetitions))
    assert called / repetitions <= FALSE_CALLS + tolerance


@pytest.mark.parametrize(
    ("schedule", "single"),
    [
        # The number of workers with which a single look decides as often, by the noncentral t.
        pytest.param(Schedule(), 15, id="assumed"),
        pytest.param(Schedule((3, 6, 12), is_declared=True), 10.4, id="declared"),
    ],
)
def test_ten_percent_takes_fewer_workers(schedule, single, repetitions):
    """With the same power as a single look, at 70 % of its workers on average or fewer."""
    growing = Growing(1.1, schedule)
    outcomes = [growing.until(schedule.looks) for _ in range(repetitions)]
    assert np.mean([decided for decided, _ in outcomes]) >= 0.95
    counts = [count for _, count in outcomes]
    error = float(np.std(counts)) / math.sqrt(repetitions)
    assert np.mean(counts) <= 0.7 * single + 3 * error


def test_verdicts_that_stand(repetitions: int, tolerance: float) -> None:
    """Three equal candidates at three declared looks: one is called different in 5 of 100."""
    schedule = Schedule((3, 6, 12), is_declared=True)
    generator = np.random.default_rng(4)
    called = 0
    for _ in range(repetitions):
        baseline, *candidates = generator.normal(0, simulation.VARIATION, (4, 12))
        pairs, earlier = [], []
        for at, logs in enumerate(candidates):
            by_look = {
                count: ComparedSides(
                    side_of_logs(logs[:count], str(at)),
                    side_of_logs(baseline[:count]),
                    variations.DEFAULT,
                    schedule.look(count),
                    schedule,
                    None,
                )
                for count in schedule.looks
            }
            pairs.append(by_look.pop(12))
            earlier.append(by_look)
        margin = simulation.MARGIN
        found = compare_sides(simulation.SUBJECT, pairs, margin=margin, earlier=earlier)
        called += any(comparison.verdict in DIFFERENT for comparison in found)
    assert called / repetitions <= FALSE_CALLS + tolerance
