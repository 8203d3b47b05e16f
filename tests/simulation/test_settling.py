# SPDX-License-Identifier: MPL-2.0
"""Simulation: the workers that are advised settle a comparison, whatever the truth is.

The bars: 75 to 92 of 100 pushes that were inconclusive have a verdict with the workers that the
report advised to add, at assumed looks; also with the wider margin that it offers. Workers vary by
5 %, their log means are drawn from the normal distribution.
"""

import math

import numpy as np
import pytest
import simulation
from simulation import Rates

from io_benchmark.analysis.comparing.comparisons import compare_sides, with_advice
from io_benchmark.analysis.model.comparison import Comparison, Verdict
from io_benchmark.analysis.model.looks import Schedule
from io_benchmark.analysis.model.measurement import ComparedSides
from io_benchmark.analysis.statistics import variations

LEAST, MOST = 0.75, 0.92
VARIATION, MOST_WORKERS = 0.05, 110
SETTLED, AT_WIDER_MARGIN = "settled", "at the wider margin"


def compare(logs: np.ndarray, count: int, margin: float) -> Comparison:
    """Compare the first workers of a candidate and a baseline."""
    candidate = simulation.side_of_logs(logs[0][:count], "a")
    baseline = simulation.side_of_logs(logs[1][:count], "b")
    schedule = Schedule()
    pair = ComparedSides(
        candidate, baseline, variations.DEFAULT, schedule.look(count), schedule, None
    )
    comparisons = compare_sides(simulation.SUBJECT, [pair], margin=margin)
    (comparison,) = with_advice(comparisons, [pair], margin=margin)
    return comparison


def draw(truth: float, measured: int, repetitions: int, seed: int) -> dict[str, Rates]:
    """Return how often the advice was right: of the workers to add, and of the wider margin."""
    generator, margin = np.random.default_rng(seed), simulation.MARGIN
    rates = {SETTLED: Rates(0), AT_WIDER_MARGIN: Rates(0)}
    for _ in range(repetitions):
        logs = generator.normal(0, VARIATION, (2, MOST_WORKERS))
        logs[0] += math.log1p(truth)
        advice = compare(logs, measured, margin).advice
        if advice is None:
            continue
        further = {SETTLED: (advice.workers_to_add, margin)}
        further[AT_WIDER_MARGIN] = (advice.workers_at_wider_margin, advice.wider_margin_ratio or 0)
        for name, (workers, at_margin) in further.items():
            if workers is not None:
                later = compare(logs, measured + workers, at_margin)
                rates[name].repetitions += 1
                rates[name].add(name, later.verdict is not Verdict.INCONCLUSIVE)
    return rates


@pytest.mark.parametrize("truth", [0.0, 0.05, 0.1, 0.2])
@pytest.mark.parametrize("measured", [3, 6, 10])
def test_the_advised_workers_settle(measured, truth, repetitions):
    """With equal pools, with those that differ by the margin, and with larger differences."""
    rates = draw(truth, measured, min(repetitions, 2000), seed=measured)
    settled = rates[SETTLED]
    if settled.repetitions:
        assert settled.reaches(SETTLED, LEAST)
        assert settled.keeps(SETTLED, MOST)
    wider = rates[AT_WIDER_MARGIN]
    if wider.repetitions:
        assert wider.reaches(AT_WIDER_MARGIN, LEAST)
