# SPDX-License-Identifier: MPL-2.0
"""How many workers more are asked for, and when none would help."""

import math

import numpy as np
import pytest
import simulation
from msgspec.structs import replace

from io_benchmark.analysis.inference import workers_needed
from io_benchmark.analysis.inference.estimates import Estimate, SideData
from io_benchmark.analysis.inference.looks import Schedule
from io_benchmark.analysis.inference.pairs import Pair
from io_benchmark.analysis.inference.worker_variation import WorkerVariation
from io_benchmark.analysis.model import Advice, Verdict
from io_benchmark.report.content.statement_text import text_of

ONE = simulation.entry(np.full(2000, 1_000_000))


def asked(ratio: float, workers: int, *, comparisons: int = 1, margin: float = 0.05) -> Advice:
    sides = (
        SideData(
            (math.log(ratio),) * workers,
            ((simulation.entry(np.full(2000, 1e6 * ratio)),),) * workers,
        ),
        SideData((0.0,) * workers, ((ONE,),) * workers),
    )
    found = Estimate.of_sides(*sides, 0.05)
    return workers_needed.advise(found, pair_of(sides), margin=margin, comparisons=comparisons)


def pair_of(sides: tuple[SideData, SideData], schedule: Schedule | None = None) -> Pair:
    return Pair("amd-16", "intel", *sides, WorkerVariation.given(0.05), schedule=schedule)


def test_ten_percent_takes_about_six_workers() -> None:
    """As published tables of power say for 5 % variation, 80 % power, 5 % level: 5 to 6 a side."""
    given = asked(1.10, 1)
    assert given.leaning is Verdict.SLOWER
    assert given.workers_to_add in (4, 5)
    assert text_of(given.message) == (
        f"probably slower, not proven; {given.workers_to_add} more workers per pool should settle it "
        "if workers vary by 5 %, including an assumed 5 %"
    )


def test_power_is_scipys() -> None:
    """The chance of a difference against the noncentral t of scipy.stats."""
    from scipy.stats import nct, t

    for workers in (2, 5, 17, 60):
        degrees = 2 * workers - 2
        shift = 0.05 / (0.05 * math.sqrt(2 / workers))
        expected = nct.sf(t.ppf(0.975, degrees), degrees, shift)
        given = workers_needed._chance_of_difference(0.05, 0.05, 0.95, workers)
        assert given == pytest.approx(expected, rel=1e-6)


def test_the_seeds_amd_30_leans_to_equivalence() -> None:
    """1.01 with one worker each: equivalence is what more workers would show."""
    given = asked(77 / 76, 1)
    assert given.leaning is Verdict.EQUIVALENT
    assert given.workers_to_add is not None
    assert 15 <= given.workers_to_add <= 40


def test_on_the_margins_edge_nothing_helps() -> None:
    """A ratio at the margin is neither: the message says that more than a hundred workers are needed."""
    given = asked(1.0499, 1)
    assert given.workers_to_add is None
    assert "more workers are not expected to settle it" in text_of(given.message)


def test_more_candidates_need_more_workers() -> None:
    """Holm's first step is harder with three candidates than with one."""
    one, three = asked(1.08, 1).workers_to_add, asked(1.08, 1, comparisons=3).workers_to_add
    assert one is not None
    assert three is not None
    assert three > one


def test_what_is_there_counts() -> None:
    """Of the number needed, the workers that already ran are taken off, and one at least is added."""
    sides = (
        SideData((0.1, 0.02, 0.18), ((ONE,),) * 3),
        SideData((0.0, 0.08, -0.08), ((ONE,),) * 3),
    )
    found = Estimate.of_sides(*sides, 0.05)
    given = workers_needed.advise(found, pair_of(sides), margin=0.05, comparisons=1)
    variation, degrees = workers_needed._pooled_variation(sides, 0.05)
    assert degrees == 4
    assert variation == pytest.approx(math.sqrt((0.0064 * 4 + 4 * 0.0025) / 8))
    needed = workers_needed._workers_needed(0.1, variation, 0.05, 1, Verdict.SLOWER)
    assert needed is not None
    assert given.workers_to_add == needed - 3
    assert "estimated from these workers and an assumed 5 %" in text_of(given.message)


def several(ratio: float, workers: int) -> tuple[SideData, SideData]:
    """Return two sides whose workers vary by 5 %."""
    spread = [0.05 * (at % 2 * 2 - 1) for at in range(workers)]
    of = [tuple(centre + each for each in spread) for centre in (math.log(ratio), 0.0)]
    return SideData(of[0], ((ONE,),) * workers), SideData(of[1], ((ONE,),) * workers)


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
    sides = several(ratio, workers)
    found = Estimate.of_sides(*sides, 0.05)
    schedule = Schedule.parse(looks)
    given = workers_needed.advise(found, pair_of(sides, schedule), margin=0.05, comparisons=1)
    if isinstance(expected, int):
        assert (given.workers_to_add, given.obstacle) == (expected, None)
    else:
        assert given.workers_to_add is None
        assert given.obstacle is not None
        assert text_of(given.obstacle) == expected
        assert expected in text_of(given.message)


def test_after_a_plan() -> None:
    """Its one look is over, so a lost worker is not replaced at the plan's level."""
    sides = several(1.12, 4)
    found = Estimate.of_sides(*sides, 0.05)
    schedule = Schedule((6,), is_declared=True, is_planned=True)
    given = workers_needed.advise(found, pair_of(sides, schedule), margin=0.05, comparisons=1)
    assert given.workers_to_add is not None
    assert 4 + given.workers_to_add > 6


def test_before_a_plan_is_complete() -> None:
    """The first worker of each pool is no look: those of the plan are still to come."""
    slower = simulation.entry(np.full(2000, 1_300_000))
    sides = (SideData((math.log(1.3),), ((slower,),)), SideData((0.0,), ((ONE,),)))
    found = Estimate.of_sides(*sides, 0.05)
    schedule = Schedule((6,), is_declared=True, is_planned=True)
    given = workers_needed.advise(found, pair_of(sides, schedule), margin=0.05, comparisons=1)
    assert given.workers_to_add == 5


def test_one_machine_ran_both_pools() -> None:
    """More runs on it are no further workers."""
    sides = several(1.05, 1)
    found = Estimate.of_sides(*sides, 0.05)
    pair = replace(pair_of(sides), is_one_machine=True)
    given = workers_needed.advise(found, pair, margin=0.05, comparisons=1)
    assert given.workers_to_add is None
    assert text_of(given.message) == (
        "probably equivalent, not proven; more workers are not expected to settle it: one machine ran all of these "
        "tasks"
    )
