# SPDX-License-Identifier: MPL-2.0
"""Which look a comparison is, and what it may spend; the rates are in tests/simulation."""

import pytest
import seed_workers

from io_benchmark.analysis.model.looks import SINGLE, Schedule
from io_benchmark.analysis.statistics import looks
from io_benchmark.analysis.statistics.looks import (
    _chance_of_crossing,
    equivalence_level,
    p_value_of,
)
from io_benchmark.report.content import text_of
from io_benchmark.results.format import PLAN_VARIABLE
from io_benchmark_taskgraph.transforms import benchmark

NUMBERS = (*range(2, 25), *range(26, 100, 3))


@pytest.mark.parametrize(
    ("number", "p_value"), [(1, 0.05), (2, 0.0294), (3, 0.0221), (5, 0.0158), (10, 0.0106)]
)
def test_pococks_levels(number: int, p_value: float) -> None:
    """Pocock 1977, Biometrika 64:191, table 1: with this level at equal steps the error is 5 %."""
    chance = _chance_of_crossing(range(1, number + 1), [p_value] * number)
    assert chance == pytest.approx(0.05, abs=3e-4)


@pytest.mark.parametrize("alpha", [0.10, 0.05, 0.05 / 3])
@pytest.mark.parametrize("schedule", [Schedule(), Schedule((3, 6, 12), is_declared=True)])
def test_all_looks_together_keep_the_error(schedule: Schedule, alpha: float) -> None:
    """Looks after each number of workers up to a hundred, at their own levels."""
    p_values = [p_value_of(schedule.look(count), alpha) for count in NUMBERS]
    assert 0.85 * alpha < _chance_of_crossing(NUMBERS, p_values) < 1.02 * alpha


def test_known_factors(monkeypatch):
    """What is known of the assumed looks is what would be computed."""
    known = dict(looks._ASSUMED_FACTORS)
    levels = [p_value_of(Schedule().look(6), alpha, relative) for relative, alpha in known]
    monkeypatch.setattr(looks, "_ASSUMED_FACTORS", {})
    computed = [p_value_of(Schedule().look(6), alpha, relative) for relative, alpha in known]
    assert levels == pytest.approx(computed)


def test_levels():
    """A number of workers in between has the level of the look before; the last has less.

    Nothing is spent where nobody looks, so each declared look has more; a single one has all.
    """
    assumed = [p_value_of(Schedule().look(count), 0.05) for count in (3, 5, 6, 11, 12, 23, 24)]
    first, same, *middle, last = assumed
    assert first == same < middle[0] == middle[1] == middle[2] == middle[3] > last
    declared = Schedule((3, 6, 12), is_declared=True)
    for count in (3, 6, 12):
        assert p_value_of(declared.look(count), 0.05) > 2 * p_value_of(Schedule().look(count), 0.05)
    once = Schedule((6,), is_declared=True)
    assert once.look(6) == SINGLE
    for outside in (declared.look(7), once.look(5)):
        assert p_value_of(outside, 0.05) == pytest.approx(0.0005)
        assert equivalence_level(outside) == pytest.approx(0.999)
    late = Schedule((2, 99, 100), is_declared=True)
    first, second, third = (p_value_of(late.look(count), 5e-5) for count in late.looks)
    assert 5e-7 <= first <= second == third < 5e-5


def workers(count, pool, plan):
    """So many workers of a pool, whose tasks say how many were planned."""
    assert benchmark.PLAN_VARIABLE == PLAN_VARIABLE
    change = {pool: {"config.environment": {} if plan is None else {PLAN_VARIABLE: plan}}}
    return seed_workers.workers(count, between=0.02, pools=(pool,), change=change)


def compared(measured, lost=()):
    """By all workers, also where an earlier look decided."""
    report = seed_workers.report_of(measured, lost=lost)
    (comparison,) = report.subjects[0].comparisons
    return comparison.of_all or comparison


SECOND = "second of at most 4 looks"


@pytest.mark.parametrize(
    ("amd_16", "intel", "runs", "lost", "level", "look"),
    [
        pytest.param("6", "6", 6, 0, 0.95, None, id="as-planned"),
        pytest.param(None, None, 6, 0, 0.991, SECOND, id="no-plan"),
        pytest.param("6", None, 6, 0, 0.991, SECOND, id="half-a-plan"),
        pytest.param("1", "1", 6, 0, 0.991, SECOND, id="one-by-one"),
        pytest.param("six", "6", 6, 0, 0.991, SECOND, id="nonsense"),
        pytest.param("3,6,12", "6", 6, 0, 0.991, SECOND, id="two-designs"),
        ("3,6,12", "3,6,12", 6, 0, 0.9764, "second of at most 3 looks"),
        ("4", "4", 6, 0, 0.9995, "amd-16 has 6 runs, and its one look was planned at 4"),
        ("6", "8", 6, 0, 0.9995, "intel has 6 runs, and its one look was planned at 8"),
        # What ended without a result is no reason to look again; its replacement is.
        pytest.param("6", "6", 5, 1, 0.95, None, id="one-lost"),
        pytest.param("6", "6", 3, 3, 0.95, None, id="half-lost"),
        pytest.param("6", "6", 1, 0, 0.95, None, id="one-of-a-plan"),
        ("6", "6", 5, 0, 0.9995, "amd-16 has 5 runs, and its one look was planned at 6"),
        (
            "6",
            "6",
            6,
            1,
            0.9995,
            "amd-16 has 6 runs and 1 without a result, and its one look was planned at 6",
        ),
        # A worker differs only by more than workers of one pool may, which spends nothing.
        pytest.param(None, None, 1, 0, 0.95, None, id="one-worker"),
    ],
)
def test_a_plan_is_a_single_look(amd_16, intel, runs, lost, level, look):
    """All runs that were planned, and no more, keep the interval of one look."""
    others = 1 if runs == 1 else 6
    measured = [*workers(runs, "amd-16", amd_16), *workers(others, "intel", intel)]
    comparison = compared(measured, lost=["amd-16"] * lost)
    assert comparison.interval.level_ratio == pytest.approx(level, abs=1e-3)
    assert (comparison.look and text_of(comparison.look)) == look
