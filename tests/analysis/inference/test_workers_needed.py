# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""How many workers more are asked for, and when none would help."""

import math

import numpy as np
import pytest
import simulation

from io_benchmark.analysis.inference import workers_needed
from io_benchmark.analysis.inference.estimates import Estimate, SideData
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
    return workers_needed.advise(found, sides, assumed=0.05, margin=margin, comparisons=comparisons)


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
        given = workers_needed._chance_of_difference(0.05, 0.05, workers, 0.95)
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
    assert "not decidable by repetition" in text_of(given.message)


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
    given = workers_needed.advise(found, sides, assumed=0.05, margin=0.05, comparisons=1)
    variation, degrees = workers_needed._pooled_variation(sides, 0.05)
    assert degrees == 4
    assert variation == pytest.approx(math.sqrt((0.0064 * 4 + 4 * 0.0025) / 8))
    needed = workers_needed._workers_needed(0.1, variation, 0.05, 1, Verdict.SLOWER)
    assert needed is not None
    assert given.workers_to_add == needed - 3
    assert "estimated from these workers and an assumed 5 %" in text_of(given.message)
