# SPDX-License-Identifier: MPL-2.0
"""Simulation: the workers that are advised settle a comparison, whatever the truth is.

The bars: 75 to 92 of 100 pushes that were inconclusive have a verdict with the workers that the report
advised to add, at assumed looks; also with the wider margin that it offers. Workers vary by 5 %, their log
means are drawn from the normal distribution. Where workers vary by more or less and the pools' past is known,
at most 30 of 100 pushes get an advice that is not enough.
"""

import math

import numpy as np
import pytest
import simulation
from msgspec.structs import replace
from simulation import Rates

from io_benchmark.analysis.model.comparison import Comparison, Verdict
from io_benchmark.analysis.model.side import SideData
from io_benchmark.analysis.statistics import variations
from io_benchmark.analysis.statistics.looks import Schedule
from io_benchmark.analysis.statistics.pairs import Pair
from io_benchmark.analysis.statistics.variances import MeanVariance
from io_benchmark.analysis.statistics.variations import Prior
from io_benchmark.analysis.statistics.verdicts import compare_sides

LEAST, MOST = 0.75, 0.92
VARIATION, MOST_WORKERS = 0.05, 110
SETTLED, AT_WIDER_MARGIN = "settled", "at the wider margin"


def compare(logs: np.ndarray, count: int, margin: float, *priors: Prior) -> Comparison:
    """Compare the first workers of a candidate and a baseline."""
    candidate, baseline = (SideData(tuple(side[:count].tolist()), ()) for side in logs)
    schedule = Schedule()
    look = schedule.look(count)
    pair = Pair("a", "b", candidate, baseline, variations.DEFAULT, look, schedule)
    pair = replace(pair, priors=priors or pair.priors)
    (comparison,) = compare_sides(simulation.SUBJECT, [pair], margin=margin)
    return comparison


def draw(
    truth: float,
    measured: int,
    repetitions: int,
    seed: int,
    variation: float = VARIATION,
    earlier: int = 0,
) -> dict[str, Rates]:
    """Return how often the advice was right: of the workers to add, and of the wider margin."""
    generator, margin = np.random.default_rng(seed), simulation.MARGIN
    rates = {SETTLED: Rates(0), AT_WIDER_MARGIN: Rates(0)}
    for _ in range(repetitions):
        logs = generator.normal(0, variation, (2, MOST_WORKERS))
        logs[0] += math.log1p(truth)
        pasts = generator.normal(0, variation, (2 if earlier else 0, earlier)).tolist()
        priors = [Prior(MeanVariance.of_values(past), variations.DEFAULT) for past in pasts]
        advice = compare(logs, measured, margin, *priors).advice
        if advice is None:
            continue
        further = {SETTLED: (advice.workers_to_add, margin)}
        further[AT_WIDER_MARGIN] = (advice.workers_at_wider_margin, advice.wider_margin_ratio or 0)
        for name, (workers, at_margin) in further.items():
            if workers is not None:
                later = compare(logs, measured + workers, at_margin, *priors)
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


@pytest.mark.parametrize("truth", [0.0, 0.05])
@pytest.mark.parametrize("variation", [0.02, 0.10])
def test_the_past_of_the_pools_counts(variation, truth, repetitions):
    """Three workers hardly show that pools vary less or more than usual; 36 earlier ones of each do."""
    count = min(repetitions, 500)
    settled = draw(truth, 3, count, seed=3, variation=variation, earlier=36)[SETTLED]
    assert settled.repetitions - settled.hits[SETTLED] <= 0.3 * count
    assert variation > VARIATION or settled.keeps(SETTLED, MOST)
