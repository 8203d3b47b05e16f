# SPDX-License-Identifier: MPL-2.0
"""How many workers are advised, each limit from both sides; the rates are in tests/simulation."""

import math

import numpy as np
import pytest
import simulation
from scipy import special

from io_benchmark.analysis.model.comparison import Verdict
from io_benchmark.analysis.model.looks import SINGLE, Schedule
from io_benchmark.analysis.statistics import variations
from io_benchmark.analysis.statistics.advice import advise
from io_benchmark.analysis.statistics.ratios import Estimate
from io_benchmark.analysis.statistics.settling import Question
from io_benchmark.analysis.statistics.variances import MeanVariance
from io_benchmark.report.content import text_of

MARGIN = 0.05
SLOWER, EQUIVALENT, INCONCLUSIVE = Verdict.SLOWER, Verdict.EQUIVALENT, Verdict.INCONCLUSIVE


@pytest.mark.parametrize("log_ratio", [1.0, 30.0, -30.0, 700.0])
def test_the_chance_of_a_ratio_that_is_beyond_everything_assumed(log_ratio: float) -> None:
    """Both means that the truth may have are too far away for their densities to be told from 0."""
    seen = MeanVariance(0.03**2, 4.0)
    question = Question(log_ratio, 3.0, seen, seen, 0.0, 0.0, MARGIN, 1)
    assert question.chance(SINGLE, 8) == pytest.approx(1.0)


def side(*log_means):
    return log_means


def single(ratio):
    """One worker each, whose samples have no noise."""
    return side(math.log(ratio)), side(0.0)


def several(ratio, workers):
    """Two sides whose workers vary by 5 %."""
    spread = [0.05 * (at % 2 * 2 - 1) for at in range(workers)]
    return side(*(math.log(ratio) + log for log in spread)), side(*spread)


def advice(sides, schedule=None, *, comparisons=1, is_one_machine=False):
    candidate, baseline = (
        [[simulation.entry(np.full(2000, 1e6 * math.exp(log)))] for log in side] for side in sides
    )
    return advise(
        Estimate.of_workers(candidate, baseline, 0.05),
        sides,
        variations.given(0.05),
        margin=MARGIN,
        comparisons=comparisons,
        schedule=schedule,
        is_one_machine=is_one_machine,
    )


def test_a_new_measurement():
    """The present workers count where they are continued.

    Pushes that vary make a verdict less likely.
    """
    seen = MeanVariance(0.05**2, 10.0)
    question = Question(0.1, 6.0, seen, seen, 0.0, 0.0, MARGIN, 1)
    anew = question._replace(is_continued=False)
    assert question.chance(SINGLE, 8) > anew.chance(SINGLE, 8)
    for continued in (True, False):
        pushes = question._replace(between_pushes=0.05**2, is_continued=continued)
        assert pushes.chance(SINGLE, 60) < 0.5 < question.chance(SINGLE, 60)
    # Workers that hardly vary, and pushes of which the next differs by 5 % as well.
    steady = MeanVariance(1e-6, 10.0)
    pushes = anew._replace(log_ratio=0.15, seen=steady, variance=steady, between_pushes=0.05**2)
    later = 0.15 * 0.15**2 / (0.15**2 + 0.05**2), math.sqrt(0.05**2 * (1 + 0.9))
    expected = float(special.ndtr((later[0] - 1.98 * 0.05) / later[1]))
    assert pushes.chance(SINGLE, 60) == pytest.approx(expected, abs=0.015)


def test_ten_percent_of_one_worker():
    """It may well be nothing, so that it takes what shows that; 20 % takes fewer."""
    given = advice(single(1.10))
    assert (given.leaning, given.workers_to_add) == (SLOWER, 19)
    assert text_of(given.message) == (
        "probably slower, not proven; 19 more workers per pool should settle it "
        "if workers vary by 5 %, including an assumed 5 %"
    )
    assert given.wider_margin_ratio is None
    assert advice(single(1.20)).workers_to_add == 2
    assert advice(single(1 / 1.10)).leaning is Verdict.FASTER
    # Holm's first step is harder with three candidates than with one.
    assert advice(single(1.10), comparisons=3).workers_to_add > 19


@pytest.mark.parametrize(
    ("ratio", "workers", "is_one_machine", "expected"),
    [
        (77 / 76, range(15, 40), False, "more workers per pool should"),
        (1.0499, range(15, 40), False, "or accept ±12 %: 6 more"),
        (1.01, [None], True, "settle it: one machine ran all of these tasks"),
    ],
)
def test_equivalence(ratio, workers, is_one_machine, expected):
    """Within the margin it is what more workers may show, also at its edge; not one machine."""
    given = advice(single(ratio), is_one_machine=is_one_machine)
    assert given.leaning is EQUIVALENT
    assert given.workers_to_add in workers
    assert expected in text_of(given.message)


def test_workers_that_ran_count():
    """Their variation is pooled with the assumed one, and they are taken off the number needed."""
    given = advice((side(0.1, 0.02, 0.18), side(0.0, 0.08, -0.08)))
    variation = math.sqrt((0.0064 * 4 + 4 * 0.0025) / 8)
    assert given.variation_ratio == pytest.approx(variation)
    seen, combined = MeanVariance(0.0064, 4.0), MeanVariance(variation**2, 8.0)
    question = Question(0.1, 3.0, seen, combined, 0.0, 0.0, MARGIN, 1)
    total = 3 + given.workers_to_add
    assert given.workers_to_add >= 11  # from there on 80 % are required
    fewer, enough = (question.chance(SINGLE, workers) for workers in (total - 1, total))
    assert fewer < 0.8 <= enough
    assert "estimated from these workers and an assumed 5 %" in text_of(given.message)


def test_sides_of_different_sizes():
    """The pool with fewer workers gets more, and those of the other count."""
    few, many = several(1.08, 3)[0], several(1.08, 20)[1]
    given = advice((few, many))
    assert given.leaning is SLOWER
    assert 1 <= given.workers_to_add < advice(several(1.08, 3)).workers_to_add


@pytest.mark.parametrize(("variation", "wider"), [(0.15, 0.2), (0.6, None)])
def test_too_many(variation, wider):
    """Workers that vary so much need more than 100, and few more settle it with a wide margin."""
    spread = [variation * (at % 2 * 2 - 1) for at in range(6)]
    given = advice((side(*spread), side(*spread)))
    assert (given.workers_to_add, given.wider_margin_ratio) == (None, wider)
    assert text_of(given.obstacle) == "that would take more than 100 per pool"
    assert text_of(given.message).endswith("or accept ±20 %: 6 more") == (wider is not None)


ANEW = "a new measurement with {} per pool and one look should settle it"


NONE_LEFT = "no look is declared after 6 workers per pool; "
TOO_FEW = "the chance at the last declared look, 12 workers per pool, is too small; "


@pytest.mark.parametrize(
    ("looks", "ratio", "workers", "more", "obstacle"),
    [
        # The next look, and the last one.
        ("3,6,12", 1.15, 4, 2, None),
        ("3,6,12", 1.08, 6, 6, None),
        # No look is left, or too few are; at last a ratio at the margin.
        ("3,6", 1.07, 6, None, NONE_LEFT + ANEW.format(17)),
        ("3,6,12", 1.055, 6, None, TOO_FEW + ANEW.format(20)),
        ("3,6", 1.049, 6, None, NONE_LEFT + ANEW.format(21)),
    ],
)
def test_declared_looks(looks, ratio, workers, more, obstacle):
    """The advice never goes beyond the last declared look, or names a number between two looks."""
    given = advice(several(ratio, workers), Schedule.parse(looks))
    assert (given.workers_to_add, given.obstacle and text_of(given.obstacle)) == (more, obstacle)
    assert obstacle is None or obstacle in text_of(given.message)
