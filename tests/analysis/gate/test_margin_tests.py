# SPDX-License-Identifier: MPL-2.0
"""The limits of a gate's test, from both sides, by scipy."""

import math

import pytest
from msgspec.structs import replace
from scipy import stats
from simulation import SUBJECT, side_of_logs

from io_benchmark.analysis.gate.gate_model import Answer
from io_benchmark.analysis.gate.margin_tests import margin_test
from io_benchmark.analysis.model.looks import SINGLE, Schedule
from io_benchmark.analysis.model.measurement import ComparedSides
from io_benchmark.analysis.statistics import variations

NOISE = (0.02, -0.02, 0.01, -0.01, 0.0)
SLOW = (1.0, 1.1)


def pair(ratio: float, baseline: tuple[float, ...] = NOISE) -> ComparedSides:
    candidate = [log + math.log(ratio) for log in NOISE]
    return ComparedSides(
        side_of_logs(candidate, "alpha"),
        side_of_logs(baseline, "production"),
        variations.DEFAULT,
        SINGLE,
        Schedule(),
        None,
    )


def end_of_interval(probability: float) -> float:
    """How far the one-sided interval reaches."""
    error = math.sqrt(2 * stats.tvar(NOISE) / len(NOISE))
    return float(stats.t.ppf(1 - probability, 2 * len(NOISE) - 2) * error)


@pytest.mark.parametrize(("nearer", "answer"), [(1e-4, Answer.PASSED), (-1e-4, Answer.NOT_DECIDED)])
def test_the_upper_limit_passes(nearer: float, answer: Answer) -> None:
    """It passes where the one-sided 95 % limit is below 1.1, whatever other measurements say."""
    ratio = 1.1 * math.exp(-end_of_interval(0.05) - nearer)
    found = [margin_test(SUBJECT, pair(ratio), None, 0.1, measurements) for measurements in (1, 6)]
    assert [test.answer for test in found] == [answer, answer]
    assert found[0].highest_ratio == pytest.approx(1.1 * math.exp(-nearer))
    assert found[0].ratio == pytest.approx(ratio)


@pytest.mark.parametrize("measurements", [1, 6])
@pytest.mark.parametrize(
    ("further", "answer"), [(1e-4, Answer.FAILED), (-1e-4, Answer.NOT_DECIDED)]
)
def test_the_lower_limit_fails(further: float, answer: Answer, measurements: int) -> None:
    """It fails where the interval is above 1.1 at a level that all measurements share."""
    ratio = 1.1 * math.exp(end_of_interval(0.025 / measurements) + further)
    found = margin_test(SUBJECT, pair(ratio), None, 0.1, measurements)
    assert found.answer is answer
    assert found.interval.low_ratio == pytest.approx(1.1 * math.exp(further))


@pytest.mark.parametrize(
    ("ratio", "answer"),
    [(1.0, Answer.PASSED), (1.5, Answer.NOT_DECIDED), (20.0, Answer.FAILED)],
)
def test_slow_workers_of_the_baseline(ratio: float, answer: Answer) -> None:
    """The figures are of the usual ones; to fail, the ratio to all together must be above."""
    of_all = pair(ratio, (*NOISE, *SLOW))
    usual = pair(ratio).baseline
    found = margin_test(SUBJECT, of_all, usual, 0.1, 1)
    assert found.answer is answer
    assert found.ratio == pytest.approx(ratio)
    assert (found.workers, found.slow_of_baseline) == ((5, 5), 2)


def test_the_variation_of_further_workers() -> None:
    """That of these workers and the assumed 5 %, which counts as that of five."""
    variance = (8 * stats.tvar(NOISE) + 4 * 0.05**2) / 12
    assert margin_test(SUBJECT, pair(1.0), None, 0.1, 1).variation_ratio == pytest.approx(
        math.sqrt(variance)
    )


@pytest.mark.parametrize(("workers", "answer"), [(2, Answer.NOT_DECIDED), (3, Answer.FAILED)])
def test_too_few_workers(workers: int, answer: Answer) -> None:
    """Two workers decide nothing, however far they are from the limit."""
    whole = pair(20.0)
    few = side_of_logs([log + math.log(20.0) for log in NOISE[:workers]], "alpha")
    assert margin_test(SUBJECT, replace(whole, candidate=few), None, 0.1, 1).answer is answer
