# SPDX-License-Identifier: MPL-2.0
"""How many workers more are advised, and when none would help."""

import math

import numpy as np
import pytest
import simulation
from scipy import special

from io_benchmark.analysis.inference.comparisons import _chance, advise
from io_benchmark.analysis.inference.estimates import Estimate, SideData
from io_benchmark.analysis.inference.looks import SINGLE, Schedule
from io_benchmark.analysis.inference.pairs import Pair
from io_benchmark.analysis.inference.worker_variation import WorkerVariation
from io_benchmark.analysis.model import Advice, Verdict
from io_benchmark.report.content.statement_text import text_of

ONE = simulation.entry(np.full(2000, 1_000_000))


def side(*log_means: float) -> SideData:
    return SideData(log_means, ((ONE,),) * len(log_means))


def several(ratio: float, workers: int) -> tuple[SideData, SideData]:
    """Return two sides whose workers vary by 5 %."""
    spread = [0.05 * (at % 2 * 2 - 1) for at in range(workers)]
    candidate, baseline = ([mean + each for each in spread] for mean in (math.log(ratio), 0.0))
    return side(*candidate), side(*baseline)


def advice(
    sides: tuple[SideData, SideData],
    schedule: Schedule | None = None,
    *,
    comparisons: int = 1,
    is_one_machine: bool = False,
) -> Advice:
    pair = Pair(
        "amd-16",
        "intel",
        *sides,
        WorkerVariation.given(0.05),
        schedule=schedule,
        is_one_machine=is_one_machine,
    )
    estimate = Estimate.of_sides(*sides, 0.05)
    return advise(estimate, pair, margin=0.05, comparisons=comparisons)


def single(ratio: float) -> tuple[SideData, SideData]:
    """Return one worker each, whose samples have no noise."""
    slower = simulation.entry(np.full(2000, 1e6 * ratio))
    return SideData((math.log(ratio),), ((slower,),)), side(0.0)


@pytest.mark.parametrize("workers", [2, 3, 5, 17, 60, 200])
def test_power_is_the_noncentral_ts(workers: int) -> None:
    """The chance that an interval excludes 1, by scipy."""
    degrees = 2 * workers - 2
    for log_ratio in (0.001, 0.05, 0.2):
        for comparisons in (1, 500):
            shift = log_ratio / (0.05 * math.sqrt(2 / workers))
            reach = float(special.stdtrit(degrees, 1 - 0.025 / comparisons))
            expected = 1 - float(special.nctdtr(degrees, shift, reach))
            chance = _chance(log_ratio, 0.05, 0.05, comparisons, Verdict.SLOWER, SINGLE, workers)
            assert chance == pytest.approx(expected, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("workers", [2, 5, 60])
@pytest.mark.parametrize("log_ratio", [0.0, 0.03])
def test_the_chance_of_equivalence_is_the_integral(workers: int, log_ratio: float) -> None:
    """Over the quantiles of chi-squared, to three digits."""
    degrees, error = 2 * workers - 2, 0.05 * math.sqrt(2 / workers)
    reach = float(special.stdtrit(degrees, 0.95))
    middles = (np.arange(20_000) + 0.5) / 20_000
    estimated = error * np.sqrt(special.chdtri(degrees, middles) / degrees)
    room = np.maximum(math.log1p(0.05) - reach * estimated, 0.0)
    inside = special.ndtr((room - log_ratio) / error) - special.ndtr((-room - log_ratio) / error)
    chance = _chance(log_ratio, 0.05, 0.05, 1, Verdict.EQUIVALENT, SINGLE, workers)
    assert chance == pytest.approx(float(np.mean(inside)), abs=1e-3)


def test_ten_percent_takes_about_six_workers() -> None:
    """As published tables of power say for 5 % variation, 80 % power, 5 % level: 5 to 6 a side."""
    given = advice(single(1.10))
    assert (given.leaning, given.workers_to_add) == (Verdict.SLOWER, 5)
    assert text_of(given.message) == (
        "probably slower, not proven; 5 more workers per pool should settle it "
        "if workers vary by 5 %, including an assumed 5 %"
    )
    assert advice(single(1 / 1.10)).leaning is Verdict.FASTER
    # Holm's first step is harder with three candidates than with one.
    more = advice(single(1.10), comparisons=3).workers_to_add
    assert more is not None
    assert more > 5


@pytest.mark.parametrize(
    ("ratio", "workers", "is_one_machine", "expected"),
    [
        pytest.param(77 / 76, range(15, 40), False, "more workers per pool should", id="small"),
        pytest.param(1.0499, None, False, "that would take more than 100 per pool", id="margin"),
        pytest.param(1.01, None, True, "settle it: one machine ran all of these tasks", id="one"),
    ],
)
def test_equivalence(
    ratio: float, workers: range | None, is_one_machine: bool, expected: str
) -> None:
    """Within the margin it is what more workers would show; not at its edge, and not one machine."""
    given = advice(single(ratio), is_one_machine=is_one_machine)
    assert given.leaning is Verdict.EQUIVALENT
    assert given.workers_to_add is None if workers is None else given.workers_to_add in workers
    assert expected in text_of(given.message)


def test_workers_that_ran_count() -> None:
    """Their variation is pooled with the assumed one, and they are taken off the number needed."""
    given = advice((side(0.1, 0.02, 0.18), side(0.0, 0.08, -0.08)))
    variation = math.sqrt((0.0064 * 4 + 4 * 0.0025) / 8)
    assert given.variation_ratio == pytest.approx(variation)
    total = 3 + (given.workers_to_add or 0)
    chances = [
        _chance(0.1, variation, 0.05, 1, Verdict.SLOWER, SINGLE, workers)
        for workers in (total - 1, total)
    ]
    assert chances[0] < 0.83 <= chances[1]
    assert "estimated from these workers and an assumed 5 %" in text_of(given.message)


@pytest.mark.parametrize(
    ("looks", "ratio", "workers", "expected"),
    [
        pytest.param("3,6,12", 1.15, 4, 2, id="the next look"),
        pytest.param("3,6,12", 1.08, 6, 6, id="the last look"),
        pytest.param(
            "3,6",
            1.07,
            6,
            "no look is declared after 6 workers per pool; a new measurement with 12 per pool and one "
            "look should settle it",
            id="no look is left",
        ),
        pytest.param(
            "3,6,12",
            1.055,
            6,
            "the chance at the last declared look, 12 workers per pool, is below 80 %; a new measurement "
            "with 18 per pool and one look should settle it",
            id="the looks that are left are too few",
        ),
        pytest.param(
            "3,6", 1.049, 6, "that would take more than 100 per pool", id="no measurement would do"
        ),
    ],
)
def test_declared_looks(looks: str, ratio: float, workers: int, expected: int | str) -> None:
    """The advice never goes beyond the last declared look, and names no number between two looks."""
    given = advice(several(ratio, workers), Schedule.parse(looks))
    if isinstance(expected, int):
        assert (given.workers_to_add, given.obstacle) == (expected, None)
    else:
        assert given.workers_to_add is None
        assert given.obstacle is not None
        assert text_of(given.obstacle) == expected
        assert expected in text_of(given.message)


PLANNED = Schedule((6,), is_declared=True, is_planned=True)


def test_a_plan() -> None:
    """Until it is complete, its workers are to come; a lost one is not replaced at its level."""
    assert advice(single(1.3), PLANNED).workers_to_add == 5
    after = advice(several(1.12, 4), PLANNED).workers_to_add
    assert after is not None
    assert 4 + after > 6
